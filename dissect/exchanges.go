package dissect

import (
	"time"

	"github.com/kdissect/kdissect/dissect/frame"
)

// headBytes is what is kept of a request whose bytes are too many to hold.
const headBytes = 512

// maxFree bounds the exchanges kept for reuse.
const maxFree = 1024

// exchange is an Exchange with the memory it needs, reused.
type exchange struct {
	Exchange
	request, response Frame
	buf               [2]*frame.Buffer // the bytes held of the request and of the response
	head              []byte
	requestMarks      []PacketMark
	responseMarks     []PacketMark
	held              int64 // bytes of the request, counted against the connection's limit
	own               bool  // the bytes that lie in no buf are of segments that live on
	requestsLost      bool  // of a kept response: bytes of the client went missing since
}

func (d *Dissector) newExchange(c *conn) *exchange {
	x, ok := d.exchanges.Take()
	if !ok {
		x = &exchange{}
	}
	x.Conn, x.facts = &c.Connection, d.view
	return x
}

// recycle takes x back once nobody looks at it any more.
func (d *Dissector) recycle(x *exchange) {
	for _, b := range x.buf {
		d.pool.Put(b)
	}
	issues, requestIssues, responseIssues := x.Issues, x.request.Issues, x.response.Issues
	head, requestMarks, responseMarks := x.head, x.requestMarks, x.responseMarks
	*x = exchange{}
	x.Issues, x.request.Issues, x.response.Issues = issues[:0], requestIssues[:0], responseIssues[:0]
	x.head, x.requestMarks, x.responseMarks = head[:0], requestMarks[:0], responseMarks[:0]
	d.exchanges.Give(x, maxFree)
}

// emit hands x to the handler, now or with others, and takes it back.
func (c *conn) emit(x *exchange) {
	d := c.d
	d.number++
	c.Exchanges++
	x.Number, x.Place = d.number, d.view.place
	x.link()
	if x.Request != nil && x.Response != nil {
		x.Latency = time.Duration(max(0, x.Response.LastTime-x.Request.FirstTime))
	}
	d.gather(c, x)
}

// link lets the frames of x know what their payloads are read with.
func (x *exchange) link() {
	for _, f := range [...]*Frame{x.Request, x.Response} {
		if f != nil {
			f.facts = x.facts
		}
	}
	if x.Response != nil {
		x.Response.answers = x.Request
	}
}

// fill makes fr of f, whose bytes and marks it shares with f but for the marks, which go to marks.
func fill(fr *Frame, f *frame.Frame, marks *[]PacketMark) {
	fr.Kind, fr.Bytes, fr.Size, fr.Offset = KafkaFrame, f.Bytes, f.Size, f.Off
	fr.APIKey, fr.Version = -1, -1
	m := (*marks)[:0]
	for _, k := range f.Marks {
		m = append(m, PacketMark{k.Off, k.Packet})
	}
	*marks, fr.Packets = m, m
	fr.FirstPacket, fr.FirstTime = f.Last, f.LastTime
	if len(f.Marks) > 0 {
		fr.FirstPacket, fr.FirstTime = f.Marks[0].Packet, f.Marks[0].Time
	}
	fr.LastPacket, fr.LastTime = f.Last, f.LastTime
	if !f.Whole() {
		// The packet that made a loss known is not one of the frame's.
		if n := len(f.Marks); n > 0 && f.Missing.Why != frame.OverLimit {
			fr.LastPacket, fr.LastTime = f.Marks[n-1].Packet, f.Marks[n-1].Time
		}
		fr.Issues = append(fr.Issues, missingIssue(f))
	}
}

// hold makes fr keep its bytes behind the call that gave them, in x's slot i.
func (c *conn) hold(x *exchange, i int, fr *Frame, f *frame.Frame) bool {
	n := int64(len(fr.Bytes))
	if c.inFlightBytes+n <= c.d.limits.InFlightBytes {
		if f.Buf != nil {
			x.buf[i], f.Buf = f.Buf, nil
			c.count(x, n)
			return true
		}
		if b, ok := c.d.pool.Append(nil, fr.Bytes); ok {
			x.buf[i], fr.Bytes = b, b.B
			c.count(x, n)
			return true
		}
	}
	x.head = append(x.head[:0], fr.Bytes[:min(len(fr.Bytes), headBytes)]...)
	if len(fr.Bytes) > len(x.head) {
		fr.Issues = append(fr.Issues, limitIssue(len(x.head), len(fr.Bytes)))
	}
	fr.Bytes = x.head
	return false
}

func (c *conn) count(x *exchange, n int64) {
	x.held += n
	c.inFlightBytes += n
}

// release says that x is not in flight any more.
func (c *conn) release(x *exchange) {
	c.inFlightBytes -= x.held
	x.held = 0
}
