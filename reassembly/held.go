package reassembly

import (
	"math/bits"
	"sort"
)

// piece is a run of bytes ahead of what is expected: in the engine, with a copy here to compare
// retransmissions with, or known to be cut off by the snapshot length, and then not in the engine
// until its turn comes, so that a fuller copy may still take its place.
type piece struct {
	off, end     int64
	packet, time int64
	data         []byte
	pages        int // in the engine
	owned        bool
	lost         bool
}

// cost is the memory a piece takes, here and in the engine.
func (p *piece) cost() int {
	n := p.pages * pageSize
	if p.owned {
		n += cap(p.data)
	}
	return n
}

// pieces is a queue of disjoint pieces in order of offset.
type pieces struct {
	p    []piece
	head int
}

func (q *pieces) len() int        { return len(q.p) - q.head }
func (q *pieces) at(i int) *piece { return &q.p[q.head+i] }

// end returns where the last piece ends; there must be one.
func (q *pieces) end() int64 { return q.p[len(q.p)-1].end }

// find returns the first piece that ends behind off.
func (q *pieces) find(off int64) int {
	n := q.len()
	if n == 0 || q.at(n-1).end <= off { // most often it belongs at the end
		return n
	}
	return sort.Search(n, func(i int) bool { return q.at(i).end > off })
}

func (q *pieces) pop() piece {
	p := q.p[q.head]
	q.p[q.head] = piece{}
	q.head++
	if q.head == len(q.p) {
		q.p, q.head = q.p[:0], 0
	}
	return p
}

func (q *pieces) insert(p piece) {
	if q.head > 16 && q.head > len(q.p)/2 {
		n := copy(q.p, q.p[q.head:])
		clear(q.p[n:])
		q.p, q.head = q.p[:n], 0
	}
	i := q.head + q.find(p.off)
	q.p = append(q.p, piece{})
	copy(q.p[i+1:], q.p[i:])
	q.p[i] = p
}

// carve takes [off, end) out of piece i, which is one of lost bytes.
func (q *pieces) carve(i int, off, end int64) {
	p := *q.at(i)
	before, after := p, p
	before.end, after.off = off, end
	switch {
	case before.end > before.off && after.end > after.off:
		*q.at(i) = before
		q.insert(after)
	case before.end > before.off:
		*q.at(i) = before
	case after.end > after.off:
		*q.at(i) = after
	default:
		i += q.head
		q.p = append(q.p[:i], q.p[i+1:]...)
		if q.head == len(q.p) {
			q.p, q.head = q.p[:0], 0
		}
	}
}

// bufferPool keeps a few buffers for copies, by powers of two from 64 bytes to 64 KiB.
type bufferPool struct{ free [11][][]byte }

const (
	smallest   = 6         // 2^6 bytes
	keptPerBin = 512 << 10 // bytes
)

func bin(n int) int { return max(bits.Len(uint(max(n-1, 0)))-smallest, 0) }

func (b *bufferPool) copyOf(data []byte) []byte {
	i := bin(len(data))
	if i >= len(b.free) {
		return append([]byte(nil), data...)
	}
	if n := len(b.free[i]); n > 0 {
		buf := b.free[i][n-1]
		b.free[i] = b.free[i][:n-1]
		return append(buf[:0], data...)
	}
	return append(make([]byte, 0, 1<<(i+smallest)), data...)
}

func (b *bufferPool) put(buf []byte) {
	i := bin(cap(buf))
	if i < len(b.free) && cap(buf) == 1<<(i+smallest) && len(b.free[i])*cap(buf) < keptPerBin {
		b.free[i] = append(b.free[i], buf)
	}
}
