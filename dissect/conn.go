package dissect

import (
	"fmt"
	"math"

	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/pair"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// phase is how far a connection is understood.
type phase uint8

const (
	detecting phase = iota
	speaking        // Kafka
	ignored
)

// conn is a connection and what it takes to follow it.
type conn struct {
	// What each event needs comes first, lest it be all over the memory of many connections.
	*session
	d        *Dissector
	phase    phase
	why      reassembly.End
	finished [2]int64
	Connection
	probe *probe // while detecting
}

// maxConns bounds the connections, and the sessions, kept for those to come.
const maxConns = 256

// conn returns what is known of t.
func (d *Dissector) conn(t *reassembly.Conn) *conn {
	if c, ok := t.User.(*conn); ok {
		return c
	}
	c, ok := d.conns.Take()
	if !ok {
		c = &conn{d: d}
	}
	c.TCP, c.Broker = t, reassembly.Backward
	t.User = c
	return c
}

// retire takes c back once nobody looks at it any more. A fault of ours may have left anything
// behind.
func (d *Dissector) retire(c *conn) {
	if c.Faults == 0 && !d.conns.Full(maxConns) { // memory of one that is not kept is left alone
		*c = conn{d: d}
		d.conns.Give(c, maxConns)
	}
}

// session is the state of a connection that speaks Kafka.
type session struct {
	ids         idUse
	anyRequest  bool
	brokerFirst bool  // nothing of the client was captured when the broker's bytes were understood
	lastID      int32 // correlation id of the last request
	idBefore    int32 // of the one before

	inFlightBytes int64
	sasl          sasl
	late          []*exchange // responses whose request may still be delivered
	requests      requests
	responses     responses
	flight        pair.Table[*exchange]
	stalled       stalled
}

// newSession returns the session of c.
func (d *Dissector) newSession(c *conn) *session {
	s, ok := d.sessions.Take()
	if !ok {
		s = &session{}
	}
	s.flight.Max, s.flight.Shared = d.limits.InFlight, &d.flights
	s.requests.c, s.responses.c = c, c
	return s
}

// retireSession takes s back, all of which is answered or given up.
func (d *Dissector) retireSession(s *session) {
	if d.sessions.Full(maxConns) {
		return
	}
	s.flight.Reset()
	*s = session{flight: s.flight, late: s.late[:0], stalled: stalled{events: s.stalled.events[:0]}}
	d.sessions.Give(s, maxConns)
}

// requests is the client's direction.
type requests struct {
	frame.Splitter
	c *conn
}

// responses is the broker's direction.
type responses struct {
	frame.Splitter
	c *conn
}

func (c *conn) client() reassembly.Dir { return c.Broker.Other() }

// brokerAlone reports whether nothing of the client is captured. Its packets may come late.
func (c *conn) brokerAlone() bool { return c.brokerFirst && c.TCP.Dirs[c.client()].Packets == 0 }

func (c *conn) chunk(d reassembly.Dir, off int64, b []byte, packet, time int64) {
	if len(c.late) > 0 {
		c.expireLate(time - int64(c.d.limits.MaxLate))
	}
	c.hurry(time)
	switch {
	case d != c.Broker && (c.ids == idsDiffer || !c.anyRequest):
		// A capture may show a response before its request. Where all ids differ, it answers no other.
		c.requests.Chunk(off, b, packet, time)
		c.drain(packet)
	case d != c.Broker:
		c.drain(packet)
		c.requests.Chunk(off, b, packet, time)
	case c.mustWait():
		c.stall(event{dir: d, off: off, packet: packet, time: time}, b)
	default:
		c.responses.Chunk(off, b, packet, time)
	}
}

func (c *conn) gap(d reassembly.Dir, g reassembly.Gap) {
	switch {
	case d != c.Broker:
		for _, r := range c.late {
			r.requestsLost = true
		}
		c.requests.Gap(frameGap(g))
	case len(c.stalled.events) > 0:
		c.stall(event{kind: gapEvent, dir: d, off: g.Off, n: g.Len, reason: g.Reason, packet: g.Packet, time: g.Time}, nil)
	default:
		c.brokerGap(g)
	}
}

func (c *conn) brokerGap(g reassembly.Gap) {
	c.flight.Doubt()
	c.responses.Gap(frameGap(g))
}

func frameGap(g reassembly.Gap) frame.Gap {
	return frame.Gap{Off: g.Off, Len: g.Len, Reason: uint8(g.Reason), Packet: g.Packet, Time: g.Time}
}

func (c *conn) finish(d reassembly.Dir, packet, time int64) {
	c.finished[d] = packet
	switch {
	case d != c.Broker:
		c.requests.Finish(packet, time)
	case len(c.stalled.events) > 0:
		c.stall(event{kind: finishEvent, dir: d, packet: packet, time: time}, nil)
	default:
		c.responses.Finish(packet, time)
	}
}

// overlap notes that a retransmission differs from the bytes that were kept.
func (c *conn) overlap(d reassembly.Dir, n reassembly.Note) {
	c.note(tree.Issue{
		Severity: tree.Warning, Code: tree.CodeOverlap,
		Text: fmt.Sprintf("%v: %d bytes at stream offset %d were sent again with other contents (packet %d); the first copy is shown", dirWord(c, d), n.Len, n.Off, n.Packet),
	})
}

// stray notes that a segment is too far away to belong to the stream.
func (c *conn) stray(d reassembly.Dir, n reassembly.Note) {
	if n.Len == 0 {
		return
	}
	c.note(tree.Issue{
		Severity: tree.Warning, Code: tree.CodeMalformed,
		Text: fmt.Sprintf("%v: %d bytes outside of the window, seen when the stream was at offset %d (packet %d), are ignored", dirWord(c, d), n.Len, n.Off, n.Packet),
	})
}

func dirWord(c *conn, d reassembly.Dir) string {
	if d == c.Broker {
		return "from the broker"
	}
	return "from the client"
}

// note lists an issue of the connection.
func (c *conn) note(i tree.Issue) {
	if len(c.Issues) < c.d.limits.Listed {
		c.Issues = append(c.Issues, i)
	}
}

// skipped accounts for captured bytes that are part of no frame.
func (c *conn) skipped(d reassembly.Dir, s frame.Skip) {
	n := &c.Counts[d]
	n.Skips++
	n.Skipped += s.Len
	if s.Why == frame.OverLimit {
		n.LimitedElse += s.Len
	}
	skip := DirSkip{d, s}
	if len(c.Skips) < c.d.limits.Listed {
		c.Skips = append(c.Skips, skip)
	}
	if c.d.skips != nil {
		c.d.HandOver()
		c.d.skips.Skipped(&c.Connection, skip)
	}
}

// counted accounts for the bytes of a frame.
func (c *conn) counted(d reassembly.Dir, f *frame.Frame) {
	n := &c.Counts[d]
	if f.Whole() {
		n.Frames++
		n.FrameBytes += int64(len(f.Bytes))
		return
	}
	n.Incomplete++
	n.PartialBytes += int64(len(f.Bytes))
	if f.Missing.Why == frame.OverLimit {
		n.Limited += f.Missing.Len
	}
}

// close ends the connection: what is unfinished is shown as it is.
func (c *conn) close(why reassembly.End, packet, time int64) {
	c.d.packet, c.d.time, c.why = packet, time, why
	if c.d.opt.Recover {
		defer c.recovered(packet, true)
	}
	if c.phase == detecting {
		c.decideAtEnd()
	}
	if c.phase == speaking {
		if c.finished[c.client()] == 0 {
			c.requests.Finish(packet, time)
		}
		c.drain(math.MaxInt64)
		if c.finished[c.Broker] == 0 {
			c.responses.Finish(packet, time)
		}
		c.expireLate(math.MaxInt64)
		c.flushToken()
		c.flight.Flush(func(x *exchange) { c.unanswered(x, c.unansweredIssue(x.Request)) })
		c.requests.Release()
		c.responses.Release()
		c.d.retireSession(c.session)
	}
	c.phase = ignored
	c.session = nil
	c.nameTLS()
}
