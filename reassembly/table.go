package reassembly

// conn is a Conn with what reassembling it needs. What any segment needs lies together, up to
// Conn.Dirs, in as few lines of the cache as can be: with many connections there is none of one in
// it when its next segment comes.
type conn struct {
	half  [2]half
	stamp int64  // time of the last segment, for idleness; of a closed one, when it was closed
	ahead *ahead // nil until something waits or is undecided
	index index

	state state
	why   End // it was closed
	// answered is set where the connection has the same endpoint at both ends, and began with the
	// answer.
	answered bool
	reset    bool // a RST was seen; stragglers are let in for the grace
	Conn
	_ [32]byte // to whole lines
}

// state is how far a connection has come.
type state uint8

const (
	isOpen state = iota
	closing
	closed
)

func (c *conn) closed() bool { return c.state == closed }

// segs returns the number of segments of both directions.
func (c *conn) segs() int64 { return c.Dirs[Forward].Packets + c.Dirs[Backward].Packets }

// of returns the connection that h is a direction of.
func (a *Assembler) of(h *half) *conn { return a.conns.at(h.conn) }

// find returns the connection and direction that s belongs to, opening one where there is none,
// or nil where that is all there is to do: for the handshake of one, or a straggler of a closed one.
func (a *Assembler) find(s *Segment) (*conn, Dir) {
	i, d, ok := a.last, Forward, false
	if i != 0 {
		d, ok = a.carries(i, &s.Flow)
	}
	var hash uint32
	if !ok {
		hash = a.table.hash(&s.Flow)
		i, d = a.lookup(&s.Flow, hash)
	}
	var c *conn
	switch {
	case i == 0:
	case i&early == 0:
		c = a.conns.at(i)
	case a.follow(i, d, s):
		a.last = i
		return nil, d
	default:
		c = a.grow(i)
	}
	if c != nil {
		switch {
		case c.closed():
			if c.straggler(d, s, a.limits.reach()) {
				return nil, d
			}
			a.forget(c)
		case s.Flags&SYN != 0 && c.otherSYN(d, s), c.outlived(d, s, a.limits.reach()):
			if !c.reset {
				a.note(c, d, PortReuse, c.half[d].next, 0, s.Packet, s.Time)
			}
			a.close(c, EndReuse, s.Packet, s.Time)
			a.forget(c)
		default:
			a.last = c.index
			return c, d
		}
	}
	if ok { // the place of the last one is taken anew
		hash = a.table.hash(&s.Flow)
	}
	if s.opens() && !a.wholly {
		a.embark(s, hash)
		return nil, Forward
	}
	return a.open(s, hash)
}

func (a *Assembler) lookup(f *Flow, hash uint32) (index, Dir) {
	for p := a.table.probe(hash); ; {
		i := p.next(&a.table)
		if i == 0 {
			return 0, Forward
		}
		if d, ok := a.carries(i, f); ok {
			return i, d
		}
	}
}

// carries says whether f is a direction of connection i, and which.
func (a *Assembler) carries(i index, f *Flow) (Dir, bool) {
	if i&early != 0 {
		return a.opening(i).flow.carries(f)
	}
	return a.conns.at(i).carries(f)
}

// carries says whether f is a direction of c, and which.
func (c *conn) carries(f *Flow) (Dir, bool) {
	d, ok := c.Flow.carries(f)
	if ok && c.answered {
		d = Backward
	}
	return d, ok
}

// carries says whether f is one of the directions of a connection whose first is a, and which.
func (a *Flow) carries(f *Flow) (Dir, bool) {
	if a.Src.is(&f.Src) && a.Dst.is(&f.Dst) {
		return Forward, true
	}
	return Backward, a.Src.is(&f.Dst) && a.Dst.is(&f.Src)
}

func (a *Assembler) open(s *Segment, hash uint32) (*conn, Dir) {
	a.makeRoom(s)
	a.opened++
	c, d, flow := a.conns.take(), Forward, s.Flow
	if s.Flags&(SYN|ACK) == SYN|ACK {
		d, flow = Backward, s.Flow.Reverse()
		c.answered = s.Flow.Src == s.Flow.Dst
	}
	a.table.add(hash, c.index)
	a.enter(c, a.opened, &flow, s.Packet, s.Time)
	return c, d
}

// makeRoom ends connections until the one that s opens is none too many.
func (a *Assembler) makeRoom(s *Segment) {
	for a.recent.n >= a.limits.MaxConnections {
		a.end(a.recent.last, EndLimit, s.Packet, s.Time)
	}
}

