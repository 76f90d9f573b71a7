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
	conns     arena
	openings  slabs[opening]
	table     hashTable
	last      index // of the segment before: packets come in runs
	recent    list  // open connections, least recently seen last
	pending   list  // open connections with something undecided
	lingering list  // closed connections
	engine    engine
	opened    int64
	now       int64 // last argument of Advance
	scanned   int64 // when Advance last went through pending
	cost      int   // bytes of memory held behind holes
	parts     []part
	due       []aged // what Advance looks at
	told      Conn   // an opening, for the Handler: nothing of it but what abandon sets
	wholly    bool   // tests: no connection begins as an opening
	pool      bufferPool

	expected   [expectMost]*Conn
	expectFrom int    // tests: fewer than the constant
	read       uint64 // a sum of what was read ahead last, lest the compiler leave the reading out
}

// New returns an Assembler that reports to h.
func New(l Limits, h Handler) *Assembler {
	return &Assembler{
		limits:     l.withDefaults(),
		handler:    h,
		expectFrom: expectFrom,
		table:      newHashTable(),
	}
}

// Fresh has f called with where memory for connections lies, before it is first used: whoever runs
// the program may know how to have it mapped.
func (a *Assembler) Fresh(f func(address, size uintptr)) { a.conns.fresh, a.openings.fresh = f, f }

// Segment takes the next segment of the capture. It keeps no reference to it.
func (a *Assembler) Segment(s *Segment) {
	a.conns.reclaim()
	c, d := a.find(s)
	if c != nil {
		a.take(c, d, s)
	}
}

// take takes s, a segment of direction d of c.
func (a *Assembler) take(c *conn, d Dir, s *Segment) {
	c.LastPacket, c.LastTime = s.Packet, s.Time
	c.stamp = max(s.Time, a.now)
	a.recent.renew(c.index)
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
	if c.closed() { // by what had waited
		return
	}
	switch {
	case wire > 0:
		if h.phase == firm && seq == h.nextSeq && !c.holds(d) && int(wire) == len(s.Payload) && h.fin < 0 {
			c.Own = true
			a.chunk(h, s.Payload, s.Packet, s.Time)
			c.Own = false
		} else {
			a.arrive(h, arrival{seq, s.Payload, wire, s.Flags&FIN != 0, s.Packet, s.Time})
		}
	case s.Flags&(SYN|RST) == 0:
		a.empty(h, seq)
	}
	if s.Flags&FIN != 0 && !c.closed() {
		c.Dirs[d].SawFIN = true
		if c.starting(d) && wire == 0 {
			a.commit(h)
		}
		if !c.starting(d) && !c.closed() {
			a.sawFIN(h, seq+uint32(wire), s.Packet, s.Time)
		}
	}
	if s.Flags&RST != 0 && !c.closed() {
		a.sawRST(h, s)
	}
	if a.pending.in(c.index) {
		a.decide(c, s.Packet, s.Time)
	}
}

// Advance says that capture time is now, in nanoseconds since 1970. It closes connections that
// were idle for MaxIdle and gives up what has waited long enough, in order of the connections'
// first packets. Calls of the Handler made from here carry the connection's last packet; a caller
// that puts what it is told in order of packets knows itself where in the capture it stands.
// Times that go backward do no harm.
func (a *Assembler) Advance(now int64) {
	a.conns.reclaim()
	a.now = now
	a.due = a.due[:0]
	for i := a.recent.last; i != 0; i = a.recent.before(i) {
		if now-*a.stamp(i) <= a.limits.MaxIdle {
			break
		}
		a.due = append(a.due, a.aged(i))
	}
	for a.lingering.n > 0 {
		c := a.conns.at(a.lingering.last)
		if now-c.stamp <= a.limits.MaxLinger {
			break
		}
		a.forget(c)
	}
	// Going through all that is pending may cost more than a call for each packet can bear.
	if now < a.scanned || now-a.scanned >= a.limits.GraceTime/4 {
		a.scanned = now
		for i := a.pending.last; i != 0; i = a.pending.before(i) {
			if c := a.conns.at(i); now-c.stamp <= a.limits.MaxIdle {
				a.due = append(a.due, a.aged(i))
			}
		}
	}
	slices.SortFunc(a.due, byAge)
	for _, k := range a.due {
		if k.index&early != 0 {
			a.end(k.index, EndIdle, a.opening(k.index).last, now)
			continue
		}
		c := a.conns.at(k.index)
		if c.closed() { // by another one's needs
			continue
		}
		if now-c.stamp > a.limits.MaxIdle {
			a.end(k.index, EndIdle, c.LastPacket, now)
		} else if a.pending.in(c.index) {
			a.decide(c, c.LastPacket, now)
		}
	}
}

