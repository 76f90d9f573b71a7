package capture

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// stdinName is the name that stands for standard input.
const stdinName = "-"

// input is one opened file as bytes: it counts what is read and stops with its context.
type input struct {
	ctx    context.Context
	src    io.Reader
	closer io.Closer
	size   int64         // -1 where unknown
	read   *atomic.Int64 // bytes read, for progress
	pump   *pump         // where reads can block for long
}

// openInput opens name; regular tells whether it can be opened again.
func openInput(ctx context.Context, name string, stdin io.Reader, read *atomic.Int64) (in *input, regular bool, err error) {
	if name == stdinName {
		f, ok := stdin.(*os.File)
		size, redirected := int64(-1), false
		if ok {
			size, redirected = fileSize(f)
		}
		in = &input{ctx: ctx, src: stdin, size: size, read: read}
		if !redirected {
			in.pump = newPump(stdin)
		}
		return in, false, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	size, regular := fileSize(f)
	in = &input{ctx: ctx, src: f, closer: f, size: size, read: read}
	if !regular {
		in.pump = newPump(f)
	}
	return in, regular, nil
}

// fileSize returns the size of a regular file, else -1.
func fileSize(f *os.File) (int64, bool) {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return -1, false
	}
	return st.Size(), true
}

// Read reads once, so that what a pipe has is handed on as it arrives.
func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	var n int
	var err error
	if in.pump != nil {
		n, err = in.pump.read(in.ctx, p)
	} else {
		n, err = in.src.Read(p)
	}
	in.read.Add(int64(n))
	if err != nil && err != io.EOF && in.ctx.Err() == nil {
		err = &readError{err}
	}
	return n, err
}

// Close closes what was opened by name.
func (in *input) Close() error {
	if in.pump != nil {
		in.pump.stop()
	}
	if in.closer != nil {
		return in.closer.Close()
	}
	return nil
}

// readError tells failures of the medium from faults in the bytes, which decompressors report
// through the same channel.
type readError struct{ err error }

func (e *readError) Error() string { return fmt.Sprintf("read: %v", e.err) }
func (e *readError) Unwrap() error { return e.err }

// pump reads in a goroutine of its own, so that a reader that waits for a pipe can be
// interrupted. The buffer of an interrupted read is lost to the pump.
type pump struct {
	want chan []byte
	got  chan pumped
}

type pumped struct {
	n   int
	err error
}

func newPump(src io.Reader) *pump {
	p := &pump{want: make(chan []byte), got: make(chan pumped, 1)}
	go func() {
		for buf := range p.want {
			n, err := src.Read(buf)
			p.got <- pumped{n, err}
		}
	}()
	return p
}

func (p *pump) read(ctx context.Context, buf []byte) (int, error) {
	select {
	case p.want <- buf:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case g := <-p.got:
		return g.n, g.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *pump) stop() { close(p.want) }
