package losslab

import (
	"errors"
	"io"
	"strings"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// half is a frame that was shown.
type half struct {
	bytes   string
	size    int32 // as sent
	offset  int64 // in the stream of its direction
	whole   bool
	token   bool
	named   bool  // what is missing is said
	packets []int // the Origin of each that carried it
	request bool
	before  *half // of the whole capture: the frame in front of it
}

// exchange is one that was shown.
type exchange struct {
	conn              int64
	client            string
	state             dissect.State
	request, response *half
	named             bool   // what is missing of the exchange is said
	line              string // its JSON line, in the form of the broker's log
	what              string // of the whole capture: what was asked
	logged            bool   // of the whole capture: it equals a line of the broker's log
}

// halves are those that there are.
func (x *exchange) halves() []*half {
	switch {
	case x.request == nil:
		return []*half{x.response}
	case x.response == nil:
		return []*half{x.request}
	}
	return []*half{x.request, x.response}
}

// complete reports whether all that there ever was of x is shown.
func (x *exchange) complete() bool {
	return (x.state == dissect.Paired || x.state == dissect.NoResponse) && !x.request.token
}

// stream names the stream of a frame by side and, where addresses are not changed, client.
func (x *exchange) stream(h *half, renamed bool) string {
	name := x.client
	if renamed {
		name = ""
	}
	if h.request {
		return name + " request "
	}
	return name + " response "
}

// frame names a frame by its stream and its bytes.
func (x *exchange) frame(h *half, renamed bool) string { return x.stream(h, renamed) + h.bytes }

// name names an exchange by both frames.
func (x *exchange) name(renamed bool) string {
	name := x.frame(x.request, renamed)
	if x.response == nil {
		return name + " " + x.state.String()
	}
	return name + x.frame(x.response, renamed)
}

// body is the part of the line that header and frames make.
func (x *exchange) body() string {
	return x.line[:strings.LastIndex(x.line, `,"connection":"`)]
}

// shown is what the pipeline shows of some packets.
type shown struct {
	exchanges []exchange
	Bytes
	unaccounted []string // connections whose bytes do not add up
}

// Bytes account for the bytes of TCP streams.
type Bytes struct {
	Stream     int64 // delivered
	Whole      int64 // in whole frames
	Incomplete int64 // in frames that lack bytes
	Skipped    int64 // captured, part of no frame
	Unknown    int64 // in connections that were not found to be Kafka
	Missing    int64 // in gaps
}

func (b *Bytes) add(o Bytes) {
	b.Stream += o.Stream
	b.Whole += o.Whole
	b.Incomplete += o.Incomplete
	b.Skipped += o.Skipped
	b.Unknown += o.Unknown
	b.Missing += o.Missing
}

// collector is a dissect.Handler that keeps what it is given.
type collector struct {
	packets []Packet
	json    *output.JSON
	line    []byte
	shown
}

// run shows packets.
func run(packets []Packet) (*shown, error) {
	c := &collector{packets: packets, json: output.NewJSON(io.Discard, output.Options{Plain: true, ShowSecrets: true, Decoder: &walk.Decoder{}})}
	a := reassembly.New(reassembly.Limits{}, dissect.New(dissect.Options{Handler: c}))
	segments := capture.NewSegments(&source{packets: packets}, capture.Limits{})
	var s reassembly.Segment
	for {
		err := segments.Next(&s)
		if errors.Is(err, io.EOF) {
			a.Flush()
			return &c.shown, nil
		}
		if err != nil {
			return nil, err
		}
		a.Advance(s.Time)
		a.Segment(&s)
	}
}

// Exchange implements dissect.Handler.
func (c *collector) Exchange(x *dissect.Exchange) {
	e := exchange{conn: x.Conn.TCP.ID, state: x.State, request: c.half(x.Request, true), response: c.half(x.Response, false), named: len(x.Issues) > 0}
	client := x.Conn.TCP.Flow.Src
	if x.Conn.Broker == reassembly.Forward {
		client = x.Conn.TCP.Flow.Dst
	}
	e.client = client.AddrPort().String()
	c.line = c.json.Append(c.line[:0], x)
	e.line = string(c.line)
	c.exchanges = append(c.exchanges, e)
}

func (c *collector) half(f *dissect.Frame, request bool) *half {
	if f == nil {
		return nil
	}
	h := &half{bytes: string(f.Bytes), size: f.Size, offset: f.Offset, whole: !f.Cut(), token: f.Kind == dissect.TokenFrame, request: request}
	for _, m := range f.Packets {
		h.packets = append(h.packets, c.packets[m.Packet-1].Origin)
	}
	for _, i := range f.Issues {
		h.named = h.named || i.Code == tree.CodeTruncated || i.Code == tree.CodeLimit
	}
	return h
}

// Closed implements dissect.Handler.
func (c *collector) Closed(k *dissect.Connection, _ reassembly.End) {
	for d, n := range k.Counts {
		tcp := &k.TCP.Dirs[d]
		b := Bytes{Stream: tcp.Bytes, Missing: k.TCP.Odd[d].Missing}
		if k.Protocol == dissect.ProtocolKafka {
			b.Whole, b.Incomplete, b.Skipped = n.FrameBytes, n.PartialBytes+n.Limited, n.Skipped
		} else {
			b.Unknown = tcp.Bytes
		}
		if b.Whole+b.Incomplete+b.Skipped+b.Unknown != b.Stream {
			c.unaccounted = append(c.unaccounted, k.TCP.Flow.Src.AddrPort().String())
		}
		c.add(b)
	}
}
