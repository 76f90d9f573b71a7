package reassembly

import "encoding/binary"

// conn is a Conn with what reassembling it needs.
type conn struct {
	Conn
	a       *Assembler
	key     Flow
	swapped bool // Forward is the reverse of key
	half    [2]half
	segs    int64 // segments of both directions
	stamp   int64 // time of the last segment, for idleness
	cost    int   // bytes of memory held

	reset    bool // a RST was seen; stragglers are let in for the grace
	rstSegs  int64
	rstTime  int64
	refused  uint32 // the number that the RST acknowledges; 0 for none
	winSegs  int64  // start of the window over acknowledgements: see hole.go
	winTime  int64
	closing  bool
	closed   bool
	why      End
	closedAt int64

	links [2]link
}

// link is a place in an intrusive list.
type link struct {
	prev, next *conn
	in         bool
}

// An open connection is in recent, and while something about it is undecided in pending. A closed
// one uses the place of recent for the list of those remembered.
const (
	inRecent = iota
	inPending
)

// list is an intrusive list of connections, newest first.
type list struct {
	which       int
	first, last *conn
	n           int
}

func (l *list) push(c *conn) {
	k := &c.links[l.which]
	k.prev, k.next, k.in = nil, l.first, true
	if l.first != nil {
		l.first.links[l.which].prev = c
	} else {
		l.last = c
	}
	l.first = c
	l.n++
}

func (l *list) remove(c *conn) {
	k := &c.links[l.which]
	if !k.in {
		return
	}
	if k.prev != nil {
		k.prev.links[l.which].next = k.next
	} else {
		l.first = k.next
	}
	if k.next != nil {
		k.next.links[l.which].prev = k.prev
	} else {
		l.last = k.prev
	}
	*k = link{}
	l.n--
}

// canonical returns the direction of f that both directions share as key, and whether it is the
// reverse of f.
func canonical(f *Flow) (Flow, bool) {
	if less(&f.Dst, &f.Src) {
		return f.Reverse(), true
	}
	return *f, false
}

func less(x, y *Endpoint) bool {
	a, b := binary.BigEndian.Uint64(x.IP[8:]), binary.BigEndian.Uint64(y.IP[8:])
	if a != b {
		return a < b
	}
	if x.Port != y.Port {
		return x.Port < y.Port
	}
	return binary.BigEndian.Uint64(x.IP[:8]) < binary.BigEndian.Uint64(y.IP[:8])
}

// find returns the connection and direction that s belongs to, opening one where there is none,
// or nil for a straggler of a closed connection.
func (a *Assembler) find(s *Segment) (*conn, Dir) {
	key, swapped := canonical(&s.Flow)
	c := a.last
	if c == nil || c.key != key {
		c = a.conns[key]
	}
	if c != nil {
		d := c.dir(swapped)
		switch {
		case c.closed:
			if c.straggler(d, s) {
				c.Dirs[d].Packets++
				c.Dirs[d].Retransmitted += int64(len(s.Payload))
				return nil, d
			}
			a.forget(c)
		case s.Flags&SYN != 0 && c.otherSYN(d, s), c.outlived(d, s):
			if !c.reset {
				a.note(c, d, PortReuse, c.half[d].next, 0, s.Packet, s.Time)
			}
			a.close(c, EndReuse, s.Packet, s.Time)
			a.forget(c)
		default:
			a.last = c
			return c, d
		}
	}
	return a.open(s, key, swapped)
}

func (c *conn) dir(swapped bool) Dir {
	if swapped != c.swapped {
		return Backward
	}
	return Forward
}

func (a *Assembler) open(s *Segment, key Flow, swapped bool) (*conn, Dir) {
	for a.recent.n >= a.limits.MaxConnections {
		oldest := a.recent.last
		a.close(oldest, EndLimit, s.Packet, s.Time)
		a.forget(oldest)
	}
	a.opened++
	d, flow := Forward, s.Flow
	if s.Flags&(SYN|ACK) == SYN|ACK {
		d, flow = Backward, s.Flow.Reverse()
		swapped = !swapped
	}
	c := &conn{
		a: a, key: key, swapped: swapped,
		Conn: Conn{ID: a.opened, Flow: flow, FirstPacket: s.Packet, FirstTime: s.Time,
			LastPacket: s.Packet, LastTime: s.Time},
	}
	for i := range c.half {
		c.half[i].c, c.half[i].d, c.half[i].fin = c, Dir(i), -1
	}
	a.conns[key] = c
	a.recent.push(c)
	a.last = c
	a.handler.Open(&c.Conn)
	return c, d
}

// forget drops a closed connection from the table.
func (a *Assembler) forget(c *conn) {
	a.lingering.remove(c)
	if a.conns[c.key] == c {
		delete(a.conns, c.key)
	}
	if a.last == c {
		a.last = nil
	}
}

// linger keeps a closed connection for its stragglers.
func (a *Assembler) linger(c *conn) {
	a.lingering.push(c)
	for a.lingering.n > a.limits.MaxClosed {
		a.forget(a.lingering.last)
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
		return c.reset && c.refused != s.Seq+1
	}
	// A SYN that the capture shows late begins just below what was seen of its direction.
	below := int64(int32(h.nextSeq-s.Seq-1)) - h.next
	return below < 0 || below > maxLateStart || c.segs > 64
}

// outlived says whether s is of a later connection than c, whose SYN was not captured: a side has
// closed, and s neither acknowledges the other one nor goes on with its own direction. One number
// alone may be damaged.
func (c *conn) outlived(d Dir, s *Segment) bool {
	h, peer := &c.half[d], &c.half[d.Other()]
	if h.fin < 0 && peer.fin < 0 || s.Flags&(SYN|RST|ACK) != ACK || h.phase == unknown || peer.phase == unknown {
		return false
	}
	return !peer.near(s.Ack) && (!h.near(s.Seq) || peer.fin >= 0 && h.offset(s.Seq) > h.next)
}

// near says whether seq may be a number of h's direction, its FIN counted.
func (h *half) near(seq uint32) bool {
	ahead, reach := int64(int32(seq-h.nextSeq)), h.c.a.limits.reach()
	if h.fin >= 0 {
		return ahead >= -reach && ahead <= h.fin+1-h.next
	}
	return ahead >= -reach && ahead <= reach
}

// straggler says whether s, arriving after c was closed, is a late part of c.
func (c *conn) straggler(d Dir, s *Segment) bool {
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
	return ahead >= -window && ahead <= c.a.limits.reach()
}
