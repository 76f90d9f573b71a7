package frame

import "encoding/binary"

// Splitter cuts one direction of a connection into frames. Use Init before anything else.
type Splitter struct {
	judge  Judge
	sink   Sink
	pool   *Pool
	limits Limits

	state  State
	off    int64 // stream offset of the next byte
	packet int64 // the last one seen
	time   int64

	// In step: the frame being gathered.
	start int64 // its stream offset
	have  int64 // its bytes seen so far
	// prefix gathers its size prefix.
	prefix [4]byte
	total  int64 // 4+size, once four bytes are there
	keep   int64 // its bytes to be given; fewer than total for an oversize frame
	acc    *Buffer
	marks  []Mark // of the pool, while bytes of the frame are there
	// trusted is set where the next size was judged already.
	trusted bool
	// passTo is where bytes behind a gap in their frame end; they are passed over.
	passTo    int64
	passFrom  int64
	passFirst int64
	// verify is set where the next header shows whether the splitter is still in step.
	verify bool

	search *window // of the pool, while bytes are searched
}

// Start says what is known of a stream's first byte.
type Start uint8

// Starts.
const (
	InStep Start = iota // it begins a frame
	Verify              // it does if the judge does not object, else a frame is searched
	Search              // a frame is searched
)

// Init prepares s for a stream from offset off on.
func (s *Splitter) Init(j Judge, sink Sink, pool *Pool, l Limits, off int64, start Start) {
	*s = Splitter{judge: j, sink: sink, pool: pool, limits: l.WithDefaults(), off: off}
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
		n := s.inStep(b)
		if n == len(b) {
			return
		}
		b = b[n:]
		w := s.open(s.start, true)
		w.take(s.prefix[:s.have], s.marks, s.pool)
		s.have = 0
		s.unmark()
	}
	s.searchIn(b)
}

