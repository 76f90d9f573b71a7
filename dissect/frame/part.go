package frame

import "encoding/binary"

// part is what is there of a frame that came in several chunks.
type part struct {
	prefix [4]byte // its size prefix
	have   int64   // its bytes seen so far
	total  int64   // 4+size, once four bytes are there
	keep   int64   // its bytes to be given; fewer than total for an oversize frame
	acc    *Buffer
	marks  []Mark
}

// gather adds bytes of b to the present frame. It returns how many it took, and false where the
// frame's size cannot be.
func (s *Splitter) gather(b []byte) (int, bool) {
	p := s.part
	if p == nil {
		p = s.pool.takePart()
		s.part = p
	}
	if p.have < 4 {
		n := copy(p.prefix[p.have:], b)
		if p.have+int64(n) == 4 && !s.sized() {
			return 0, false
		}
		s.mark()
		p.have += int64(n)
		s.off += int64(n)
		if p.have == 4 {
			s.hold(0, p.prefix[:])
			s.complete()
		}
		return n, true
	}
	n := int(min(p.total-p.have, int64(len(b))))
	if p.have < p.keep {
		s.mark()
	}
	s.hold(p.have, b[:n])
	p.have += int64(n)
	s.off += int64(n)
	s.complete()
	return n, true
}

// sized reads the gathered size prefix, and returns false where it cannot be one.
func (s *Splitter) sized() bool {
	p := s.part
	size := int32(binary.BigEndian.Uint32(p.prefix[:]))
	over := size > s.limits.MaxFrame
	if size < 0 || !s.trusted && (over || !s.owner.Size(size)) {
		// An oversize frame is only believed where its header is plausible.
		s.verify = over
		return false
	}
	p.total = 4 + int64(size)
	p.keep = p.total
	if over {
		p.keep = int64(s.limits.KeepOver)
	}
	return true
}

// mark notes that the present frame goes on with the present packet.
func (s *Splitter) mark() {
	p := s.part
	if n := len(p.marks); n == 0 || p.marks[n-1].Packet != s.packet {
		p.marks = append(p.marks, Mark{int32(p.have), s.packet, s.time})
	}
}

// hold keeps the part of b, which lies at off in the present frame, that is to be given.
func (s *Splitter) hold(off int64, b []byte) {
	p := s.part
	n := min(int64(len(b)), p.keep-off)
	if n <= 0 {
		return
	}
	var ok bool
	if p.acc, ok = s.pool.AppendTo(p.acc, b[:n], p.keep); !ok {
		p.keep = off
	}
}

// complete gives the present frame if all its bytes were seen.
func (s *Splitter) complete() {
	if s.part.have == s.part.total {
		s.finish(Missing{})
	}
}

// finish gives the present frame, whose bytes end here.
func (s *Splitter) finish(m Missing) {
	p := s.part
	s.part, s.trusted = nil, false
	if p.keep < p.have {
		m = Missing{Why: OverLimit, Off: p.keep, Len: p.total - p.keep, Packet: s.packet, Time: s.time}
	}
	var b []byte
	if p.acc != nil {
		b = p.acc.B
	}
	f := s.pool.takeFrame()
	f.Marks, f.Missing = p.marks, m
	acc := p.acc
	p.acc = nil
	s.emit(f, int32(p.total-4), b, acc)
	s.pool.putPart(p)
}

// emit gives a frame whose marks, and what is missing of it, are set.
func (s *Splitter) emit(f *Frame, size int32, b []byte, buf *Buffer) {
	f.Off, f.Size, f.Bytes, f.Buf = s.start, size, b, buf
	f.Last, f.LastTime = s.packet, s.time
	s.owner.Frame(f)
	s.pool.Put(f.Buf)
	s.pool.putFrame(f)
}

// dropPrefix gives up a size prefix that is not whole.
func (s *Splitter) dropPrefix() {
	p := s.part
	s.owner.Skip(Skip{Off: s.start, Len: p.have, Why: NoPrefix, First: p.marks[0].Packet, Last: s.packet, Time: s.time})
	s.drop()
}

// drop forgets what is there of the present frame.
func (s *Splitter) drop() {
	if p := s.part; p != nil {
		s.part = nil
		s.pool.putPart(p)
	}
}
