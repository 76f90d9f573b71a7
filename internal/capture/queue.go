package capture

import (
	"sync"
	"time"
)

const (
	queueBlock   = 1 << 20 // bytes of a batch's block
	batchPackets = 8192
)

// batch is a block with packets in it.
type batch struct {
	block   *Block
	used    int
	packets []queued
}

// queued is a packet in a batch's block.
type queued struct {
	start, end, wire, iface uint32
	time                    int64
}

// queue holds packets between the goroutines that capture and the one that decodes. Its bounds
// are in blocks: what finds no room in the last block, and no room for another one, is dropped.
type queue struct {
	ready chan struct{} // receives when wait may go on

	mu      sync.Mutex
	full    []*batch // oldest first; the last takes more
	free    []*batch
	limit   int
	pool    blockPool
	waiting bool
	ended   bool
	err     error
	count   LiveStats
	repeats *repeats // nil: not looked for
}

func (q *queue) init(size int, several bool) {
	q.limit = max(size/queueBlock, 2)
	q.pool = blockPool{size: queueBlock, keep: q.limit}
	q.ready = make(chan struct{}, 1)
	if several {
		q.repeats = newRepeats()
	}
}

// repeated reports whether a is the copy of a packet that another interface gave. mu is held.
func (q *queue) repeated(a *arrival, link LinkType) bool {
	if q.repeats == nil || !q.repeats.seen(a, link) {
		return false
	}
	q.count.Repeats++
	return true
}

// put takes a packet, or drops it. mu is held.
func (q *queue) put(a *arrival) {
	n := len(a.head) + len(a.tail)
	q.count.Packets++
	q.count.Bytes += int64(n)
	b := q.last(n)
	if b == nil {
		q.count.Queue++
		return
	}
	start := b.used
	b.used += copy(b.block.data[b.used:], a.head)
	b.used += copy(b.block.data[b.used:], a.tail)
	b.packets = append(b.packets, queued{
		start: uint32(start), end: uint32(b.used), wire: uint32(max(a.wire, n)), iface: uint32(a.iface), time: a.time,
	})
	if q.waiting {
		q.waiting = false
		q.wake()
	}
}

// last returns the batch for another n bytes, nil where there is no room.
func (q *queue) last(n int) *batch {
	if i := len(q.full) - 1; i >= 0 {
		b := q.full[i]
		if b.used+n <= len(b.block.data) && len(b.packets) < batchPackets {
			return b
		}
	}
	if len(q.full) >= q.limit {
		return nil
	}
	b := &batch{}
	if i := len(q.free) - 1; i >= 0 {
		b, q.free = q.free[i], q.free[:i]
	}
	b.block = q.pool.get(n)
	q.full = append(q.full, b)
	return b
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// pop returns the oldest batch, nil where there is none; then ended tells that none will come,
// and err why.
func (q *queue) pop() (b *batch, ended bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.full) == 0 {
		q.waiting = true
		return nil, q.ended, q.err
	}
	b = q.full[0]
	n := copy(q.full, q.full[1:])
	q.full[n] = nil
	q.full = q.full[:n]
	return b, false, nil
}

// empty reports whether all packets have been popped.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.full) == 0
}

// wait returns once pop may find something, at the latest after d.
func (q *queue) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-q.ready:
	case <-t.C:
	}
}

// recycle gives back a batch that pop returned.
func (q *queue) recycle(b *batch) {
	b.block.Release()
	b.block, b.used, b.packets = nil, 0, b.packets[:0]
	q.mu.Lock()
	q.free = append(q.free, b)
	q.mu.Unlock()
}

// end says that nothing more comes; the first error holds.
func (q *queue) end(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	// After an error the other devices still end by themselves: the last of them ends the queue.
	q.ended = q.ended || err == nil
	q.mu.Unlock()
	q.wake()
}

func (q *queue) stats() LiveStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}
