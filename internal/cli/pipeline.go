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

	first    int64 // time of the first packet; holds once there was one
	warnings int64 // about the capture files
}

// run reads to the end, or until it is interrupted or stopped. What is complete by then has been
// given to the handler, also where run returns an error.
func (p *pipeline) run() error {
	r, err := capture.Open(p.env.ctx, p.files, capture.Options{
		Stdin: p.env.stdin,
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

	dissector := dissect.New(p.source.options(p.handler))
	var chunks reassembly.Handler = dissector
	if p.tap != nil {
		chunks = p.tap(dissector)
	}
	assembler := reassembly.New(reassembly.Limits{}, chunks)
	err = p.segments(r, assembler)
	if !p.stopped() {
		assembler.Flush()
	}
	p.unread(r.Stats())
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted after %s; what was complete is shown", plural(r.Stats().Packets, "packet"))
	}
	return err
}

// segments moves the segments to the assembler.
func (p *pipeline) segments(r *capture.Reader, a *reassembly.Assembler) error {
	bar := newProgress(p.env)
	defer bar.done()
	var seg reassembly.Segment
	for n := 0; !p.stopped(); n++ {
		if err := r.NextSegment(&seg); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if n == 0 {
			p.first = seg.Time
		}
		a.Advance(seg.Time)
		a.Segment(&seg)
		if n%1024 == 0 {
			bar.update(r.Progress())
		}
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