// aged is a connection in an order of age.
type aged struct {
	id    int64
	index index
}

func (a *Assembler) aged(i index) aged {
	if i&early != 0 {
		return aged{a.opening(i).id, i}
	}
	return aged{a.conns.at(i).ID, i}
}

// byAge compares by the first packets, in whose order connections are numbered.
func byAge(x, y aged) int { return cmp.Compare(x.id, y.id) }

// stamp returns the time of the last segment of connection i.
func (a *Assembler) stamp(i index) *int64 {
	if i&early != 0 {
		return &a.opening(i).stamp
	}
	return &a.conns.at(i).stamp
}

// Opened returns how many connections were opened so far: the ID of the latest.
func (a *Assembler) Opened() int64 { return a.opened }

// Shift says that the clock which stamps segments has been set, by as many nanoseconds: nothing
// was idle meanwhile, and nothing has waited.
func (a *Assembler) Shift(by int64) {
	a.now += by
	a.scanned += by
	for _, l := range []*list{&a.recent, &a.lingering} {
		for i := l.last; i != 0; i = l.before(i) {
			*a.stamp(i) += by
		}
	}
}

// Flush ends the capture: what is held is delivered behind its gaps, and all connections are
// closed, in order of their first packets.
func (a *Assembler) Flush() {
	open := a.allOpen()
	a.recent = list{} // at once: none is evicted any more
	for n, i := range open {
		if n%expectMost == 0 && a.crowded() {
			a.fetch(open[n:min(len(open), n+expectMost)])
		}
		switch {
		case i == 0:
		case i&early != 0:
			o := a.opening(i)
			a.abandon(i, EndCapture, o.last, o.time)
		default:
			c := a.conns.at(i)
			a.close(c, EndCapture, c.LastPacket, c.LastTime)
		}
	}
	fresh := a.conns.fresh
	clear(a.expected[:])
	a.conns, a.openings, a.table = arena{}, slabs[opening]{}, newHashTable()
	a.Fresh(fresh)
	a.pending, a.lingering = list{}, list{}
	a.last = 0
}

// allOpen returns the open connections in order of age, some 0 among them.
func (a *Assembler) allOpen() []index {
	// Most often most are open, and need no sorting: each has a place by its number.
	if a.opened <= int64(4*a.recent.n) {
		open := make([]index, a.opened)
		a.eachOpen(func(k aged) { open[k.id-1] = k.index })
		return open
	}
	by := make([]aged, 0, a.recent.n)
	a.eachOpen(func(k aged) { by = append(by, k) })
	slices.SortFunc(by, byAge)
	open := make([]index, len(by))
	for n, k := range by {
		open[n] = k.index
	}
	return open
}

// eachOpen calls f for the open connections, in the order of memory.
func (a *Assembler) eachOpen(f func(aged)) {
	for _, kind := range [...]struct {
		mark index
		used int
	}{{0, a.conns.used}, {early, a.openings.used}} {
		for i := kind.mark + 1; i <= kind.mark+index(kind.used); i++ {
			if a.recent.in(i) {
				f(a.aged(i))
			}
		}
	}
}

// Held returns the bytes of memory that wait behind holes.
func (a *Assembler) Held() int { return a.cost }

func (a *Assembler) note(c *conn, d Dir, kind NoteKind, off, n, packet, time int64) {
	a.handler.Note(&c.Conn, d, Note{Kind: kind, Off: off, Len: n, Packet: packet, Time: time})
}
