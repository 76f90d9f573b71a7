package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/reassembly"
)

// segments is where a pipeline gets its segments from: capture files, or live interfaces.
type segments interface {
	// NextSegment sets its argument to the next segment. Errors: io.EOF at the end,
	// capture.ErrTick where a moment has passed on a live interface.
	NextSegment(*reassembly.Segment) error
	// Stats accounts for the packets read so far.
	Stats() capture.Stats
}

// tap puts a handler in front of another.
type tap func(reassembly.Handler) reassembly.Handler

// pipeline reads captures: packets to segments, segments to chunks, chunks to exchanges.
type pipeline struct {
	env     *env
	source  *sourceFlags
	files   []string
	handler dissect.Handler
	// whole is handler where several workers can share its work; else nil.
	whole divisible
	// growth is how many times as large as its segments the output is, about.
	growth int
	// tap puts a handler in front of the dissector's; nil puts none.
	tap tap
	// stopped reports whether there is nothing more to read for.
	stopped func() bool
	// tick is called as time passes on live interfaces; nil: never.
	tick func(*reassembly.Assembler)
	// now is the time of the capture; nil: that of the last segment.
	now func() int64
	// adjust changes what the flags ask of the dissector; nil: nothing.
	adjust func(*dissect.Options)
	// tellTLS has a line written about each connection that could not be decrypted.
	tellTLS bool

	first    int64 // time of the first packet; holds once there was one
	warnings int64 // about the capture files
	// What all lanes share: what may be held of frames, and what is known of topics and brokers.
	buffers *frame.Budget
	facts   *dissect.Facts
	pages   largePages
}

// run reads the files to the end, or until it is interrupted or stopped. What is complete by then
// has been given to the handler, also where run returns an error.
func (p *pipeline) run() error {
	p.source.limits.apply()
	collectLater(p.growth > 1)
	if p.source.twoPass {
		if err := p.learn(); err != nil {
			return err
		}
	}
	return p.read()
}

// read reads the files.
func (p *pipeline) read() error {
	ctx, stop := context.WithCancel(p.env.ctx)
	defer stop()
	decrypt, err := newDecryption(p.env, &p.source.keyLog, grows(p.files))
	if err != nil {
		return err
	}
	if _, err := p.source.schema.catalogue(p.env); err != nil { // what the options have
		return err
	}
	par := p.divide(decrypt)
	secrets := decrypt.secrets
	if par != nil {
		secrets = func(s capture.Secrets) {
			par.feed.settle()
			decrypt.secrets(s)
		}
	}
	r, err := capture.Open(ctx, p.files, capture.Options{
		Stdin:   p.env.stdin,
		Secrets: secrets,
		Fresh:   p.pages.want,
		Warn: func(w capture.Warning) {
			p.warnings++
			p.env.warn("%s", w)
		},
	})
	if err != nil {
		return err
	}
	defer r.Close()
	if slices.Contains(p.files, "-") {
		p.env.stdout.follow()
	}
	bar := newProgress(p.env)
	progress := func() { bar.update(r.Progress()) }
	if par != nil {
		err = par.run(r, stop, progress)
	} else {
		err = p.dissect(r, decrypt, progress)
	}
	bar.done()
	p.unread(r.Stats())
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted after %s; what was complete is shown", plural(r.Stats().Packets, "packet"))
	}
	return err
}

// share makes what the lanes share.
func (p *pipeline) share() {
	p.buffers = p.source.limits.buffers()
	if p.facts == nil {
		p.facts = &dissect.Facts{}
	}
}

// workers returns how many there are.
func (p *pipeline) workers() int {
	if p.whole == nil {
		return 1
	}
	return max(1, p.source.workers)
}

// end tells what the limits and faults of ours have cost.
func (p *pipeline) end(lanes ...*lane) {
	var all limitCount
	var faults faultCount
	for _, l := range lanes {
		all.add(&l.limits)
		faults.add(&l.faults)
		all.facts = all.facts || l.dissector.Facts().Full()
	}
	p.warnings += tellEnd(p.env, &all, &faults)
}

// tellEnd tells what limits and faults of ours have cost, and returns how many lines that took.
func tellEnd(e *env, limits *limitCount, faults *faultCount) (lines int64) {
	if text := faults.String(); text != "" {
		lines++
		e.warn("%s", text)
	}
	if text := limits.String(); text != "" {
		lines++
		e.warn("at its limits: %s", text)
	}
	return lines
}

// divide returns what runs the pipeline with several workers, or nil where it is to have one.
func (p *pipeline) divide(decrypt *decryption) *parallel {
	if p.workers() == 1 {
		return nil
	}
	return &parallel{pipeline: p, whole: p.whole, decrypt: decrypt, feed: newFeed(p.workers(), max(p.growth, 1))}
}

// dissect moves the segments through the stages, and calls progress now and then.
func (p *pipeline) dissect(from segments, decrypt *decryption, progress func()) error {
	if _, err := p.source.schema.catalogue(p.env); err != nil { // what the options have
		return err
	}
	var report func(*reassembly.Conn)
	if p.tellTLS {
		report = decrypt.report
	}
	p.share()
	l := p.newLane(p.handler, decrypt, p.tap, report, false)
	err := p.assemble(from, l, progress)
	if !p.stopped() {
		l.end(math.MaxInt64)
	}
	decrypt.end()
	p.end(l)
	return err
}

// assemble moves the segments to the lane.
func (p *pipeline) assemble(from segments, l *lane, progress func()) error {
	var seg reassembly.Segment
	var epochs epochs
	for n := 0; !p.stopped(); {
		switch err := from.NextSegment(&seg); {
		case err == capture.ErrTick:
			p.tick(l.assembler)
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if n == 0 {
			p.first = seg.Time
		}
		begins := epochs.next(&seg)
		switch {
		case p.now != nil:
			l.assembler.Advance(p.now())
		case begins:
			l.begin(mark{seg.Packet, seg.Time})
		}
		l.segment(&seg)
		if n%1024 == 0 {
			progress()
		}
		n++
	}
	return nil
}

// unread tells of packets that should have given a segment and did not.
func (p *pipeline) unread(s capture.Stats) {
	for _, l := range s.Links {
		if l.Packets > 0 {
			p.warnings++
			p.env.warn("passed over %s of link type %d, which is not supported", plural(l.Packets, "packet"), l.Link)
		}
	}
	for _, v := range []capture.Verdict{capture.CutShort, capture.Malformed, capture.TooDeep,
		capture.UnknownInterface, capture.DamagedRecord} {
		if n := s.Verdicts[v]; n > 0 {
			p.warnings++
			p.env.warn("passed over %s: %s", plural(n, "packet"), v)
		}
	}
	if s.Incomplete > 0 {
		p.warnings++
		p.env.warn("passed over %s of which fragments are missing", plural(s.Incomplete, "IP datagram"))
	}
	if s.Crowded > 0 {
		p.warnings++
		p.env.warn("gave up %s in fragments: more were under way than are held", plural(s.Crowded, "IP datagram"))
	}
}
