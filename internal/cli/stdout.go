package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

// followDelay is how long a line of output waits at most where input arrives over time.
const followDelay = 100 * time.Millisecond

// stdout is the process's stdout behind a buffer. The first error of a write sticks, so that a verb may write
// many times and ask once.
type stdout struct {
	terminal bool

	mu  sync.Mutex // held by writers and by the flusher of follow
	w   *bufio.Writer
	err error
	end chan struct{} // stops the flusher; nil: none runs
}

// newStdout returns a stdout on w.
func newStdout(w io.Writer) *stdout {
	return &stdout{w: bufio.NewWriterSize(w, 32<<10), terminal: isTerminal(w)}
}

// Write implements io.Writer.
func (o *stdout) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// failed returns the first error of a write.
func (o *stdout) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// flush writes out what is buffered and returns the first error of a write.
func (o *stdout) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = o.w.Flush()
	}
	return o.err
}

// follow has what is written appear within followDelay, although the input may wait for packets,
// until close.
func (o *stdout) follow() {
	end := make(chan struct{})
	o.end = end
	go func() {
		tick := time.NewTicker(followDelay)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = o.flush() // the error sticks
			case <-end:
				return
			}
		}
	}()
}

// close ends what follow began and writes out what is buffered.
func (o *stdout) close() error {
	if o.end != nil {
		close(o.end)
		o.end = nil
	}
	return o.flush()
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isBrokenPipe reports whether err says that the reader of our output is gone, which is no
// failure of ours.
func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// useColor decides on colour by the flag --color, by NO_COLOR (no-color.org: set and not empty)
// and by what stdout is.
func useColor(flag string, o *stdout) bool {
	switch flag {
	case "always":
		return true
	case "never":
		return false
	}
	return o.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
