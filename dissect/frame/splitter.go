package frame

import "encoding/binary"

// Splitter cuts one direction of a connection into frames. Use Init before anything else. There is
// one for each direction of each connection, so it is small: what is needed at times only has a
// place of its own while it is.
type Splitter struct {
	owner  Owner
	pool   *Pool
	limits *Limits

	state State
	// trusted is set where the next size was judged already.
	trusted bool
	// verify is set where the next header shows whether the splitter is still in step.
	verify bool

	off    int64 // stream offset of the next byte
	packet int64 // the last one seen
	time   int64
	start  int64 // stream offset of the present frame

	part    *part    // of the present frame, while some of its bytes are there
	passing *passing // bytes behind a gap in their frame; nil where there were none
	search  *window  // while bytes are searched
}

// passing are bytes behind a gap in their frame, which are passed over.
type passing struct {
	from  int64 // stream offset of the first
	to    int64 // where the frame ends
	first int64 // packet of the first
}

// passes reports whether the next byte is passed over.
func (s *Splitter) passes() bool { return s.passing != nil && s.off < s.passing.to }

// passTo has bytes passed over that come before stream offset to.
func (s *Splitter) passTo(to int64) {
	if s.passing == nil {
		s.passing = &passing{}
	}
	s.passing.to = to
}

// Start says what is known of a stream's first byte.
type Start uint8

// Starts.
const (
	InStep Start = iota // it begins a frame
	Verify              // it does if the judge does not object, else a frame is searched
	Search              // a frame is searched
)

// Init prepares s for a stream from offset off on. The limits, which have no zero fields, stay as
// they are.
func (s *Splitter) Init(o Owner, pool *Pool, l *Limits, off int64, start Start) {
	*s = Splitter{owner: o, pool: pool, limits: l, off: off}
	s.verify = start == Verify
	if start == Search {
		s.lose()
	}
}

// State returns what s is doing.
func (s *Splitter) State() State {
	if s.state != Synced && s.search.onTrial() {
		return Trial
	}
	return s.state
}

// InStep reports whether the next frame is taken as it comes: it is neither searched nor, behind
// a gap in the last one, to be judged first.
func (s *Splitter) InStep() bool { return s.state == Synced && !s.verify }

// Offset returns the stream offset of the next byte.
func (s *Splitter) Offset() int64 { return s.off }

// Chunk takes the bytes at stream offset off, which follow what was given before. Bytes that
// are further on than that are taken as lying behind a gap.
func (s *Splitter) Chunk(off int64, b []byte, packet, time int64) {
	if off > s.off {
		s.Gap(Gap{Off: s.off, Len: off - s.off, Packet: packet, Time: time})
	}
	s.packet, s.time = packet, time
	if s.state == Synced {
		n := s.inStep(b, true)
		if n == len(b) {
			return
		}
		b = b[n:]
		w := s.open(s.start, true)
		if s.part != nil {
			w.take(s.part.prefix[:s.part.have], s.part.marks, s.pool)
			s.drop()
		}
	}
	s.searchIn(b)
}

// inStep takes b, which is of the chunk itself or of other memory, while the stream is in step. It
// returns how much of b it took: less than all of it where a frame that begins at s.start cannot be
// one, or must be verified.
func (s *Splitter) inStep(b []byte, inChunk bool) int {
	taken := 0
	for taken < len(b) {
		rest := b[taken:]
		if s.passes() {
			p := s.passing
			if s.off == p.from {
				p.first = s.packet
			}
			n := int(min(int64(len(rest)), p.to-s.off))
			s.off += int64(n)
			taken += n
			if s.off == p.to {
				s.passed(s.off)
			}
			continue
		}
		if s.part == nil {
			s.start = s.off
			if s.verify {
				s.state = Searching
				return taken
			}
			if n := s.direct(rest, inChunk); n > 0 {
				taken += n
				continue
			}
		}
		n, ok := s.gather(rest)
		if !ok {
			s.state = Searching
			return taken
		}
		taken += n
	}
	return taken
}

// direct gives a frame that lies whole in b, without copying it. It returns its length, or 0.
func (s *Splitter) direct(b []byte, inChunk bool) int {
	if len(b) < 4 {
		return 0
	}
	size := int32(binary.BigEndian.Uint32(b))
	if size > s.limits.MaxFrame || int64(size) > int64(len(b)-4) || !s.trusted && !s.owner.Size(size) || size < 0 {
		return 0
	}
	s.trusted = false
	total := 4 + int(size)
	s.off += int64(total)
	f := s.pool.takeFrame()
	f.one[0] = Mark{0, s.packet, s.time}
	f.Marks, f.InChunk = f.one[:], inChunk
	if f.Missing.Why != Nothing {
		f.Missing = Missing{}
	}
	s.emit(f, size, b[:total:total], nil)
	return total
}

// passed ends the run of bytes that were passed over, at stream offset end.
func (s *Splitter) passed(end int64) {
	p := s.passing
	if end > p.from {
		s.owner.Skip(Skip{Off: p.from, Len: end - p.from, Why: BehindGap, First: p.first, Last: s.packet, Time: s.time})
	}
	p.from = end
}

// Gap takes a run of missing bytes.
func (s *Splitter) Gap(g Gap) {
	known := g.Len >= 0
	end := g.Off + max(g.Len, 0)
	if s.state != Synced {
		s.gapInSearch(g, known, end)
		return
	}
	s.gapInStep(g, known, end)
}

func (s *Splitter) gapInStep(g Gap, known bool, end int64) {
	switch {
	case s.passes():
		s.passed(s.off)
	case s.part == nil:
		s.passTo(s.off)
	case s.part.have < 4:
		s.dropPrefix()
		s.passTo(s.off)
	default:
		p := s.part
		s.passTo(s.start + p.total)
		s.finish(Missing{
			Why: InGap, Reason: g.Reason, Off: p.have, Len: min(max(g.Len, 0), p.total-p.have), Packet: g.Packet, Time: g.Time,
		}.open(known, p.total-p.have))
	}
	s.packet, s.time = g.Packet, g.Time
	s.off = end
	if known && end <= s.passing.to {
		s.passing.from, s.verify = end, true
		return
	}
	s.lose()
}

// open makes the range go on to the frame's end where the length of the gap is not known.
func (m Missing) open(known bool, rest int64) Missing {
	if !known {
		m.Len = rest
	}
	return m
}

// lose starts a search at the next byte.
func (s *Splitter) lose() {
	s.state, s.verify, s.trusted = Searching, false, false
	if s.passing != nil {
		s.passing.to = 0
	}
	s.drop()
	s.closeWindow()
}

// Finish says that the stream ends here, or that nothing more of it will be looked at.
func (s *Splitter) Finish(packet, time int64) {
	if s.state != Synced {
		s.endSearch(true)
	}
	switch {
	case s.state != Synced:
	case s.passes():
		s.passed(s.off)
	case s.part == nil:
	case s.part.have >= 4:
		s.finish(Missing{Why: AtEnd, Off: s.part.have, Len: s.part.total - s.part.have, Packet: packet, Time: time})
	default:
		s.dropPrefix()
	}
	s.lose()
}

// Release gives back what s holds, saying nothing.
func (s *Splitter) Release() {
	s.drop()
	s.closeWindow()
}
