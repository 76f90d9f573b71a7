package scrub

import (
	"bufio"
	"os"
	"sort"
)

// spool keeps the bytes of streams in a file that is removed with it.
type spool struct {
	file *os.File
	w    *bufio.Writer
	size int64
}

// extent is a run of a stream's bytes in the spool.
type extent struct {
	off, at int64 // in the stream, in the spool
	n       int32
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, ".kdissect-scrub-*")
	if err != nil {
		return nil, err
	}
	return &spool{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// add puts b, which lies at off in its stream, in the spool.
func (s *spool) add(off int64, b []byte) (extent, error) {
	e := extent{off: off, at: s.size, n: int32(len(b))}
	_, err := s.w.Write(b)
	s.size += int64(len(b))
	return e, err
}

// read fills b with the bytes from off on of the stream that extents, in order of off, are of.
// What none of them has is zero.
func (s *spool) read(extents []extent, off int64, b []byte) error {
	fill(b, 0)
	i := sort.Search(len(extents), func(i int) bool { return extents[i].off+int64(extents[i].n) > off })
	for ; i < len(extents) && extents[i].off < off+int64(len(b)); i++ {
		e := extents[i]
		from, to := max(e.off, off), min(e.off+int64(e.n), off+int64(len(b)))
		if _, err := s.file.ReadAt(b[from-off:to-off], e.at+from-e.off); err != nil {
			return err
		}
	}
	return nil
}

func (s *spool) close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}
