package cli

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/reassembly"
)

// batches is how many batches are under way at most.
const batches = 4

// What a batch may hold where its segments become as much text, about. Forms of output that make
// more of them have smaller ones.
const (
	batchSegments = 1024
	batchBytes    = 2 << 20
)

// batch is a stretch of a capture on its way through the workers.
type batch struct {
	segments [][]reassembly.Segment // by worker
	marks    []mark
	blocks   []*capture.Block // held for the segments
	count    int              // segments
	bytes    int              // of their payloads
	end      int64            // place behind it
	last     bool             // the capture ends here, by itself
	results  []results
	number   int64        // of the batch, from 0
	left     atomic.Int32 // workers that are not done
}

// feed hands the segments of a capture to workers, each connection to one.
type feed struct {
	epochs epochs
	lanes  []chan *batch
	free   chan *batch
	sent   int64 // batches
	packet int64 // the latest
	// segments and bytes bound a batch; an epoch may have several.
	segments, bytes int

	// mu guards the present batch where it is sent on as time goes by.
	mu  sync.Mutex
	cur *batch
}

// newFeed returns a feed for segments that become growth times as much text.
func newFeed(workers, growth int) *feed {
	f := &feed{segments: max(batchSegments/growth, 64), bytes: max(batchBytes/growth, 64<<10), free: make(chan *batch, batches)}
	for range workers {
		f.lanes = append(f.lanes, make(chan *batch, batches))
	}
	for range batches {
		f.free <- &batch{segments: make([][]reassembly.Segment, workers), results: make([]results, workers)}
	}
	return f
}

// add takes a segment whose payload lies in block.
func (f *feed) add(s *reassembly.Segment, block *capture.Block) {
	begins := f.epochs.next(s)
	if f.cur != nil && (f.cur.count >= f.segments || f.cur.bytes >= f.bytes) {
		f.send()
	}
	b := f.batch()
	if begins {
		b.marks = append(b.marks, mark{s.Packet, s.Time})
	}
	if len(s.Payload) > 0 {
		if n := len(b.blocks); n == 0 || b.blocks[n-1] != block {
			block.Hold()
			b.blocks = append(b.blocks, block)
		}
	}
	w := route(&s.Flow, len(f.lanes))
	list := b.segments[w]
	if n := len(list); n < cap(list) {
		list = list[:n+1]
		list[n].Set(s)
	} else {
		list = append(list, *s)
	}
	b.segments[w] = list
	b.count++
	b.bytes += len(s.Payload)
	f.packet = s.Packet
}

// addLocked is add where the present batch is also sent on as time goes by.
func (f *feed) addLocked(s *reassembly.Segment, block *capture.Block) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(s, block)
}

// batch returns the batch that is being filled.
func (f *feed) batch() *batch {
	if f.cur == nil {
		f.cur = <-f.free
	}
	return f.cur
}

// send sends the present batch on.
func (f *feed) send() {
	b := f.cur
	if b == nil {
		return
	}
	f.cur = nil
	b.end = placeOfEpoch(f.packet + 1)
	b.number = f.sent
	f.sent++
	b.left.Store(int32(len(f.lanes)))
	for _, lane := range f.lanes {
		lane <- b
	}
}

// flush sends on what there is.
func (f *feed) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.send()
}

// settle returns once the workers have done all that came so far.
func (f *feed) settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.send()
	var all [batches]*batch
	for i := range all {
		all[i] = <-f.free
	}
	for _, b := range all {
		f.free <- b
	}
}

// close ends the capture: by itself, or because nothing more is wanted.
func (f *feed) close(whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if whole {
		f.batch().last = true
	}
	f.send()
	for _, lane := range f.lanes {
		close(lane)
	}
}

// recycle makes b ready to be filled again, once nobody looks at it.
func (f *feed) recycle(b *batch) {
	for i := range b.segments {
		b.segments[i] = b.segments[i][:0]
	}
	for i, block := range b.blocks {
		block.Release()
		b.blocks[i] = nil
	}
	b.blocks, b.marks = b.blocks[:0], b.marks[:0]
	b.count, b.bytes, b.last = 0, 0, false
	f.free <- b
}

// mix hashes an endpoint.
func mix(e *reassembly.Endpoint) uint64 {
	h := binary.LittleEndian.Uint64(e.IP[:]) ^ uint64(e.Port)*0x9e3779b97f4a7c15
	h ^= binary.LittleEndian.Uint64(e.IP[8:]) * 0xff51afd7ed558ccd
	h ^= h >> 32
	return h * 0xc4ceb9fe1a85ec53
}

// route returns which of a number of workers takes a connection: the same for both directions.
func route(f *reassembly.Flow, workers int) int {
	h := mix(&f.Src) + mix(&f.Dst)
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return int((h >> 32) * uint64(workers) >> 32)
}
