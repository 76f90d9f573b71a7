package frame

import "encoding/binary"

// maxCandidates bounds the places on trial at a time.
const maxCandidates = 64

// window holds the bytes among which a frame is searched.
type window struct {
	base  int64 // stream offset of buf's first byte
	buf   *Buffer
	marks []Mark // of buf
	pos   int    // bytes before it were looked at as a frame's first
	// undecided are places before pos whose header is not all there, ascending.
	undecided []int
	cands     []candidate
	// anchored is set where the first byte begins a frame if the judge does not object.
	anchored bool
	// inPacket is set where the first byte may not be the first one of its packet.
	inPacket bool
	// Captured bytes from here on are part of no frame.
	skipFrom  int64
	skipFirst int64
}

// candidate is a place that may begin a frame.
type candidate struct {
	start, last, end int // offsets in the window: of the first frame, of the last one, and behind it
	frames           int
	strong           bool // the first header's verdict
}

func (w *window) len() int {
	if w == nil || w.buf == nil {
		return 0
	}
	return len(w.buf.B)
}

func (w *window) onTrial() bool { return w != nil && len(w.cands) > 0 }

// open begins a window at stream offset off, which may be inside of a packet.
func (s *Splitter) open(off int64, inPacket bool) *window {
	w := s.pool.takeWindow()
	w.base, w.skipFrom, w.skipFirst = off, off, 0
	w.anchored, w.inPacket = s.verify, inPacket
	s.search, s.verify = w, false
	return w
}

// closeWindow gives back the window, if there is one.
func (s *Splitter) closeWindow() {
	if w := s.search; w != nil {
		s.search = nil
		s.pool.putWindow(w)
	}
}

// restart looks at pos and what follows anew.
func (w *window) restart(pos int) {
	w.pos, w.undecided, w.cands = pos, w.undecided[:0], w.cands[:0]
}

// take makes bytes that were gathered before the search the first ones of the window.
func (w *window) take(b []byte, marks []Mark, p *Pool) {
	if len(b) == 0 {
		return
	}
	if buf, ok := p.Append(w.buf, b); ok {
		w.buf = buf
		w.marks = append(w.marks, marks...)
	} else {
		w.base += int64(len(b))
	}
}

// searchIn adds b to the window and searches.
func (s *Splitter) searchIn(b []byte) {
	if len(b) == 0 {
		return
	}
	w := s.search
	if w == nil {
		w = s.open(s.off, false)
	}
	at := w.len()
	buf, ok := s.pool.Append(w.buf, b)
	w.buf = buf
	if !ok {
		s.off += int64(len(b))
		s.skip(s.off, OverLimit)
		s.lose()
		return
	}
	if len(w.marks) == 0 || w.marks[len(w.marks)-1].Packet != s.packet {
		w.marks = append(w.marks, Mark{int32(at), s.packet, s.time})
	}
	s.off = w.base + int64(w.len())
	s.settle(false)
	if s.state != Synced {
		w.trim()
	}
}

// settle searches until the stream is in step or the bytes are used up.
func (s *Splitter) settle(final bool) {
	w := s.search
	for s.state != Synced {
		at, ok := s.scan(final)
		if !ok {
			return
		}
		s.replay(at)
		if s.state != Synced {
			at = int(s.start - w.base)
			w.anchored = s.verify
			w.skipFrom, w.skipFirst = s.start, 0
			s.verify = false
			s.drop()
			w.restart(at)
			s.off = w.base + int64(w.len())
			continue
		}
		s.closeWindow()
	}
}

// replay gives the window from offset at on to the splitter as a stream that is in step there.
func (s *Splitter) replay(at int) {
	w := s.search
	s.skip(w.base+int64(at), NotFound)
	packet, time := s.packet, s.time
	s.state, s.trusted, s.verify = Synced, true, false
	s.off, s.start = w.base+int64(at), w.base+int64(at)
	if s.passing != nil {
		*s.passing = passing{}
	}
	for i, m := range w.marks {
		end := w.len()
		if i+1 < len(w.marks) {
			end = int(w.marks[i+1].Off)
		}
		if end <= at {
			continue
		}
		b := w.buf.B[max(at, int(m.Off)):end]
		s.packet, s.time = m.Packet, m.Time
		if s.inStep(b, false) < len(b) {
			break
		}
	}
	s.packet, s.time = packet, time
}

