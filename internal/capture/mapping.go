package capture

import (
	"errors"
	"io"
	"os"
	"runtime/debug"
)

// mappedSize is how much of a file is mapped at a time: unmapping interrupts all processors, so that
// it should be seldom.
const mappedSize = 2 << 20

// mapping shows the bytes of a regular file in place, so that they need not be copied. Each part
// is a Block, which goes away with its last user.
type mapping struct {
	in      *input
	f       *os.File
	counted int64 // bytes that in.read has of this file
}

// newMapping returns the mapping of a file that has bytes, is not compressed and can be mapped, or
// nil where the file is to be read.
func newMapping(in *input) *mapping {
	f, ok := in.closer.(*os.File) // opened by name, so that it stands at its beginning
	if !canMap || !ok || in.size <= 0 {
		return nil
	}
	head := make([]byte, headOfCompressed)
	n, _ := f.ReadAt(head, 0)
	if compression(head[:n]) != "" {
		return nil
	}
	// Not every file system lets its files be mapped.
	first, err := mapFile(f, 0, 1)
	if err != nil {
		return nil
	}
	unmap(first)
	return &mapping{in: in, f: f}
}

// part returns a Block with the bytes from off on, at least n of them where the file has so many
// and size of them where it can, and where in the Block off is. The error is io.EOF where there
// are fewer than n.
func (m *mapping) part(off int64, n, size int, home *blockPool) (b *Block, at int, err error) {
	if err := m.in.ctx.Err(); err != nil {
		return nil, 0, err
	}
	st, err := m.f.Stat() // it may have grown, or shrunk
	if err != nil {
		return nil, 0, &readError{err}
	}
	from := off &^ int64(os.Getpagesize()-1)
	at = int(off - from)
	length := int(min(int64(max(size, at+n)), st.Size()-from))
	if length < at+n {
		err = io.EOF
	}
	if length <= at {
		return nil, 0, io.EOF
	}
	data, mapErr := mapFile(m.f, from, length)
	if mapErr != nil {
		return nil, 0, &readError{mapErr}
	}
	m.in.read.Add(from + int64(length) - m.counted)
	m.counted = from + int64(length)
	b = &Block{data: data, home: home, mapped: true}
	b.refs.Store(1)
	return b, at, err
}

// ErrShrunk is what reading ends with where a mapped file has lost its end, or its medium fails.
var ErrShrunk = errors.New("made shorter while it was read, or not readable any more")

// Guarded runs f, which looks at packets, and returns ErrShrunk where these have gone because their
// file was cut while it was read. What f was doing then is left as it is.
func Guarded(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, gone := r.(interface{ Addr() uintptr }); !gone {
				panic(r)
			}
			err = ErrShrunk
		}
	}()
	f()
	return nil
}
