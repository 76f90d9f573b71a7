package reassembly

import "github.com/google/gopacket"

// ahead is what of a connection is not simply the next of its direction, and what it takes to
// decide about that. Most connections never need it.
type ahead struct {
	behind [2]behind
	cost   int // bytes of memory held

	winSegs int64 // start of the window over acknowledgements: see hole.go
	winTime int64
	rstSegs int64 // when a RST was seen
	rstTime int64
	refused uint32 // the number that the RST acknowledges; 0 for none
}

// behind is what of a direction waits for other segments.
type behind struct {
	a      *Assembler
	h      *half
	held   pieces
	flow   gopacket.Flow
	skipTo int64     // bytes below come out of the engine as filler
	early  []arrival // payload seen before the start is decided
	stray  *arrival  // one segment out of reach, until another confirms it

	earlySegs, earlyTime int64

	finTime int64 // of a FIN behind a hole
	// What does not go beyond the next byte does not matter here.
	sent      int64 // the sender's own empty segments say that it sent up to here
	ackLow    int64 // lowest acknowledgement in the window
	ackProven int64 // every acknowledgement of a whole window was at least this
}

// waits returns c's ahead, which is there from then on.
func (a *Assembler) waits(c *conn) *ahead {
	if c.ahead == nil {
		c.ahead = &ahead{}
		for i := range c.ahead.behind {
			b := &c.ahead.behind[i]
			b.a, b.h = a, &c.half[i]
			b.sent, b.ackLow, b.ackProven = b.h.next, b.h.next, b.h.next
		}
	}
	return c.ahead
}

// behind returns what of h waits, which is there from then on.
func (a *Assembler) behind(h *half) *behind { return &a.waits(a.of(h)).behind[h.d] }

// cost returns the bytes of memory held for c.
func (c *conn) cost() int {
	if c.ahead == nil {
		return 0
	}
	return c.ahead.cost
}

// holds says whether bytes of direction d wait behind a hole.
func (c *conn) holds(d Dir) bool { return c.ahead != nil && c.ahead.behind[d].held.len() > 0 }

func (a *Assembler) holds(h *half) bool { return a.of(h).holds(h.d) }

// starting says whether payload of direction d waits for the start to be decided.
func (c *conn) starting(d Dir) bool { return c.ahead != nil && len(c.ahead.behind[d].early) > 0 }

func (a *Assembler) starting(h *half) bool { return a.of(h).starting(h.d) }

// strayed returns the segment of h that is out of reach, or nil.
func (a *Assembler) strayed(h *half) *arrival {
	if k := a.of(h).ahead; k != nil {
		return k.behind[h.d].stray
	}
	return nil
}
