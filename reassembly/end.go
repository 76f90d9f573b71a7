package reassembly

// sawFIN takes the FIN of h's direction, with sequence number seq.
func (a *Assembler) sawFIN(h *half, seq uint32, packet, time int64) {
	if h.fin >= 0 || h.phase == unknown {
		return
	}
	c, off := a.of(h), h.offset(seq)
	if off < h.next { // an old one, or none of this direction
		return
	}
	if reach := a.limits.reach(); off-h.next > reach || a.holds(h) && a.behind(h).held.end() > off {
		a.note(c, h.d, OutOfWindow, off, 0, packet, time)
		return
	}
	h.fin = off
	if off > h.next {
		a.behind(h).finTime = time
	}
	a.dropStray(h) // the end is within reach, that was not
	h.ackLast = min(h.ackLast, off)
	if c.ahead != nil {
		w := a.behind(h)
		w.ackLow, w.ackProven = min(w.ackLow, off), min(w.ackProven, off)
	}
	a.settle(h, packet, time)
	if !c.closed() && a.asking(h) {
		a.pend(c)
	}
}

// sawRST takes a RST. It ends both directions once stragglers had their chance: a swapped packet,
// or one that was on its way.
func (a *Assembler) sawRST(h *half, s *Segment) {
	c := a.of(h)
	if h.phase == firm {
		ahead := int64(int32(s.Seq - h.nextSeq))
		if reach := a.limits.reach(); ahead > reach || ahead < -reach {
			a.note(c, h.d, OutOfWindow, h.next, 0, s.Packet, s.Time)
			return
		}
		a.sent(h, h.next+ahead)
	}
	c.Dirs[h.d].SawRST = true
	if !c.reset {
		k := a.waits(c)
		c.reset, k.rstSegs, k.rstTime = true, c.segs(), s.Time
		if s.Flags&ACK != 0 {
			k.refused = s.Ack
		}
		a.pend(c)
	}
}

// close ends c: what is held is delivered, what was acknowledged and never captured is reported.
func (a *Assembler) close(c *conn, why End, packet, time int64) {
	if c.state != isOpen {
		return
	}
	c.state = closing
	for i := range c.half {
		h := &c.half[i]
		if a.starting(h) {
			a.commit(h)
		}
		a.dropStray(h)
		a.drain(h, packet, time)
		if h.finished || h.phase == unknown {
			continue
		}
		end := h.ackLast
		if c.ahead != nil {
			end = max(end, c.ahead.behind[i].sent)
		}
		end -= a.lostFIN(h)
		if h.fin >= 0 {
			end = h.fin
		}
		if h.fin >= 0 || end > h.next+1 || a.lostFIN(h) == 1 && end > h.next {
			a.lose(h, end, NotCaptured, packet, time)
			a.settle(h, packet, time)
		}
	}
	switch {
	case c.half[0].finished && c.half[1].finished:
		why = EndFIN
	case c.reset:
		why = EndRST
	}
	c.state, c.why, c.stamp = closed, why, max(time, a.now)
	a.recent.remove(c.index)
	a.pending.remove(c.index)
	a.handler.Close(&c.Conn, why, packet, time)
	if why == EndFIN || why == EndRST {
		a.linger(c)
	}
}
