package reassembly

import "slices"

const (
	// A direction seen first in its middle waits for a few segments before its start is decided,
	// since its first two may be swapped.
	startSegments = 4
	startTime     = second / 10

	// maxLateStart is how far below the first bytes seen a direction's start may yet turn out to be.
	maxLateStart = 1 << 16
)

// expect says that the next byte of h, of which nothing was seen, should be seq.
func (h *half) expect(seq uint32, own bool) {
	h.phase, h.nextSeq, h.ownStart = soft, seq, own
}

// rebase moves the start of h, of which nothing was delivered, to seq.
func (a *Assembler) rebase(h *half, seq uint32) {
	n := int64(int32(h.nextSeq - seq))
	if h.phase != soft || n < -maxLateStart || n > maxLateStart {
		a.restart(h) // what was known is of something else
	} else {
		h.ackLast += n
		if n > 0 || n < 0 && a.of(h).ahead != nil {
			w := a.behind(h)
			w.ackLow, w.ackProven, w.sent = w.ackLow+n, w.ackProven+n, w.sent+n
		}
		if h.fin >= 0 {
			h.fin = max(h.fin+n, -1)
		}
	}
	h.nextSeq = seq
	h.phase = firm
}

// restart forgets what is known of bytes beyond the next.
func (a *Assembler) restart(h *half) {
	h.ackLast, h.fin = h.next, -1
	if k := a.of(h).ahead; k != nil {
		w := &k.behind[h.d]
		w.ackLow, w.ackProven, w.sent = h.next, h.next, h.next
	}
}

// sent says that h's sender has sent up to off.
func (a *Assembler) sent(h *half, off int64) {
	if off > h.next {
		w := a.behind(h)
		w.sent = max(w.sent, off)
	}
}

// syn takes the SYN of h's direction.
func (a *Assembler) syn(h *half, s *Segment) {
	if c := a.of(h); s.Flags&ACK != 0 {
		c.SawSYNACK = true
	} else {
		c.SawSYN = true
	}
	if h.hasISN {
		return
	}
	h.hasISN, h.isn = true, s.Seq
	if h.phase != firm {
		a.rebase(h, s.Seq+1)
		a.resubmit(h)
	}
}

// empty takes a segment without payload, whose sequence number says what comes next.
func (a *Assembler) empty(h *half, seq uint32) {
	if h.phase == unknown {
		if !a.starting(h) {
			h.expect(seq, true)
		}
		return
	}
	if off := h.offset(seq); off-h.next < window {
		a.sent(h, off)
	}
}

// begin decides where h starts, given its first payload v. It returns false where v is kept until
// that can be said.
func (a *Assembler) begin(h *half, v *arrival) bool {
	c := a.of(h)
	if h.phase == soft && !a.starting(h) {
		ahead := int64(int32(v.seq - h.nextSeq))
		switch {
		case ahead == -1 && v.wire <= 1:
			return false // a keep-alive
		case ahead == 1 && h.ownStart:
			a.rebase(h, v.seq) // what came before was a keep-alive, one below
			return true
		case ahead >= 0 && ahead < a.limits.reach():
			h.phase = firm
			return true
		case ahead >= a.limits.reach() || ahead < -a.limits.reach():
			h.phase = unknown
			a.restart(h)
		}
	}
	w := a.behind(h)
	if len(w.early) == 0 {
		w.earlySegs, w.earlyTime = c.segs(), v.time
	}
	w.early = append(w.early, a.own(c, *v))
	a.pend(c)
	if len(w.early) >= startSegments || c.cost() > a.limits.MaxConnBytes || a.cost > a.limits.MaxBytes {
		a.commit(h)
	}
	return false
}

