package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/reassembly"
)

// stalled holds what came from the broker while its frames are searched. A response is only
// found by its request, and that may be delivered late: when its direction waits behind a hole.
// So the two directions are put in order of packets again.
type stalled struct {
	events []event
	buf    *frame.Buffer
}

// mustWait reports whether the broker's bytes have to wait.
func (c *conn) mustWait() bool {
	return len(c.stalled.events) > 0 ||
		!c.responses.InStep() && !c.brokerAlone() && c.finished[c.client()] == 0
}

// stall keeps an event of the broker's direction.
func (c *conn) stall(e event, b []byte) {
	s := &c.stalled
	if e.kind == chunkEvent {
		e.n = int64(len(b))
		if s.buf != nil {
			e.at = len(s.buf.B)
		}
		buf, ok := c.d.pool.Append(s.buf, b)
		s.buf = buf
		if !ok || int64(len(buf.B)) > c.d.limits.Detect {
			if ok {
				s.events = append(s.events, e)
			}
			c.drain(e.packet + 1)
			if !ok {
				c.responses.Chunk(e.off, b, e.packet, e.time)
			}
			return
		}
	}
	s.events = append(s.events, e)
}

// drain gives the events that were captured before packet.
func (c *conn) drain(packet int64) {
	s := &c.stalled
	n := 0
	for n < len(s.events) && s.events[n].packet < packet {
		e := s.events[n]
		n++
		c.TCP.Own = false
		switch e.kind {
		case chunkEvent:
			c.responses.Chunk(e.off, s.buf.B[e.at:e.at+int(e.n)], e.packet, e.time)
		case gapEvent:
			c.brokerGap(reassembly.Gap{Off: e.off, Len: e.n, Reason: e.reason, Packet: e.packet, Time: e.time})
		case finishEvent:
			c.responses.Finish(e.packet, e.time)
		}
	}
	s.events = append(s.events[:0], s.events[n:]...)
	if len(s.events) == 0 {
		c.d.pool.Put(s.buf)
		s.buf = nil
	}
}

// hurry gives all events once the first of them has waited too long.
func (c *conn) hurry(time int64) {
	if s := &c.stalled; len(s.events) > 0 && time-s.events[0].time > int64(c.d.limits.MaxLate) {
		c.drain(s.events[len(s.events)-1].packet + 1)
	}
}