// inStep takes b while the stream is in step. It returns how much of b it took: less than all
// of it where a frame that begins at s.start cannot be one, or must be verified.
func (s *Splitter) inStep(b []byte) int {
	taken := 0
	for taken < len(b) {
		rest := b[taken:]
		if s.off < s.passTo {
			if s.off == s.passFrom {
				s.passFirst = s.packet
			}
			n := int(min(int64(len(rest)), s.passTo-s.off))
			s.off += int64(n)
			taken += n
			if s.off == s.passTo {
				s.passed(s.off)
			}
			continue
		}
		if s.have == 0 {
			s.start = s.off
			if s.verify {
				s.state = Searching
				return taken
			}
			if n := s.direct(rest); n > 0 {
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
func (s *Splitter) direct(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	size := int32(binary.BigEndian.Uint32(b))
	if size > s.limits.MaxFrame || int64(size) > int64(len(b)-4) || !s.trusted && !s.judge.Size(size) || size < 0 {
		return 0
	}
	s.trusted = false
	total := 4 + int(size)
	s.begin()
	s.off += int64(total)
	s.emit(size, b[:total:total], nil, nil)
	return total
}

// gather adds bytes of b to the frame that is under way. It returns how many it took, and false
// where the frame's size cannot be.
func (s *Splitter) gather(b []byte) (int, bool) {
	if s.have < 4 {
		n := copy(s.prefix[s.have:], b)
		if s.have+int64(n) == 4 && !s.sized() {
			return 0, false
		}
		if s.have == 0 {
			s.begin()
		} else {
			s.mark()
		}
		s.have += int64(n)
		s.off += int64(n)
		if s.have == 4 {
			s.hold(0, s.prefix[:])
			s.complete()
		}
		return n, true
	}
	n := int(min(s.total-s.have, int64(len(b))))
	if s.have < s.keep {
		s.mark()
	}
	s.hold(s.have, b[:n])
	s.have += int64(n)
	s.off += int64(n)
	s.complete()
	return n, true
}

// sized reads the gathered size prefix, and returns false where it cannot be one.
func (s *Splitter) sized() bool {
	size := int32(binary.BigEndian.Uint32(s.prefix[:]))
	over := size > s.limits.MaxFrame
	if size < 0 || !s.trusted && (over || !s.judge.Size(size)) {
		// An oversize frame is only believed where its header is plausible.
		s.verify = over
		return false
	}
	s.total = 4 + int64(size)
	s.keep = s.total
	if over {
		s.keep = int64(s.limits.KeepOver)
	}
	return true
}

// begin notes that a frame begins with the present packet.
func (s *Splitter) begin() { s.marks = append(s.pool.takeMarks(), Mark{0, s.packet, s.time}) }

// unmark gives back the marks of a frame that is done with.
func (s *Splitter) unmark() {
	s.pool.putMarks(s.marks)
	s.marks = nil
}

// mark notes that the frame under way goes on with the present packet.
func (s *Splitter) mark() {
	if s.marks[len(s.marks)-1].Packet != s.packet {
		s.marks = append(s.marks, Mark{int32(s.have), s.packet, s.time})
	}
}

// hold keeps the part of b, which lies at off in the frame under way, that is to be given.
func (s *Splitter) hold(off int64, b []byte) {
	n := min(int64(len(b)), s.keep-off)
	if n <= 0 {
		return
	}
	var ok bool
	if s.acc, ok = s.pool.AppendTo(s.acc, b[:n], s.keep); !ok {
		s.keep = off
	}
}

// complete gives the frame under way if all its bytes were seen.
func (s *Splitter) complete() {
	if s.have == s.total {
		s.finish(Missing{})
	}
}

// finish gives the frame under way, whose bytes end here.
func (s *Splitter) finish(m Missing) {
	if s.keep < s.have {
		m = Missing{Why: OverLimit, Off: s.keep, Len: s.total - s.keep, Packet: s.packet, Time: s.time}
	}
	buf := s.acc
	var b []byte
	size := int32(s.total - 4)
	if buf != nil {
		b = buf.B
	}
	s.acc, s.trusted = nil, false
	s.have, s.total = 0, 0
	s.emit(size, b, buf, &m)
}

// emit gives a frame; a nil m is of a whole one.
func (s *Splitter) emit(size int32, b []byte, buf *Buffer, m *Missing) {
	f := s.pool.takeFrame()
	f.Off, f.Size, f.Bytes, f.Buf = s.start, size, b, buf
	f.Marks, f.Last, f.LastTime = s.marks, s.packet, s.time
	if m != nil {
		f.Missing = *m
	} else if f.Missing.Why != Nothing {
		f.Missing = Missing{}
	}
	s.sink.Frame(f)
	s.pool.Put(f.Buf)
	s.pool.putFrame(f)
	s.unmark()
}

// passed ends the run of bytes that were passed over, at stream offset end.
func (s *Splitter) passed(end int64) {
	if end > s.passFrom {
		s.sink.Skip(Skip{Off: s.passFrom, Len: end - s.passFrom, Why: BehindGap, First: s.passFirst, Last: s.packet, Time: s.time})
	}
	s.passFrom = end
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
	case s.off < s.passTo:
		s.passed(s.off)
	case s.have == 0:
		s.passTo = s.off
	case s.have < 4:
		s.dropPrefix()
		s.passTo = s.off
	default:
		s.passTo = s.start + s.total
		s.finish(Missing{
			Why: InGap, Reason: g.Reason, Off: s.have, Len: min(max(g.Len, 0), s.total-s.have), Packet: g.Packet, Time: g.Time,
		}.open(known, s.total-s.have))
	}
	s.packet, s.time = g.Packet, g.Time
	s.off = end
	if known && end <= s.passTo {
		s.passFrom, s.verify = end, true
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

// dropPrefix gives up a size prefix that is not whole.
func (s *Splitter) dropPrefix() {
	first := s.packet
	if len(s.marks) > 0 {
		first = s.marks[0].Packet
	}
	s.sink.Skip(Skip{Off: s.start, Len: s.have, Why: NoPrefix, First: first, Last: s.packet, Time: s.time})
	s.have = 0
	s.unmark()
}

// lose starts a search at the next byte.
func (s *Splitter) lose() {
	s.state, s.verify, s.trusted = Searching, false, false
	s.passTo, s.have, s.total = 0, 0, 0
	s.closeWindow()
}

// Finish says that the stream ends here, or that nothing more of it will be looked at.
func (s *Splitter) Finish(packet, time int64) {
	if s.state != Synced {
		s.endSearch(true)
	}
	switch {
	case s.state != Synced:
	case s.off < s.passTo:
		s.passed(s.off)
	case s.have >= 4:
		s.finish(Missing{Why: AtEnd, Off: s.have, Len: s.total - s.have, Packet: packet, Time: time})
	case s.have > 0:
		s.dropPrefix()
	}
	s.passTo = 0
	s.lose()
}

// Release gives back what s holds, saying nothing.
func (s *Splitter) Release() {
	s.pool.Put(s.acc)
	s.acc, s.have = nil, 0
	s.unmark()
	s.closeWindow()
}
