package reassembly

// A hole is decided by what the peer has acknowledged. Single acknowledgements prove little:
// captures show packets swapped, and headers can be damaged. So acknowledgements are looked at
// over windows of GraceSegments segments or GraceTime; what each of them in a whole window
// acknowledged is proven, and a hole below that is lost.

// acknowledge takes an acknowledgement of h's bytes by the peer.
func (a *Assembler) acknowledge(h *half, ack uint32) {
	if h.phase == firm && ack == h.nextSeq {
		h.ackLast = h.next
		a.low(h)
		return
	}
	if a.starting(h) {
		if int32(ack-a.behind(h).early[0].seq) <= 0 {
			return
		}
		a.commit(h)
		if a.of(h).closed() {
			return
		}
	}
	if h.phase == unknown {
		h.expect(ack, false)
		return
	}
	ahead := int64(int32(ack - h.nextSeq))
	if s := a.strayed(h); s != nil {
		if n := int64(int32(ack - s.seq)); n > 0 && n <= a.limits.reach() {
			c := a.of(h)
			a.jumpToStray(h, c.LastPacket, c.LastTime)
			if c.closed() {
				return
			}
			ahead = int64(int32(ack - h.nextSeq))
		}
	}
	if ahead > window || ahead < -window {
		return
	}
	h.ackLast = h.next + ahead
	if h.fin >= 0 {
		h.ackLast = min(h.ackLast, h.fin)
	}
	a.low(h)
	if a.asking(h) {
		a.pend(a.of(h))
	}
}

// low takes the last acknowledgement into account for the lowest.
func (a *Assembler) low(h *half) {
	if k := a.of(h).ahead; k != nil {
		w := &k.behind[h.d]
		w.ackLow = min(w.ackLow, h.ackLast)
	}
}

// asking says whether bytes of h are missing that may still come. One byte acknowledged beyond
// all that was seen is most likely a FIN that was not captured.
func (a *Assembler) asking(h *half) bool {
	return !h.finished && (a.holds(h) || h.fin > h.next || h.ackLast > h.next+1)
}

// pend has c looked at until nothing about it is undecided.
func (a *Assembler) pend(c *conn) {
	if a.pending.in(c.index) || c.state != isOpen {
		return
	}
	a.pending.push(c.index)
	k := a.waits(c)
	k.winSegs, k.winTime = c.segs(), c.LastTime
	for i := range c.half {
		k.behind[i].ackLow = c.half[i].ackLast
	}
}

// decide looks at what is undecided about c.
func (a *Assembler) decide(c *conn, packet, time int64) {
	k := a.waits(c)
	if k.winTime-time > a.limits.GraceTime { // the clock was set back
		k.winTime = time
	}
	if c.segs()-k.winSegs >= int64(a.limits.GraceSegments) || time-k.winTime >= a.limits.GraceTime {
		k.winSegs, k.winTime = c.segs(), time
		for i := range c.half {
			w := &k.behind[i]
			w.ackProven = max(w.ackProven, w.ackLow)
			w.ackLow = c.half[i].ackLast
		}
	}
	undecided := c.reset
	for i := range c.half {
		h := &c.half[i]
		if w := &k.behind[i]; len(w.early) > 0 && (c.segs()-w.earlySegs >= startSegments || time-w.earlyTime >= startTime) {
			a.commit(h)
		}
		for !c.closed() && a.asking(h) && a.decideHole(h, packet, time) {
		}
		if c.closed() {
			return
		}
		undecided = undecided || a.starting(h) || a.asking(h)
	}
	if c.reset && (c.segs()-k.rstSegs >= int64(a.limits.GraceSegments) || time-k.rstTime >= a.limits.GraceTime) {
		a.close(c, EndRST, packet, time)
		return
	}
	if !undecided {
		a.pending.remove(c.index)
	}
}