// scan looks for the first frame that is confirmed, in order of the ends of the frames. It
// returns its offset in the window. With final no more bytes follow.
func (s *Splitter) scan(final bool) (int, bool) {
	w := s.search
	if w.len() == 0 {
		return 0, false
	}
	b := w.buf
	if w.pos < len(b.B) || final {
		s.review(b.B)
	}
	for {
		if i := w.due(); i >= 0 {
			at, ok, wait := s.try(i, b.B, final)
			if ok {
				return at, true
			}
			if wait {
				return 0, false
			}
			continue
		}
		if w.pos >= len(b.B) {
			return 0, false
		}
		if !w.anchored && w.pass(b.B, byte(s.limits.MaxSearch>>24)) {
			continue
		}
		v := s.owner.Header(nil, b.B[w.pos:])
		switch {
		case w.anchored && v == More && !final:
			return 0, false
		case v == More:
			w.undecided = append(w.undecided, w.pos)
		case v != No && w.anchored:
			w.anchored = false
			return w.pos, true
		case v != No:
			s.admit(w.pos, b.B, v)
		}
		w.anchored = false
		w.pos++
	}
}

// pass passes over places whose first byte alone makes a size too large, up to where a candidate is
// due. It reports whether there were any.
func (w *window) pass(b []byte, most byte) bool {
	to := len(b) - 3 // with less of a size nothing is decided
	for i := range w.cands {
		to = min(to, w.cands[i].end)
	}
	from := w.pos
	for w.pos < to && b[w.pos] > most {
		w.pos++
	}
	return w.pos > from
}

// review judges the undecided places again, which have more bytes now.
func (s *Splitter) review(b []byte) {
	w := s.search
	kept := w.undecided[:0]
	for _, at := range w.undecided {
		switch v := s.owner.Header(nil, b[at:]); v {
		case More:
			kept = append(kept, at)
		case Weak, Strong:
			s.admit(at, b, v)
		}
	}
	w.undecided = kept
}

// admit puts the place at on trial.
func (s *Splitter) admit(at int, b []byte, v Verdict) {
	w := s.search
	size := int32(binary.BigEndian.Uint32(b[at:]))
	if size < 0 || size > s.limits.MaxSearch {
		return
	}
	c := candidate{start: at, last: at, end: at + 4 + int(size), frames: 1, strong: v == Strong}
	if len(w.cands) < maxCandidates {
		w.cands = append(w.cands, c)
		return
	}
	// The one that takes longest to decide on makes room.
	far := 0
	for i := range w.cands {
		if w.cands[i].end > w.cands[far].end {
			far = i
		}
	}
	if c.end < w.cands[far].end {
		w.cands[far] = c
	}
}

// due returns the candidate that ends first, if it ends at or before pos; else -1.
func (w *window) due() int {
	best := -1
	for i := range w.cands {
		c := &w.cands[i]
		if c.end <= w.pos && (best < 0 || c.end < w.cands[best].end || c.end == w.cands[best].end && c.start < w.cands[best].start) {
			best = i
		}
	}
	return best
}

// try decides on candidate i, whose bytes are all there. It returns its offset where it is
// confirmed, or that it has to wait for the header behind it.
func (s *Splitter) try(i int, b []byte, final bool) (at int, ok, wait bool) {
	w := s.search
	c := &w.cands[i]
	if c.frames == 1 {
		switch s.owner.Whole(b[c.start:c.end], w.aligned(c.start)) {
		case Strong:
			return c.start, true, false
		case No:
			w.drop(i)
			return 0, false, false
		}
	}
	v := More
	if c.end < len(b) {
		v = s.owner.Header(b[c.last:c.end], b[c.end:])
	}
	switch {
	case v == Strong, v == Weak && c.frames+1 >= s.limits.Chain:
		return c.start, true, false
	case v == More && final:
		// Nothing contradicts it, and nothing more is there to ask.
		if c.strong {
			return c.start, true, false
		}
		w.drop(i)
	case v == More:
		return 0, false, true
	case v == Weak:
		size := int32(binary.BigEndian.Uint32(b[c.end:]))
		if size < 0 || size > s.limits.MaxSearch {
			w.drop(i)
			break
		}
		c.last, c.end, c.frames = c.end, c.end+4+int(size), c.frames+1
	default:
		w.drop(i)
	}
	return 0, false, false
}

// aligned reports whether the byte at offset at is the first one of a packet.
func (w *window) aligned(at int) bool {
	for i := range w.marks {
		if int(w.marks[i].Off) == at {
			return at > 0 || !w.inPacket
		}
	}
	return false
}

