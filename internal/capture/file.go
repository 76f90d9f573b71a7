package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrFormat is wrapped by errors about files that are not captures we can read.
var ErrFormat = errors.New("not a pcap or pcapng file")

// format reads the records of one file format.
type format interface {
	// next sets the members of p that the file knows. Its errors: io.EOF, errStop after a
	// warning, or what the window gave.
	next(p *Packet) error
}

// errStop ends a file early. What was wrong has been reported.
var errStop = errors.New("file cannot be followed further")

// file is one opened capture.
type file struct {
	reporter
	index   int
	w       *window
	format  format
	limits  Limits
	secrets func(Secrets)
	frame   func(record []byte)
	packets int64 // given so far
	last    int64 // time of the last packet that had one
	close   func()
}

// start finds out the format from the first bytes.
func (f *file) start() error {
	b, err := f.w.need(4)
	if len(b) < 4 {
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		if len(b) == 0 {
			return fmt.Errorf("%w: it is empty", ErrFormat)
		}
		return fmt.Errorf("%w: it has only %d bytes", ErrFormat, len(b))
	}
	if binary.LittleEndian.Uint32(b) == blockSection {
		f.format = &pcapng{file: f}
		return nil
	}
	if p, ok := newPcap(f, b); ok {
		f.format = p
		return nil
	}
	return fmt.Errorf("%w: it starts with % x", ErrFormat, b[:4])
}

// next gives the next packet, or io.EOF at the end of what can be read.
func (f *file) next(p *Packet) error {
	p.Fault = 0
	err := f.format.next(p)
	if err == nil {
		f.packets++
		p.File = f.index
		p.Block = f.w.block
		return nil
	}
	switch {
	case err == io.EOF || err == errStop:
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case damaged(err):
		// The decompressor's own fault words, such as a checksum that does not fit.
		f.report(WarnDamaged, f.w.off, f.packets+1, "damaged after byte %d: %v", f.w.off+int64(f.w.end-f.w.start), err)
	default:
		return fmt.Errorf("%s: byte %d, packet %d: %w", f.name, f.w.off, f.packets+1, err)
	}
	f.finish(f.w.off)
	return io.EOF
}

// ended turns the window's reason for giving too few bytes into next's: a clean end, a file cut
// short within what, or the fault as it is.
func (f *file) ended(have []byte, err error, what string) error {
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if len(have) == 0 && err == io.EOF {
		return io.EOF
	}
	if len(have) == 0 {
		f.report(WarnTruncated, f.w.off, f.packets+1, "file truncated at byte %d, where its compressed data end early", f.w.off)
		return errStop
	}
	return f.truncated(f.w.off+int64(len(have)), what)
}

// truncated reports that the file ends at byte end, within the record at the window's start.
func (f *file) truncated(end int64, what string) error {
	f.report(WarnTruncated, end, f.packets+1, "file truncated at byte %d, inside the %s that begins at byte %d", end, what, f.w.off)
	return errStop
}

// damagedRecord reports a record that cannot be believed and ends the file.
func (f *file) damagedRecord(text string, args ...any) error {
	f.report(WarnDamaged, f.w.off, f.packets+1, "damaged at byte %d: %s; the rest of the file is not read", f.w.off, fmt.Sprintf(text, args...))
	return errStop
}
