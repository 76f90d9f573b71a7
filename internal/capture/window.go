package capture

import (
	"io"
	"math"
)

// window reads a file in large blocks, or maps it, and shows the unread bytes in place. Bytes move
// only where what is asked for straddles the end of a block that was read.
type window struct {
	src    io.Reader
	parts  *mapping // in place of src
	pool   *blockPool
	block  *Block
	seen   int   // behind what was looked at ahead
	start  int   // of the unread bytes in block.data
	end    int   // behind them
	off    int64 // in the file, of start
	looked byte  // keeps lookAhead's reading from being left out
	err    error // why no more can be read, sticky
}

func newWindow(src io.Reader, pool *blockPool) *window {
	return &window{src: src, pool: pool, block: pool.get(0)}
}

// newMapped returns a window on a mapped file.
func newMapped(m *mapping, pool *blockPool) *window {
	return &window{parts: m, pool: pool, block: &Block{home: pool}}
}

// need returns the unread bytes, at least n of them, alive until the next call. Where the source
// ends or fails before, it returns what there is and the reason.
func (w *window) need(n int) ([]byte, error) {
	if w.end-w.start >= n {
		return w.block.data[w.start:w.end], nil
	}
	return w.fill(n)
}

func (w *window) fill(n int) ([]byte, error) {
	if w.parts != nil {
		return w.move(n)
	}
	for empty := 0; w.end-w.start < n && w.err == nil; {
		w.room(n)
		got, err := w.src.Read(w.block.data[w.end:])
		w.end += got
		w.err = err
		if got == 0 && err == nil {
			if empty++; empty == 100 {
				w.err = io.ErrNoProgress
			}
		}
	}
	b := w.block.data[w.start:w.end]
	if len(b) >= n {
		return b, nil
	}
	return b, w.err
}

// move maps the part of the file that begins with the unread bytes.
func (w *window) move(n int) ([]byte, error) {
	if w.err == nil {
		block, at, err := w.parts.part(w.off, n, max(w.pool.size, mappedSize), w.pool)
		w.err = err
		if block != nil {
			w.block.Release()
			w.block, w.start, w.end, w.seen = block, at, len(block.data), at
		}
	}
	b := w.block.data[w.start:w.end]
	if len(b) >= n {
		return b, nil
	}
	return b, w.err
}

// room makes space behind the unread bytes, moving them to the front of a block where they stand
// too far behind. n is untrusted: a block larger than usual grows with the bytes that come.
func (w *window) room(n int) {
	have := w.end - w.start
	if w.start+n <= len(w.block.data) {
		return
	}
	size := len(w.block.data)
	if n > size {
		if w.end < size {
			return
		}
		size = min(n, max(2*have, w.pool.size))
	} else if size > w.pool.size && n <= w.pool.size {
		size = w.pool.size // back from a large one
	}
	if size == len(w.block.data) && !w.block.shared() {
		copy(w.block.data, w.block.data[w.start:w.end])
	} else {
		next := w.pool.get(size)
		copy(next.data, w.block.data[w.start:w.end])
		w.block.Release()
		w.block = next
	}
	w.start, w.end = 0, have
}

// advance passes over n bytes that need has shown.
func (w *window) advance(n int) {
	w.start += n
	w.off += int64(n)
	if w.start >= w.seen {
		w.lookAhead()
	}
}

// lookAhead looks at what comes next in a mapped file. In order, memory comes as fast as it can;
// record by record, each would be waited for, since only its header tells where the next one is.
func (w *window) lookAhead() {
	const stretch, line = 64 << 10, 64
	w.seen = math.MaxInt
	if w.parts == nil {
		return
	}
	w.seen = min(w.start+stretch, w.end)
	b := w.block.data[w.start:w.seen]
	var sum byte
	for ; len(b) >= 4*line; b = b[4*line:] {
		sum += b[0] + b[line] + b[2*line] + b[3*line]
	}
	w.looked += sum
}

// skip passes over n bytes, read or not.
func (w *window) skip(n int64) error {
	for {
		step := min(n, int64(w.end-w.start))
		w.advance(int(step))
		if n -= step; n == 0 {
			return nil
		}
		if _, err := w.need(1); err != nil {
			return err
		}
	}
}

// close gives the block back.
func (w *window) close() {
	w.block.Release()
	w.block = &Block{home: w.pool}
	w.start, w.end, w.err = 0, 0, io.EOF
}
