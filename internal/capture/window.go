package capture

import "io"

// window reads a file in large blocks and shows the unread bytes in place. Bytes move only where
// what is asked for straddles the end of a block.
type window struct {
	src   io.Reader
	pool  *blockPool
	block *Block
	start int   // of the unread bytes in block.data
	end   int   // behind them
	off   int64 // in the file, of start
	err   error // why no more can be read, sticky
}

func newWindow(src io.Reader, pool *blockPool) *window {
	return &window{src: src, pool: pool, block: pool.get(0)}
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
