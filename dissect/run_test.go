package dissect_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// half is what a test keeps of a frame.
type half struct {
	Kind          dissect.FrameKind
	Key, Version  int16
	ID            int32
	Size          int32
	ClientID      string
	Null          bool
	First, Last   int64
	Cut           bool
	Bytes         []byte
	Fits, Decoded bool // decoded without an error; Decoded: the layout is known
	Issues        []tree.Issue
	Offset        int64
	Packets       []int64
}

// exchange is what a test keeps of an exchange.
type exchange struct {
	Conn      int64
	Client    reassembly.Endpoint
	Broker    reassembly.Endpoint
	Req, Resp *half
	State     dissect.State
	Overtook  bool
	Issues    []tree.Issue
	Number    int64
	// What was known of the client when the exchange was handed over.
	Login               dissect.SASL
	Principal, Software string
}

// closed is what a test keeps of a connection.
type closed struct {
	dissect.Connection
	tcp reassembly.Conn
	end reassembly.End
}

// collector keeps what a Dissector gives.
type collector struct {
	t         *testing.T
	decoder   walk.Decoder
	exchanges []exchange
	conns     []closed
	skips     map[int64][]dissect.DirSkip
	gaps      map[int64][]dissect.DirGap
	named     map[string]int // Produce v13 topics by whether their name is known
	keepBytes bool
}

func (c *collector) Exchange(x *dissect.Exchange) {
	e := exchange{Conn: x.Conn.TCP.ID, State: x.State, Overtook: x.Overtook, Number: x.Number, Issues: append([]tree.Issue(nil), x.Issues...)}
	e.Login, e.Principal, e.Software = x.Conn.SASL, x.Conn.Principal, x.Conn.Software
	e.Client, e.Broker = x.Conn.TCP.Flow.Src, x.Conn.TCP.Flow.Dst
	if x.Conn.Broker == reassembly.Forward {
		e.Client, e.Broker = e.Broker, e.Client
	}
	e.Req, e.Resp = c.half(x.Request), c.half(x.Response)
	require.True(c.t, x.Request != nil || x.Response != nil)
	c.exchanges = append(c.exchanges, e)
	if f := x.Request; f != nil && f.APIKey == 0 && f.Version == 13 {
		ids := topicIDs{named: map[bool]int{}, of: x}
		f.Walk(&c.decoder, &ids)
		if c.named == nil {
			c.named = map[string]int{}
		}
		c.named["produce"] += ids.named[true]
		c.named["unknown"] += ids.named[false]
	}
}

// topicIDs counts the topic ids of a frame by whether their name is known.
type topicIDs struct {
	tiling
	of    *dissect.Exchange
	named map[bool]int
}

func (s *topicIDs) Leaf(e tree.Event) {
	if schema.Role(e.Desc.Role) == schema.RoleTopicID {
		_, ok := s.of.TopicName([16]byte(e.Value.Bytes))
		s.named[ok]++
	}
}

func (c *collector) half(f *dissect.Frame) *half {
	if f == nil {
		return nil
	}
	h := &half{
		Kind: f.Kind, Key: f.APIKey, Version: f.Version, ID: f.CorrelationID, Size: f.Size, ClientID: string(f.ClientID), Null: f.ClientID == nil,
		First: f.FirstPacket, Last: f.LastPacket, Cut: f.Cut(), Issues: append([]tree.Issue(nil), f.Issues...), Offset: f.Offset,
	}
	for _, m := range f.Packets {
		h.Packets = append(h.Packets, m.Packet)
	}
	if c.keepBytes {
		h.Bytes = append([]byte(nil), f.Bytes...)
	}
	tiles := tiling{}
	f.Walk(&c.decoder, &tiles)
	require.Equal(c.t, int32(len(f.Bytes)), tiles.next, "leaves cover the captured bytes of packets %d-%d", f.FirstPacket, f.LastPacket)
	require.False(c.t, tiles.bad, "leaves follow each other in packets %d-%d", f.FirstPacket, f.LastPacket)
	require.Zero(c.t, tiles.depth)
	h.Decoded = f.Plan != nil
	h.Fits = !tiles.failed
	return h
}

// tiling checks that leaves tile the frame.
type tiling struct {
	next   int32
	depth  int
	bad    bool
	failed bool
}

func (s *tiling) Begin(tree.Event) bool { s.depth++; return true }
func (s *tiling) End(tree.Event)        { s.depth-- }
func (s *tiling) Leaf(e tree.Event) {
	if e.Span.Source == 0 {
		s.bad = s.bad || e.Span.Off != s.next
		s.next = e.Span.End()
	}
}
func (s *tiling) Issue(i tree.Issue)                      { s.failed = s.failed || i.Severity == tree.Error }
func (s *tiling) Source(int32, []byte, tree.Span, string) {}

func (c *collector) Closed(k *dissect.Connection, end reassembly.End) {
	c.conns = append(c.conns, closed{*k, *k.TCP, end})
}

func (c *collector) Skipped(k *dissect.Connection, s dissect.DirSkip) {
	if c.skips == nil {
		c.skips = map[int64][]dissect.DirSkip{}
	}
	c.skips[k.TCP.ID] = append(c.skips[k.TCP.ID], s)
}

// gapLog notes all gaps on the way to a Dissector.
type gapLog struct {
	*dissect.Dissector
	c *collector
}

func (g gapLog) Gap(t *reassembly.Conn, d reassembly.Dir, gap reassembly.Gap) {
	if g.c.gaps == nil {
		g.c.gaps = map[int64][]dissect.DirGap{}
	}
	g.c.gaps[t.ID] = append(g.c.gaps[t.ID], dissect.DirGap{Dir: d, Gap: gap})
	g.Dissector.Gap(t, d, gap)
}

// read runs a capture file through the pipeline. keepBytes keeps those of the frames.
func read(t *testing.T, opt dissect.Options, keepBytes bool, path ...string) *collector {
	t.Helper()
	c := &collector{t: t, keepBytes: keepBytes}
	opt.Handler = c
	readInto(t, gapLog{dissect.New(opt), c}, filepath.Join(path...))
	return c
}

// readInto gives the connections of a capture file to h.
func readInto(t *testing.T, h reassembly.Handler, file string) {
	t.Helper()
	r, err := capture.Open(context.Background(), []string{corpus.Path(t, file)}, capture.Options{})
	require.NoError(t, err)
	defer r.Close()
	segments := capture.NewSegments(r, capture.Limits{})
	a := reassembly.New(reassembly.Limits{}, h)
	for {
		var s reassembly.Segment
		err := segments.Next(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		a.Segment(&s)
		a.Advance(s.Time)
	}
	a.Flush()
}
