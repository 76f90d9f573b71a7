package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/reassembly"
)

// eventKind is what happened to a connection while its protocol was not known.
type eventKind uint8

const (
	chunkEvent eventKind = iota
	gapEvent
	finishEvent
)

// event is held until the protocol is known, and then given again.
type event struct {
	kind         eventKind
	dir          reassembly.Dir
	reason       reassembly.Reason
	off          int64
	n            int64 // of a gap, or of the bytes of a chunk
	at           int   // of a chunk's bytes in the probe's buffer
	packet, time int64
}

// firstBytes is how much of the beginning of each direction is looked at.
const firstBytes = clientOff + 2 + maxClientID

// probe finds out what a connection speaks.
type probe struct {
	events []event
	buf    *frame.Buffer
	total  int64 // bytes seen
	// first are the first bytes of each direction, without a gap.
	first [2][]byte
	begun [2]bool  // anything is known of the direction
	heard [2]bool  // bytes of it were captured
	gone  [2]bool  // a gap follows the first bytes
	from  [2]int64 // stream offset from which on bytes are held
	sides [2]suspect
	orphans
}

// hold keeps an event for later. Bytes over the limit are forgotten from the front.
func (p *probe) hold(c *conn, e event, b []byte) {
	if e.kind == chunkEvent {
		if p.buf != nil && int64(len(p.buf.B)+len(b)) > c.d.limits.Detect {
			p.forget(c)
		}
		e.n = int64(len(b))
		if p.buf != nil {
			e.at = len(p.buf.B)
		}
		buf, ok := c.d.pool.Append(p.buf, b)
		p.buf = buf
		if !ok {
			p.forget(c)
			p.from[e.dir] = e.off + e.n
			return
		}
	}
	p.events = append(p.events, e)
}

// forget drops all that is held.
func (p *probe) forget(c *conn) {
	for _, e := range p.events {
		if e.kind == chunkEvent {
			p.from[e.dir] = max(p.from[e.dir], e.off+e.n)
		} else if e.kind == gapEvent {
			p.from[e.dir] = max(p.from[e.dir], e.off+max(e.n, 0))
		}
	}
	p.events = p.events[:0]
	c.d.pool.Put(p.buf)
	p.buf = nil
}

// release gives back what p holds, and p itself: most connections are understood at their first
// bytes, so that the next one can have it.
func (p *probe) release(c *conn) {
	d := c.d
	d.pool.Put(p.buf)
	for i := range p.sides {
		p.sides[i].Release()
	}
	p.orphans.Release()
	if cap(p.events) <= maxProbeEvents {
		*p = probe{events: p.events[:0], first: [2][]byte{p.first[0][:0], p.first[1][:0]}}
		d.probes.Give(p, maxProbes)
	}
}

// What is kept for connections to come.
const (
	maxProbes      = 64
	maxProbeEvents = 256
)

// newProbe returns a probe that has seen nothing.
func (d *Dissector) newProbe() *probe {
	p, ok := d.probes.Take()
	if !ok {
		p = &probe{}
	}
	return p
}
