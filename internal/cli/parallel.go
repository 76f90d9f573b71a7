package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/reassembly"
)

// divisible is a dissect.Handler whose work several workers can share.
type divisible interface {
	dissect.Handler
	// part returns the part of a worker, which adds what it finds to what into points to at the
	// time, and what it puts in front of the dissector; nil is nothing.
	part(into **results) (dissect.Handler, tap, error)
	// take takes a result of any worker, in order, with the connection's number: of an exchange only
	// where its text has a place for it, else 0.
	take(r *result, connection int64, text []byte)
	// flush sends on what was taken.
	flush()
}

// parallel is a pipeline with several workers.
type parallel struct {
	*pipeline
	whole   divisible
	decrypt *decryption
	feed    *feed
	halted  atomic.Bool // nothing more is wanted
	stop    func()      // ends the reading

	// merging guards what brings the results together.
	merging sync.Mutex
	merger  *merger
	ready   [batches]*batch // batches that all workers have done, by number
	merged  int64           // batches
}

// worker is a goroutine with its lane.
type worker struct {
	lane    *lane
	results *results // of the present batch
}

// run moves the segments of a capture through the workers. stop ends the reading of r.
func (p *parallel) run(r *capture.Reader, stop func(), progress func()) error {
	p.stop, p.merger = stop, newMerger(len(p.feed.lanes))
	p.share()
	var working sync.WaitGroup
	workers := make([]*worker, len(p.feed.lanes))
	for i := range workers {
		var err error
		if workers[i], err = p.newWorker(); err != nil {
			return err
		}
	}
	for i, w := range workers {
		working.Go(func() { p.work(w, i) })
	}
	err := p.read(r, progress)
	if p.halted.Load() && errors.Is(err, context.Canceled) {
		err = nil
	}
	p.feed.close(!p.halted.Load())
	working.Wait()
	p.decrypt.end()
	lanes := make([]*lane, len(workers))
	for i, w := range workers {
		lanes[i] = w.lane
	}
	p.end(lanes...)
	return err
}

func (p *parallel) newWorker() (*worker, error) {
	w := &worker{}
	handler, tap, err := p.whole.part(&w.results)
	if err != nil {
		return nil, err
	}
	var report func(*reassembly.Conn)
	if p.tellTLS {
		report = func(c *reassembly.Conn) { w.report(c) }
	}
	w.lane = p.newLane(handler, p.decrypt, tap, report, true)
	w.lane.dissector.Passed(0)
	return w, nil
}

// report adds a remark about a TLS connection that was not decrypted.
func (w *worker) report(c *reassembly.Conn) {
	line := remarkOnTLS(c)
	if line == "" {
		return
	}
	w.lane.dissector.HandOver()
	r := w.results
	from := len(r.text)
	r.text = append(r.text, line...)
	r.add(result{kind: remark, first: c.FirstPacket, id: c.ID, from: from, to: len(r.text)})
}

// read moves segments from r to the feed.
func (p *parallel) read(r *capture.Reader, progress func()) error {
	add := p.feed.add
	if grows(p.files) {
		add = p.feed.addLocked
		stop := p.sendOften()
		defer stop()
	}
	var seg reassembly.Segment
	for n := 0; !p.halted.Load(); n++ {
		if err := r.NextSegment(&seg); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if n == 0 {
			p.first = seg.Time
		}
		add(&seg, r.Packet().Block)
		if n%1024 == 0 {
			progress()
		}
	}
	return nil
}

// sendOften has segments that have come sent on, although the input may wait for more, until the
// function that it returns is called.
func (p *parallel) sendOften() (stop func()) {
	end := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		tick := time.NewTicker(followDelay / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.feed.flush()
			case <-end:
				return
			}
		}
	})
	return func() {
		close(end)
		sending.Wait()
	}
}

// work has worker number i do its part of each batch.
func (p *parallel) work(w *worker, i int) {
	var seen int64
	for b := range p.feed.lanes[i] {
		w.results = &b.results[i]
		w.results.reset()
		w.results.lane, w.results.seen = w.lane, seen
		if !p.halted.Load() {
			w.lane.batch(b, i, w.results)
		}
		seen = w.results.seen
		w.lane.dissector.Passed(b.end)
		if b.left.Add(-1) == 0 {
			p.done(b)
		}
	}
}

// batch takes worker i's part of a batch.
func (l *lane) batch(b *batch, i int, r *results) {
	segments := b.segments[i]
	for _, m := range b.marks {
		n := 0
		for n < len(segments) && segments[n].Packet < m.packet {
			n++
		}
		l.several(segments[:n], r)
		segments = segments[n:]
		l.dissector.Passed(placeOfEpoch(m.packet))
		l.begin(m)
	}
	l.several(segments, r)
	if b.last {
		l.end(b.end)
	}
}

// several takes segments, a few of which it looks ahead to.
func (l *lane) several(segments []reassembly.Segment, r *results) {
	for len(segments) > 0 {
		n := l.assembler.Expect(segments)
		for i := range segments[:n] {
			l.shared(&segments[i], r)
		}
		segments = segments[n:]
	}
}

// shared takes a segment in a lane that is one of several.
func (l *lane) shared(s *reassembly.Segment, r *results) {
	if s.Packet <= exactPackets {
		l.dissector.Passed(placeOfPacket(s.Packet))
	}
	l.segment(s)
	r.open()
}

// done takes a batch that all workers have done. Whoever brings the one whose turn it is merges
// what is ready.
func (p *parallel) done(b *batch) {
	p.merging.Lock()
	defer p.merging.Unlock()
	p.ready[b.number%batches] = b
	for {
		next := &p.ready[p.merged%batches]
		if *next == nil {
			return
		}
		p.merge(*next)
		p.feed.recycle(*next)
		*next = nil
		p.merged++
	}
}

// merge gives the results of all workers in a batch to the command. p.merging is held.
func (p *parallel) merge(b *batch) {
	if p.halted.Load() {
		return
	}
	p.merger.merge(b, func(r *result, connection int64, text []byte) {
		if r.kind == remark {
			p.decrypt.remark(connection, string(text))
			return
		}
		p.whole.take(r, connection, text)
	})
	p.whole.flush()
	if p.stopped() {
		p.halted.Store(true)
		p.stop()
	}
}
