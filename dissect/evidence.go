package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/reassembly"
)

// suspect collects evidence that one direction is a client's.
type suspect struct {
	frame.Splitter
	c     *conn
	begun bool
	whole int // requests that decode whole
	chain int // requests that stand in a row
	key   int16
	same  bool // all have one key and version
	vers  int16
}

// orphans collects evidence that one direction is a broker's of whose client nothing was captured.
type orphans struct {
	frame.Splitter
	c     *conn
	begun bool
	found int
}

// begin prepares for the stream of the client's direction.
func (s *suspect) begin(c *conn, client reassembly.Dir, off int64) {
	s.begun, s.c = true, c
	start := frame.Search
	if c.atStart(client) {
		start = frame.Verify
	}
	s.Init(s, c.d.pool, &c.d.limits.Frame, off, start)
}

// found reports whether requests were found beyond doubt.
func (s *suspect) found() bool { return s.whole > 0 || s.chain > 1 }

// refuted reports whether the stream's first frame is there and is no request.
func (s *suspect) refuted(first []byte) bool {
	if s.found() || len(first) < 4+sizeOf(first) {
		return false
	}
	return s.c.d.wholeRequest(first[:4+sizeOf(first)]) == frame.No
}

// Size implements frame.Judge.
func (s *suspect) Size(n int32) bool { return n >= minRequest }

// Header implements frame.Judge.
func (s *suspect) Header(_, b []byte) frame.Verdict { return s.c.d.request(b) }

// Whole implements frame.Judge.
func (s *suspect) Whole(b []byte, aligned bool) frame.Verdict { return s.c.d.foundRequest(b, aligned) }

// Begins implements frame.Judge.
func (s *suspect) Begins(b []byte) bool { return s.c.d.beginsRequest(b) }

// Skip implements frame.Sink.
func (s *suspect) Skip(frame.Skip) {}

// Frame implements frame.Sink.
func (s *suspect) Frame(f *frame.Frame) {
	if len(f.Bytes) < clientOff || s.c.d.request(f.Bytes) == frame.No {
		return
	}
	key, version := int16At(f.Bytes, keyOff), int16At(f.Bytes, versionOff)
	if _, sure, _ := s.c.direction(); !sure && key == produceKey && s.c.d.producesNothing(f.Bytes) {
		return // no client asks that; a response that begins with a name is read so
	}
	if s.whole+s.chain == 0 {
		s.key, s.vers, s.same = key, version, true
	} else if key != s.key || version != s.vers {
		s.same = false
		if key != produceKey {
			s.key = key
		}
	}
	if f.Whole() && s.c.d.wholeRequest(f.Bytes) == frame.Strong {
		s.whole++
	} else {
		s.chain++
	}
}

// Size implements frame.Judge.
func (o *orphans) Size(n int32) bool { return n >= 4 }

// Header implements frame.Judge.
func (o *orphans) Header(prev, b []byte) frame.Verdict {
	if len(b) < 4 {
		return frame.More
	}
	if int32At(b, 0) < 4 {
		return frame.No
	}
	if len(b) < 8 {
		return frame.More
	}
	return orphanHeader(prev, b)
}

// Whole implements frame.Judge.
func (o *orphans) Whole(_ []byte, aligned bool) frame.Verdict { return foundOrphan(aligned) }

// Begins implements frame.Judge.
func (o *orphans) Begins([]byte) bool { return false }

// Skip implements frame.Sink.
func (o *orphans) Skip(frame.Skip) {}

// Frame implements frame.Sink.
func (o *orphans) Frame(*frame.Frame) { o.found++ }

// doubtful reports whether what looks like requests may be responses as well.
func (s *suspect) doubtful() bool {
	return s.key == produceKey && !(s.same && s.whole+s.chain >= 2)
}
