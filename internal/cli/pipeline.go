package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kdissect/kdissect/dissect"
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

// pipeline reads captures: packets to segments, segments to chunks, chunks to exchanges.
type pipeline struct {
	env     *env
	source  *sourceFlags
	files   []string
	handler dissect.Handler
	// tap puts a handler in front of the dissector's; nil puts none.
	tap func(reassembly.Handler) reassembly.Handler
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
}

// run reads the files to the end, or until it is interrupted or stopped. What is complete by then
// has been given to the handler, also where run returns an error.
func (p *pipeline) run() error {
	decrypt, err := newDecryption(p.env, &p.source.keyLog, grows(p.files))
	if err != nil {
		return err
	}
	r, err := capture.Open(p.env.ctx, p.files, capture.Options{
		Stdin:   p.env.stdin,
		Secrets: decrypt.secrets,
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
	err = p.dissect(r, decrypt, func() { bar.update(r.Progress()) })
	bar.done()
	p.unread(r.Stats())
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted after %s; what was complete is shown", plural(r.Stats().Packets, "packet"))
	}
	return err
}

// dissect moves the segments through the stages, and calls progress now and then.
func (p *pipeline) dissect(from segments, decrypt *decryption, progress func()) error {
	if _, err := p.source.schema.catalogue(p.env); err != nil { // what the options have
		return err
	}
	options := p.source.options(p.handler)
	if p.adjust != nil {
		p.adjust(&options)
	}
	dissector := dissect.New(options)
	chunks := decrypt.layer(dissector, grows(p.files), p.tellTLS)
	if p.tap != nil {
		chunks = p.tap(chunks)
	}
	assembler := reassembly.New(reassembly.Limits{}, chunks)
	err := p.assemble(from, assembler, progress)
	if !p.stopped() {
		assembler.Flush()
	}
	decrypt.end()
	return err
}

// assemble moves the segments to the assembler.
func (p *pipeline) assemble(from segments, a *reassembly.Assembler, progress func()) error {
	var seg reassembly.Segment
	for n := 0; !p.stopped(); {
		switch err := from.NextSegment(&seg); {
		case err == capture.ErrTick:
			p.tick(a)
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if n == 0 {
			p.first = seg.Time
		}
		if p.now != nil {
			a.Advance(p.now())
		} else {
			a.Advance(seg.Time)
		}
		a.Segment(&seg)
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
}