func (w *window) drop(i int) { w.cands = append(w.cands[:i], w.cands[i+1:]...) }

// skip reports the bytes up to stream offset end as skipped.
func (s *Splitter) skip(end int64, why Cause) {
	w := s.search
	if w == nil || end <= w.skipFrom {
		return
	}
	first, last, time := s.packet, s.packet, s.time
	for i, m := range w.marks {
		at := w.base + int64(m.Off)
		if at <= w.skipFrom || i == 0 {
			first = m.Packet
		}
		if at < end {
			last, time = m.Packet, m.Time
		}
	}
	if w.skipFirst > 0 {
		first = w.skipFirst
	}
	s.owner.Skip(Skip{Off: w.skipFrom, Len: end - w.skipFrom, Why: why, First: first, Last: last, Time: time})
	w.skipFrom, w.skipFirst = end, 0
}

// trim forgets the bytes that no frame can begin in any more.
func (w *window) trim() {
	keep := w.pos
	if len(w.undecided) > 0 {
		keep = min(keep, w.undecided[0])
	}
	for i := range w.cands {
		keep = min(keep, w.cands[i].start)
	}
	// Moving the rest is only worth it where most of the window goes.
	if keep < 1024 || keep < w.len()/2 {
		return
	}
	if w.skipFirst == 0 && len(w.marks) > 0 {
		w.skipFirst = w.packetAt(w.skipFrom)
	}
	b := w.buf.B
	w.buf.B = b[:copy(b, b[keep:])]
	n := 0
	for i, m := range w.marks {
		if i+1 < len(w.marks) && int(w.marks[i+1].Off) <= keep {
			continue
		}
		m.Off -= int32(keep) // negative: the packet began before the window
		w.marks[n] = m
		n++
	}
	w.marks = w.marks[:n]
	for i := range w.undecided {
		w.undecided[i] -= keep
	}
	for i := range w.cands {
		c := &w.cands[i]
		c.start, c.last, c.end = c.start-keep, c.last-keep, c.end-keep
	}
	w.base += int64(keep)
	w.pos -= keep
	w.inPacket = false
}

// packetAt returns the packet that brought the byte at stream offset off.
func (w *window) packetAt(off int64) int64 {
	p := int64(0)
	for i, m := range w.marks {
		if i == 0 || w.base+int64(m.Off) <= off {
			p = m.Packet
		}
	}
	return p
}

// gapInSearch takes a gap while a frame is searched. What is on trial is decided now; a frame at
// the very beginning of the window is believed though the gap cuts it where there is no doubt of
// its header, or where it begins behind another frame and nothing speaks against it.
func (s *Splitter) gapInSearch(g Gap, known bool, end int64) {
	w := s.search
	if w == nil { // nothing is searched yet
		s.packet, s.time = g.Packet, g.Time
		s.off = end
		s.lose()
		return
	}
	if !w.anchored {
		s.endSearch(false)
	}
	if s.state == Synced {
		s.gapInStep(g, known, end)
		return
	}
	if total, ok := s.cutAtStart(); ok && known && end <= w.skipFrom+total {
		s.start = w.skipFrom
		s.replay(int(s.start - w.base))
		s.closeWindow()
		s.gapInStep(g, known, end)
		return
	}
	if w.anchored {
		w.anchored = false
		s.gapInSearch(g, known, end)
		return
	}
	s.skip(s.off, NotFound)
	s.packet, s.time = g.Packet, g.Time
	s.off = end
	s.lose()
}

// cutAtStart returns the length of the frame that the window's first byte begins, where that can
// be believed.
func (s *Splitter) cutAtStart() (int64, bool) {
	w := s.search
	if w.skipFrom < w.base || w.buf == nil {
		return 0, false
	}
	b := w.buf.B[w.skipFrom-w.base:]
	if len(b) < 4 || w.anchored && s.owner.Header(nil, b) == No || !w.anchored && !s.owner.Begins(b) {
		return 0, false
	}
	size := int32(binary.BigEndian.Uint32(b))
	return 4 + int64(size), s.owner.Size(size) && size <= s.limits.MaxFrame
}

// endSearch decides on what is on trial with no more bytes to come. With ending the rest is
// skipped.
func (s *Splitter) endSearch(ending bool) {
	s.settle(true)
	if s.state == Synced || !ending {
		return
	}
	s.skip(s.off, NotFound)
	s.closeWindow()
}
