package reassembly

import "bytes"

// phase says how well the beginning of a direction is known.
type phase uint8

const (
	unknown phase = iota // nothing seen
	soft                 // expected from an acknowledgement or an empty segment, no bytes yet
	firm                 // from a SYN, or bytes were delivered
)

// half is one direction of a connection.
type half struct {
	conn     index
	d        Dir
	phase    phase
	ordering bool // it has a flow in the engine
	hasISN   bool
	finished bool
	ownStart bool   // soft by an empty segment of its own: may be a keep-alive, one below
	nextSeq  uint32 // of the next byte expected
	isn      uint32
	next     int64 // offset of the next byte expected
	fin      int64 // offset of the FIN, -1 where none was seen
	ackLast  int64 // last acknowledgement by the peer
}

// arrival is the payload of a segment on its way in. Those in behind.early and
// behind.stray own their bytes.
type arrival struct {
	seq          uint32
	payload      []byte
	wire         int64 // bytes sent
	fin          bool
	packet, time int64
}

// part is a piece of an arrival that nothing held covers.
type part struct {
	off, end int64
	lost     bool
}

func (h *half) offset(seq uint32) int64 { return h.next + int64(int32(seq-h.nextSeq)) }

func (h *half) advance(n int64) {
	h.next += n
	h.nextSeq += uint32(n)
}

// chunk delivers b as the next bytes of h.
func (a *Assembler) chunk(h *half, b []byte, packet, time int64) {
	off := h.next
	c := a.of(h)
	st := &c.Dirs[h.d]
	st.Base = h.nextSeq - uint32(off)
	h.advance(int64(len(b)))
	st.Bytes += int64(len(b))
	a.handler.Chunk(&c.Conn, h.d, Chunk{Off: off, Bytes: b, Packet: packet, Time: time})
}

// arrive takes payload that is not simply the next of its direction.
func (a *Assembler) arrive(h *half, v arrival) {
	if h.phase != firm && !a.begin(h, &v) {
		return
	}
	if !a.within(h, &v) {
		return
	}
	a.place(h, v)
	a.settle(h, v.packet, v.time)
	a.enforce(h, v.packet, v.time)
}

// place puts v, within reach, where it belongs: first copy wins.
func (a *Assembler) place(h *half, v arrival) {
	off := h.offset(v.seq)
	end := off + v.wire
	have := off + int64(len(v.payload)) // end of the captured part
	if h.fin >= 0 && end > h.fin {
		a.note(a.of(h), h.d, OutOfWindow, h.fin, end-h.fin, v.packet, v.time)
		end, have = h.fin, min(have, h.fin)
		if end <= off {
			return
		}
	}
	if off < h.next {
		if v.wire <= 1 && end == h.next && !a.holds(h) {
			return // a keep-alive: RFC 9293 3.8.4
		}
		a.again(h, Retransmission, off, min(end, h.next), have, &v)
	}
	if end <= h.next {
		return
	}
	pos := max(off, h.next)
	if pos > h.next {
		a.of(h).Odd[h.d].OutOfOrder++
	} else if !a.holds(h) {
		if have > pos {
			a.chunk(h, v.payload[pos-off:have-off], v.packet, v.time)
		}
		if end > h.next {
			a.lose(h, end, SnapLength, v.packet, v.time)
		}
		return
	}

	c, w := a.of(h), a.behind(h)
	a.cover(h, pos, end, have, off, &v)
	if len(a.parts) == 0 {
		return
	}
	if !h.ordering {
		a.engine.begin(w)
	}
	for _, t := range a.parts {
		p := piece{off: t.off, end: t.end, packet: v.packet, time: v.time, lost: t.lost}
		if t.lost {
			w.held.insert(p)
			continue
		}
		b := v.payload[t.off-off : t.end-off]
		if t.off > h.next {
			p.data, p.owned = a.pool.copyOf(b), true
			p.pages = (len(b) + 1899) / 1900
			a.engine.hold(p.pages)
			c.ahead.cost += p.cost()
			a.cost += p.cost()
		} else {
			p.data = b
		}
		w.held.insert(p)
		a.engine.feed(w, h.nextSeq+uint32(t.off-h.next), b)
		// Bytes cut off by the snapshot length may be next now.
		a.passLost(h)
	}
	a.pend(c)
}

// cover leaves in a.parts what of [pos, end) nothing held covers, and compares the rest. Bytes
// of v that take the place of lost ones count as not covered.
func (a *Assembler) cover(h *half, pos, end, have, off int64, v *arrival) {
	a.parts = a.parts[:0]
	held := &a.behind(h).held
	for pos < end {
		i := held.find(pos)
		if i == held.len() || held.at(i).off >= end {
			a.addParts(pos, end, have)
			return
		}
		p := held.at(i)
		if p.off > pos {
			a.addParts(pos, p.off, have)
			pos = p.off
		}
		to := min(p.end, end)
		switch {
		case !p.lost:
			kind := Retransmission
			if n := min(to, have); n > pos && !bytes.Equal(v.payload[pos-off:n-off], p.data[pos-p.off:n-p.off]) {
				kind = OverlapConflict
			}
			a.again(h, kind, pos, to, have, v)
		case have > pos:
			n := min(to, have)
			held.carve(i, pos, n)
			a.addParts(pos, n, have)
		}
		pos = to
	}
}

// addParts adds [pos, end), captured up to have.
func (a *Assembler) addParts(pos, end, have int64) {
	if n := min(end, have); n > pos {
		a.parts = append(a.parts, part{off: pos, end: n})
		pos = n
	}
	if pos < end {
		a.parts = append(a.parts, part{off: pos, end: end, lost: true})
	}
}

// again counts and notes bytes that were there already.
func (a *Assembler) again(h *half, kind NoteKind, off, end, have int64, v *arrival) {
	c := a.of(h)
	c.Odd[h.d].Retransmitted += max(min(end, have)-off, 0)
	a.note(c, h.d, kind, off, end-off, v.packet, v.time)
}

// release gives back what a piece held.
func (a *Assembler) release(c *conn, p piece) {
	n := p.cost()
	c.ahead.cost -= n
	a.cost -= n
	a.engine.pages -= p.pages
	if p.owned {
		a.pool.put(p.data)
	}
}

// settle does what follows from h.next having moved.
func (a *Assembler) settle(h *half, packet, time int64) {
	a.passLost(h)
	if a.holds(h) {
		return
	}
	if h.ordering {
		a.engine.end(a.behind(h))
	}
	if h.fin == h.next && !h.finished {
		h.finished = true
		h.phase = firm
		c := a.of(h)
		a.handler.Finish(&c.Conn, h.d, packet, time)
		if c.half[h.d.Other()].finished {
			a.close(c, EndFIN, packet, time)
		}
	}
}

// passLost reports bytes cut off by the snapshot length whose turn has come.
func (a *Assembler) passLost(h *half) {
	for a.holds(h) {
		w := a.behind(h)
		if p := w.held.at(0); !p.lost || p.off > h.next {
			return
		}
		p := w.held.pop()
		a.lose(h, p.end, SnapLength, p.packet, p.time)
	}
}

// own gives v bytes of its own, to be kept.
func (a *Assembler) own(c *conn, v arrival) arrival {
	v.payload = a.pool.copyOf(v.payload)
	a.waits(c).cost += cap(v.payload)
	a.cost += cap(v.payload)
	return v
}

func (a *Assembler) disown(c *conn, v arrival) {
	c.ahead.cost -= cap(v.payload)
	a.cost -= cap(v.payload)
	a.pool.put(v.payload)
}
