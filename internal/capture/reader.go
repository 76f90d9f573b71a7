package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/kdissect/kdissect/reassembly"
)

// Options say how capture files are read. The zero value is fit for use.
type Options struct {
	Limits Limits
	Stdin  io.Reader // what the name "-" stands for; nil is the process's own

	// Warn is called with each Warning as it arises, on the goroutine that reads; nil ignores.
	Warn func(Warning)
	// Secrets is called with each decryption-secrets block of a pcapng file, before the packets
	// behind it are given; nil passes such blocks over.
	Secrets func(Secrets)
	// Frame is called with what stands around packets in the file, as it stands there: the file
	// header of pcap, the section headers and interface descriptions of pcapng. It is alive
	// during the call; nil ignores.
	Frame func(record []byte)
	// Fresh is called with where memory for packets lies, before it is first used; nil ignores.
	Fresh func(address, size uintptr)
}

// Reader reads capture files as one capture. It is for one goroutine, but Progress may be called
// from others.
type Reader struct {
	ctx     context.Context
	opts    Options
	names   []string
	pool    *blockPool
	heads   heads
	gave    bool // the packet of heads[0] was given, its file has to move on
	number  int64
	read    atomic.Int64
	total   int64
	stopped atomic.Bool
	release func() bool
	err     error
	segs    *Segments
}

// Open opens the captures named, "-" being standard input, and reads their first bytes. Several
// are read as one in order of time; packets of equal time come in the order of names.
//
// Reading ends with the context's error once ctx is done, also while it waits for a pipe.
func Open(ctx context.Context, names []string, opts Options) (*Reader, error) {
	opts.Limits = opts.Limits.withDefaults()
	if opts.Stdin == nil {
		opts.Stdin = os.Stdin
	}
	if i := slices.Index(names, stdinName); i >= 0 && slices.Contains(names[i+1:], stdinName) {
		return nil, errors.New("standard input is named twice")
	}
	r := &Reader{ctx: ctx, opts: opts, names: names}
	// The memory of all blocks together stays that of a few large ones.
	size := min(opts.Limits.Block, max(opts.Limits.Block*16/max(len(names), 1), 64<<10))
	r.pool = &blockPool{size: size, keep: 32, fresh: opts.Fresh}
	for i, name := range names {
		if err := r.add(i, name); err != nil {
			_ = r.Close()
			return nil, err
		}
	}
	r.release = context.AfterFunc(ctx, func() { r.stopped.Store(true) })
	return r, nil
}

// Name returns the name of the file with that index.
func (r *Reader) Name(file int) string { return r.names[file] }

// Progress returns how many bytes of the files, as they are on disk, have been read, and how many
// there are: 0 where that is not known, as for a pipe.
func (r *Reader) Progress() (read, total int64) {
	return r.read.Load(), max(r.total, 0)
}

// Next implements Source. The error names the file, the offset and the packet.
func (r *Reader) Next(p *Packet) error {
	if r.err != nil {
		return r.err
	}
	if r.stopped.Load() {
		r.err = r.ctx.Err()
		return r.err
	}
	if err := r.next(p); err != nil {
		r.err = err
		return err
	}
	r.number++
	p.Number = r.number
	return nil
}

func (r *Reader) next(p *Packet) error {
	if len(r.names) == 1 {
		return r.heads[0].file.next(p)
	}
	if r.gave {
		r.gave = false
		if err := r.advance(); err != nil {
			return err
		}
	}
	if err := r.wake(); err != nil {
		return err
	}
	if len(r.heads) == 0 {
		return io.EOF
	}
	*p = r.heads[0].pkt
	r.gave = true
	return nil
}

// NextSegment sets seg to the next TCP segment, whose payload is alive until the next call. Stats
// tells what became of the packets in between.
func (r *Reader) NextSegment(seg *reassembly.Segment) error { return r.segments().Next(seg) }

// Packet returns the packet that the last segment came from.
func (r *Reader) Packet() *Packet { return r.segments().Packet() }

// Stats accounts for the packets that NextSegment has read.
func (r *Reader) Stats() Stats { return r.segments().Stats() }

func (r *Reader) segments() *Segments {
	if r.segs == nil {
		r.segs = NewSegments(r, r.opts.Limits)
	}
	return r.segs
}

// Close closes the files. Blocks that are held stay alive.
func (r *Reader) Close() error {
	if r.release != nil {
		r.release()
	}
	for _, h := range r.heads {
		h.shut()
	}
	r.heads = nil
	if r.err == nil {
		r.err = os.ErrClosed
	}
	return nil
}

// openFile opens one capture up to its first record. A probe counts no progress and warns of
// nothing.
func (r *Reader) openFile(index int, probe bool) (f *file, size int64, regular bool, err error) {
	name := r.names[index]
	read := &r.read
	if probe {
		read = new(atomic.Int64)
	}
	in, regular, err := openInput(r.ctx, name, r.opts.Stdin, read)
	if err != nil {
		return nil, 0, false, err // names the file itself
	}
	w, free, err := r.window(in)
	if err != nil {
		_ = in.Close()
		return nil, 0, false, fmt.Errorf("%s: %w", name, err)
	}
	f = &file{index: index, w: w, limits: r.opts.Limits}
	f.reporter = reporter{name: name, limit: r.opts.Limits.Warnings}
	if !probe || !regular { // what cannot be opened again is read for good
		f.warn, f.secrets, f.frame = r.opts.Warn, r.opts.Secrets, r.opts.Frame
	}
	f.close = func() {
		f.w.close()
		free()
		_ = in.Close()
	}
	if err := f.start(); err != nil {
		f.close()
		return nil, 0, false, fmt.Errorf("%s: %w", name, err)
	}
	return f, in.size, regular, nil
}

// window returns the window on an opened file, and a function that frees what it needs besides.
func (r *Reader) window(in *input) (w *window, free func(), err error) {
	plain, free, err := decompressed(in, r.opts.Limits.ZstdWindow)
	if err != nil {
		return nil, nil, err
	}
	return newWindow(plain, r.pool), free, nil
}