// decideHole gives up the first hole of h if it is lost.
func (a *Assembler) decideHole(h *half, packet, time int64) bool {
	w := a.behind(h)
	end, since := a.hole(h)
	if since < 0 { // nothing captured behind it
		end = min(w.ackProven, h.ackLast) - a.lostFIN(h)
		if end <= h.next {
			return false
		}
	} else if w.ackProven < end && time-since <= a.limits.MaxHold {
		return false
	}
	a.giveUp(h, end, packet, time)
	return true
}

// hole returns where the first hole of h ends, and when what is behind it was captured: -1 where
// only acknowledgements tell of it.
func (a *Assembler) hole(h *half) (end, since int64) {
	switch {
	case a.holds(h):
		p := a.behind(h).held.at(0)
		return p.off, p.time
	case h.fin > h.next:
		return h.fin, a.behind(h).finTime
	}
	return max(h.ackLast, h.next), -1
}

// lostFIN is 1 where the last number acknowledged is most likely that of a FIN that was not
// captured: the other side has closed.
func (a *Assembler) lostFIN(h *half) int64 {
	if h.fin < 0 && a.of(h).half[h.d.Other()].fin >= 0 {
		return 1
	}
	return 0
}

// giveUp makes the hole up to end a gap. It is our own limit that ends the wait only where the
// peer was seen and has not acknowledged the bytes.
func (a *Assembler) giveUp(h *half, end, packet, time int64) {
	reason := NotCaptured
	if c := a.of(h); c.state == isOpen && h.ackLast < end && c.Dirs[h.d.Other()].Packets > 0 {
		reason = BufferLimit
	}
	a.lose(h, end, reason, packet, time)
	a.settle(h, packet, time)
}

// lose reports the bytes up to end as missing. Through the engine they go as filler, which brings
// out what is held behind them.
func (a *Assembler) lose(h *half, end int64, reason Reason, packet, time int64) {
	if end <= h.next {
		return
	}
	h.phase = firm
	a.gap(h, end-h.next, reason, packet, time)
	if !h.ordering {
		h.advance(end - h.next)
		return
	}
	w := a.behind(h)
	w.skipTo = end
	for h.next < end {
		a.engine.feed(w, h.nextSeq, filler[:min(end-h.next, fillerSize)])
	}
}

func (a *Assembler) gap(h *half, n int64, reason Reason, packet, time int64) {
	c := a.of(h)
	odd := &c.Odd[h.d]
	odd.Gaps++
	odd.Missing += max(n, 0)
	a.handler.Gap(&c.Conn, h.d, Gap{Off: h.next, Len: n, Reason: reason, Packet: packet, Time: time})
}

// drain delivers all that is held for h, behind its gaps.
func (a *Assembler) drain(h *half, packet, time int64) {
	for a.holds(h) {
		end, _ := a.hole(h)
		a.giveUp(h, end, packet, time)
	}
}

// enforce keeps to the limits on memory: first this connection's, then that on all together, for
// which those give way that have waited longest.
func (a *Assembler) enforce(h *half, packet, time int64) {
	c := a.of(h)
	for c.cost() > a.limits.MaxConnBytes && a.squeeze(c, packet, time) {
	}
	for a.cost > a.limits.MaxBytes {
		oldest := a.pending.last
		for oldest != 0 && a.conns.at(oldest).cost() == 0 {
			oldest = a.pending.before(oldest)
		}
		if oldest == 0 || !a.squeeze(a.conns.at(oldest), packet, time) {
			return
		}
	}
}

// squeeze makes c hold less.
func (a *Assembler) squeeze(c *conn, packet, time int64) bool {
	before := c.cost()
	for i := range c.half {
		h := &c.half[i]
		if a.starting(h) {
			a.commit(h)
		}
		if a.holds(h) && !c.closed() {
			end, _ := a.hole(h)
			a.giveUp(h, end, packet, time)
		}
		a.dropStray(h)
	}
	return c.cost() < before
}