// commit decides the start from the payloads seen so far: the lowest, or where a start is
// expected, the lowest that leads up to it without a hole.
func (a *Assembler) commit(h *half) {
	early := a.behind(h).early
	first := early[0].seq
	slices.SortStableFunc(early, func(x, y arrival) int {
		return int(int32(x.seq-first)) - int(int32(y.seq-first))
	})
	start := early[0].seq
	if h.phase == soft {
		start = h.nextSeq
		for i := len(early) - 1; i >= 0; i-- {
			v := &early[i]
			if int32(start-v.seq) > 0 && int64(int32(start-v.seq)) <= v.wire {
				start = v.seq
			}
		}
	}
	a.rebase(h, start)
	a.resubmit(h)
}

// resubmit takes the payloads that waited for the start: first what was captured of them, then
// what the snapshot length cut off, which may be among the captured bytes of another.
func (a *Assembler) resubmit(h *half) {
	c := a.of(h)
	if !a.starting(h) {
		return
	}
	early := a.behind(h).early
	a.behind(h).early = nil
	for _, v := range early {
		if v.wire = int64(len(v.payload)); v.wire > 0 && !c.closed() {
			a.arrive(h, v)
		}
	}
	for _, v := range early {
		n := len(v.payload)
		if tail := v.wire - int64(n); tail > 0 && !c.closed() {
			a.arrive(h, arrival{seq: v.seq + uint32(n), wire: tail, packet: v.packet, time: v.time})
		}
		if v.fin && !c.closed() {
			a.sawFIN(h, v.seq+uint32(v.wire), v.packet, v.time)
		}
		a.disown(c, v)
	}
}

// within says whether v may be placed. A segment further ahead than the buffer limit is kept
// until another one, or an acknowledgement, says that the direction really is there; it then goes
// on from there.
func (a *Assembler) within(h *half, v *arrival) bool {
	c := a.of(h)
	reach := a.limits.reach()
	if ahead := int64(int32(v.seq - h.nextSeq)); ahead <= reach && ahead >= -window {
		return true
	}
	if h.fin >= 0 { // that is within reach
		a.note(c, h.d, OutOfWindow, h.next, v.wire, v.packet, v.time)
		return false
	}
	acked := h.ackLast > h.next && h.ackLast >= h.offset(v.seq)
	if s := a.strayed(h); s != nil && !acked {
		after := int64(int32(v.seq - s.seq))
		if after == 0 {
			return false
		}
		if after > 0 && after <= reach {
			a.jumpToStray(h, v.packet, v.time)
			return !c.closed()
		}
	}
	a.dropStray(h)
	if acked {
		a.jump(h, v.seq, v.packet, v.time)
		return !c.closed()
	}
	s := a.own(c, *v)
	a.behind(h).stray = &s
	return false
}

// jumpToStray goes on at the segment that was out of reach.
func (a *Assembler) jumpToStray(h *half, packet, time int64) {
	c := a.of(h)
	s := *a.behind(h).stray
	a.behind(h).stray = nil
	a.jump(h, s.seq, packet, time)
	if !c.closed() {
		a.place(h, s)
		a.settle(h, packet, time)
	}
	if s.fin && !c.closed() {
		a.sawFIN(h, s.seq+uint32(s.wire), s.packet, s.time)
	}
	a.disown(c, s)
}

func (a *Assembler) dropStray(h *half) {
	if s := a.strayed(h); s != nil {
		c := a.of(h)
		c.ahead.behind[h.d].stray = nil
		a.note(c, h.d, OutOfWindow, h.next, s.wire, s.packet, s.time)
		a.disown(c, *s)
	}
}

// jump restarts h at seq, behind a gap whose length is known where the sequence number can tell.
func (a *Assembler) jump(h *half, seq uint32, packet, time int64) {
	a.drain(h, packet, time)
	if a.of(h).closed() {
		return
	}
	if n := int64(int32(seq - h.nextSeq)); n > 0 && n <= window {
		a.lose(h, h.next+n, NotCaptured, packet, time)
		return
	} else if n == 0 {
		return
	}
	a.gap(h, -1, NotCaptured, packet, time)
	h.nextSeq = seq
	a.restart(h)
}
