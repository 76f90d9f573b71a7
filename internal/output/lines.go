package output

import "io"

// Sizes of the buffer in front of a writer. What one long line made it grow to is given back.
const (
	flushAt = 64 << 10
	keepCap = 1 << 20
)

// lines gathers whole lines in front of an io.Writer. The first error sticks.
type lines struct {
	w    io.Writer
	buf  []byte
	live bool
	err  error
}

// done takes the buffer back with a line more in it, and sends it on if it is full.
func (l *lines) done(buf []byte) error {
	l.buf = buf
	if l.live || len(l.buf) >= flushAt {
		return l.Flush()
	}
	return l.err
}

// Flush sends on what was gathered and returns the first error of the writer.
func (l *lines) Flush() error {
	if len(l.buf) > 0 && l.err == nil {
		_, l.err = l.w.Write(l.buf)
	}
	l.buf = l.buf[:0]
	if cap(l.buf) > keepCap {
		l.buf = nil
	}
	return l.err
}

// Full implements Long: there is always room in a file.
func (l *lines) Full() bool { return false }

// Limit implements Long.
func (l *lines) Limit() string { return "" }

// Spill implements Long.
func (l *lines) Spill(b []byte, n int) ([]byte, bool) {
	if l.err == nil {
		_, l.err = l.w.Write(b[:n])
	}
	return b[:copy(b, b[n:])], true
}