// enter opens c, which can be found, and of which the first segment is known.
func (a *Assembler) enter(c *conn, id int64, f *Flow, packet, time int64) {
	c.ID = id
	c.Flow.set(f)
	c.FirstPacket, c.FirstTime, c.LastPacket, c.LastTime = packet, time, packet, time
	for i := range c.half {
		c.half[i].conn, c.half[i].d, c.half[i].fin = c.index, Dir(i), -1
	}
	a.recent.push(c.index)
	a.last = c.index
	a.handler.Open(&c.Conn)
}

// end closes connection i, which is open, and forgets it.
func (a *Assembler) end(i index, why End, packet, time int64) {
	if i&early != 0 {
		a.abandon(i, why, packet, time)
		a.drop(i)
		return
	}
	c := a.conns.at(i)
	a.close(c, why, packet, time)
	a.forget(c)
}

// forget drops a closed connection.
func (a *Assembler) forget(c *conn) {
	a.lingering.remove(c.index)
	a.table.remove(a.table.hash(&c.Flow), c.index)
	a.conns.drop(c)
	if a.last == c.index {
		a.last = 0
	}
}

// linger keeps a closed connection for its stragglers.
func (a *Assembler) linger(c *conn) {
	a.lingering.push(c.index)
	for a.lingering.n > a.limits.MaxClosed {
		a.forget(a.conns.at(a.lingering.last))
	}
}

// otherSYN says whether the SYN s opens another connection than c.
func (c *conn) otherSYN(d Dir, s *Segment) bool {
	h, peer := &c.half[d], &c.half[d.Other()]
	if h.hasISN {
		return h.isn != s.Seq
	}
	if h.phase != firm && s.Flags&ACK != 0 && peer.hasISN {
		// The answer to a SYN acknowledges it, and the data it may have carried. Before it, a side
		// that still knows an earlier connection answers with that one's numbers: RFC 9293 3.10.7.4.
		n := int32(s.Ack - peer.isn - 1)
		return n < 0 || n > maxLateStart
	}
	if h.phase == unknown {
		// Behind a RST the SYN that it answers may be shown late; any other one opens anew.
		return c.reset && c.ahead.refused != s.Seq+1
	}
	// A SYN that the capture shows late begins just below what was seen of its direction.
	below := int64(int32(h.nextSeq-s.Seq-1)) - h.next
	return below < 0 || below > maxLateStart || c.segs() > 64
}

// outlived says whether s is of a later connection than c, whose SYN was not captured: a side has
// closed, and s neither acknowledges the other one nor goes on with its own direction. One number
// alone may be damaged.
func (c *conn) outlived(d Dir, s *Segment, reach int64) bool {
	h, peer := &c.half[d], &c.half[d.Other()]
	if h.fin < 0 && peer.fin < 0 || s.Flags&(SYN|RST|ACK) != ACK || h.phase == unknown || peer.phase == unknown {
		return false
	}
	return !peer.near(s.Ack, reach) && (!h.near(s.Seq, reach) || peer.fin >= 0 && h.offset(s.Seq) > h.next)
}

// near says whether seq may be a number of h's direction, its FIN counted.
func (h *half) near(seq uint32, reach int64) bool {
	ahead := int64(int32(seq - h.nextSeq))
	if h.fin >= 0 {
		return ahead >= -reach && ahead <= h.fin+1-h.next
	}
	return ahead >= -reach && ahead <= reach
}

// straggler says whether s, arriving after c was closed, is a late part of c.
func (c *conn) straggler(d Dir, s *Segment, reach int64) bool {
	h, peer := &c.half[d], &c.half[d.Other()]
	switch {
	case s.Flags&SYN != 0:
		known := h.hasISN || h.phase != unknown || s.Flags&ACK != 0 && peer.hasISN
		return known && !c.otherSYN(d, s)
	case s.Flags&RST != 0:
		return true
	case h.phase == unknown: // data would have come before, or with the grace
		return s.WireLen == 0 && len(s.Payload) == 0
	}
	ahead := int64(int32(s.Seq - h.nextSeq))
	if c.why == EndFIN {
		// Nothing of a direction comes after its FIN, which has one sequence number.
		return ahead >= -window && ahead+int64(max(s.WireLen, len(s.Payload))) <= 1
	}
	return ahead >= -window && ahead <= reach
}
