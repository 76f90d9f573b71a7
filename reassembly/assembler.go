package reassembly

import (
	"cmp"
	"slices"
)

// Assembler turns the segments of all connections of a capture, in the order of the capture, into
// the ordered chunks and explicit gaps of each direction. It is not safe for concurrent use, and
// a Handler must not call it. Which segments of other connections it sees does not change what it
// says about one, limits on connections and on all bytes together aside.
type Assembler struct {
	limits    Limits
	handler   Handler
	conns     map[Flow]*conn
	last      *conn // of the segment before: packets come in runs
	recent    list  // open connections, least recently seen last
	pending   list  // open connections with something undecided
	lingering list  // closed connections
	engine    engine
	opened    int64
	now       int64 // last argument of Advance
	scanned   int64 // when Advance last went through pending
	cost      int   // bytes of memory held behind holes
	parts     []part
	due       []*conn // what Advance looks at
	pool      bufferPool
}

// New returns an Assembler that reports to h.
func New(l Limits, h Handler) *Assembler {
	return &Assembler{
		limits:  l.withDefaults(),
		handler: h,
		conns:   make(map[Flow]*conn),
		pending: list{which: inPending},
	}
}

// Segment takes the next segment of the capture. It keeps no reference to it.
func (a *Assembler) Segment(s *Segment) {
	c, d := a.find(s)
	if c == nil {
		return
	}
	c.segs++
	c.LastPacket, c.LastTime = s.Packet, s.Time
	c.stamp = max(s.Time, a.now)
	if a.recent.first != c {
		a.recent.remove(c)
		a.recent.push(c)
	}
	c.Dirs[d].Packets++
	h := &c.half[d]
	wire := int64(min(max(s.WireLen, len(s.Payload)), window))

	seq := s.Seq
	if s.Flags&SYN != 0 {
		a.syn(h, s)
		seq++
	}
	if s.Flags&(ACK|RST) == ACK {
		a.acknowledge(&c.half[d.Other()], s.Ack)
	}
	if c.closed { // by what had waited
		return
	}
	switch {
	case wire > 0:
		if h.phase == firm && seq == h.nextSeq && h.held.len() == 0 && int(wire) == len(s.Payload) && h.fin < 0 {
			a.chunk(h, s.Payload, s.Packet, s.Time)
		} else {
			a.arrive(h, arrival{seq, s.Payload, wire, s.Flags&FIN != 0, s.Packet, s.Time})
		}
	case s.Flags&(SYN|RST) == 0:
		a.empty(h, seq)
	}
	if s.Flags&FIN != 0 && !c.closed {
		c.Dirs[d].SawFIN = true
		if len(h.early) > 0 && wire == 0 {
			a.commit(h)
		}
		if len(h.early) == 0 && !c.closed {
			a.sawFIN(h, seq+uint32(wire), s.Packet, s.Time)
		}
	}
	if s.Flags&RST != 0 && !c.closed {
		a.sawRST(h, s)
	}
	if c.links[inPending].in {
		a.decide(c, s.Packet, s.Time)
	}
}

// Advance says that capture time is now, in nanoseconds since 1970. It closes connections that
// were idle for MaxIdle and gives up what has waited long enough, in order of the connections'
// first packets. Calls of the Handler made from here carry the connection's last packet; a caller
// that puts what it is told in order of packets knows itself where in the capture it stands.
// Times that go backward do no harm.
func (a *Assembler) Advance(now int64) {
	a.now = now
	a.due = a.due[:0]
	for c := a.recent.last; c != nil && now-c.stamp > a.limits.MaxIdle; c = c.links[inRecent].prev {
		a.due = append(a.due, c)
	}
	for c := a.lingering.last; c != nil && now-c.closedAt > a.limits.MaxLinger; c = a.lingering.last {
		a.forget(c)
	}
	// Going through all that is pending may cost more than a call for each packet can bear.
	if now < a.scanned || now-a.scanned >= a.limits.GraceTime/4 {
		a.scanned = now
		for c := a.pending.last; c != nil; c = c.links[inPending].prev {
			if now-c.stamp <= a.limits.MaxIdle {
				a.due = append(a.due, c)
			}
		}
	}
	byAge(a.due)
	for _, c := range a.due {
		if now-c.stamp > a.limits.MaxIdle {
			a.close(c, EndIdle, c.LastPacket, now)
			a.forget(c)
		} else if c.links[inPending].in {
			a.decide(c, c.LastPacket, now)
		}
	}
	clear(a.due)
}

// byAge puts connections in order of their first packets.
func byAge(cs []*conn) {
	slices.SortFunc(cs, func(x, y *conn) int {
		if x.FirstPacket != y.FirstPacket {
			return cmp.Compare(x.FirstPacket, y.FirstPacket)
		}
		return cmp.Compare(x.ID, y.ID)
	})
}

// Opened returns how many connections were opened so far: the ID of the latest.
func (a *Assembler) Opened() int64 { return a.opened }

// Shift says that the clock which stamps segments has been set, by as many nanoseconds: nothing
// was idle meanwhile, and nothing has waited.
func (a *Assembler) Shift(by int64) {
	a.now += by
	a.scanned += by
	for c := a.recent.first; c != nil; c = c.links[inRecent].next {
		c.stamp += by
	}
	for c := a.lingering.first; c != nil; c = c.links[inRecent].next {
		c.closedAt += by
	}
}

// Flush ends the capture: what is held is delivered behind its gaps, and all connections are
// closed, in order of their first packets.
func (a *Assembler) Flush() {
	open := make([]*conn, 0, a.recent.n)
	for c := a.recent.last; c != nil; c = c.links[inRecent].prev {
		open = append(open, c)
	}
	byAge(open)
	for _, c := range open {
		a.close(c, EndCapture, c.LastPacket, c.LastTime)
	}
	for a.lingering.last != nil {
		a.forget(a.lingering.last)
	}
	clear(a.conns)
	a.last = nil
}

// Held returns the bytes of memory that wait behind holes.
func (a *Assembler) Held() int { return a.cost }

func (a *Assembler) note(c *conn, d Dir, kind NoteKind, off, n, packet, time int64) {
	a.handler.Note(&c.Conn, d, Note{Kind: kind, Off: off, Len: n, Packet: packet, Time: time})
}
