package frame

import (
	"math/bits"
	"sync/atomic"
)

const (
	minClass = 9  // 512 bytes
	maxClass = 28 // 256 MiB
	// keepIdle is how many bytes of idle buffers of one class are kept for reuse.
	keepIdle = 2 << 20
)

// Buffer is a piece of memory of a Pool.
type Buffer struct {
	B     []byte
	class int
}

// Budget bounds what Pools lend together. Several goroutines may share it.
type Budget struct {
	max  int64
	lent atomic.Int64
}

// NewBudget returns a budget of so many bytes at a time; 0 means 256 MiB.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		limit = 256 << 20
	}
	return &Budget{max: limit}
}

// take takes n bytes, if there are so many.
func (b *Budget) take(n int64) bool {
	if b.lent.Add(n) > b.max {
		b.lent.Add(-n)
		return false
	}
	return true
}

// step is how much a Pool takes ahead: little enough for many of them.
func (b *Budget) step() int64 { return min(64<<10, b.max/1024) }

// roomy reports whether most is left.
func (b *Budget) roomy() bool { return b.lent.Load() < b.max/4 }

// Pool lends buffers as its budget allows. It serves one goroutine. The Splitters that share it also
// have from it what they need at times only.
type Pool struct {
	budget  *Budget
	lent    int64
	reserve int64 // bytes taken from the budget and not lent: other goroutines are seldom disturbed
	idle    [maxClass + 1][]*Buffer

	windows Spares[*window]
	parts   Spares[*part]
	frame   *Frame // for the next one that is given; nil while one is looked at
}

// What is kept for reuse.
const (
	keepWindows = 64
	keepParts   = 64
	maxMarks    = 1 << 14 // in one list
)

// NewPool returns a pool.
func NewPool(b *Budget) *Pool { return &Pool{budget: b} }

// Lent returns the bytes that are out.
func (p *Pool) Lent() int64 { return p.lent }

// take takes n bytes to be lent, if there are so many.
func (p *Pool) take(n int64) bool {
	if p.reserve < n {
		short, step := n-p.reserve, p.budget.step()
		switch {
		case p.budget.take(short + step):
			p.reserve += short + step
		case p.budget.take(short):
			p.reserve += short
		default:
			return false
		}
	}
	p.reserve -= n
	p.lent += n
	return true
}

// give takes back n bytes that were lent.
func (p *Pool) give(n int64) {
	p.lent -= n
	p.reserve += n
	if step := p.budget.step(); p.reserve > 2*step {
		p.budget.lent.Add(step - p.reserve)
		p.reserve = step
	}
}

// Get returns an empty buffer for n bytes, or nil where the limit forbids it.
func (p *Pool) Get(n int) *Buffer {
	class := max(minClass, bits.Len(uint(max(n, 1)-1)))
	if class > maxClass || !p.take(1<<class) {
		return nil
	}
	if idle := p.idle[class]; len(idle) > 0 {
		b := idle[len(idle)-1]
		p.idle[class] = idle[:len(idle)-1]
		b.B = b.B[:0]
		return b
	}
	return &Buffer{make([]byte, 0, 1<<class), class}
}

// Put takes b back; nil is ignored.
func (p *Pool) Put(b *Buffer) {
	if b == nil {
		return
	}
	p.give(1 << b.class)
	if len(p.idle[b.class]) < max(1, keepIdle>>b.class) && b.class <= 23 {
		p.idle[b.class] = append(p.idle[b.class], b)
	}
}

// Append adds data to b, which may be nil, and returns the buffer that holds both. Where the
// limit forbids it, it returns b as it was and false.
func (p *Pool) Append(b *Buffer, data []byte) (*Buffer, bool) { return p.AppendTo(b, data, 0) }

// ahead is how many times as large as its contents a buffer gets at most because of what is to come.
const ahead = 8

// AppendTo is Append to what is to become total bytes, as far as that can be believed: the buffer is
// made large enough, within reason and while there is much left to lend, so that its contents move
// less often.
func (p *Pool) AppendTo(b *Buffer, data []byte, total int64) (*Buffer, bool) {
	if b == nil {
		if b = p.Get(len(data)); b == nil {
			return nil, false
		}
	} else if need := len(b.B) + len(data); need > cap(b.B) {
		want := need
		if p.budget.roomy() {
			want = max(need, int(min(total, int64(ahead*need))))
		}
		bigger := p.Get(want)
		if bigger == nil && want > need {
			bigger = p.Get(need)
		}
		if bigger == nil {
			return b, false
		}
		bigger.B = append(bigger.B, b.B...)
		p.Put(b)
		b = bigger
	}
	b.B = append(b.B, data...)
	return b, true
}

func (p *Pool) takeWindow() *window {
	w, ok := p.windows.Take()
	if !ok {
		w = &window{}
	}
	return w
}

func (p *Pool) putWindow(w *window) {
	p.Put(w.buf)
	w.buf = nil
	w.marks = w.marks[:0]
	w.restart(0)
	if cap(w.marks) <= maxMarks && cap(w.undecided) <= maxMarks {
		p.windows.Give(w, keepWindows)
	}
}

func (p *Pool) takePart() *part {
	q, ok := p.parts.Take()
	if !ok {
		q = &part{}
	}
	return q
}

func (p *Pool) putPart(q *part) {
	p.Put(q.acc)
	*q = part{marks: q.marks[:0]}
	if cap(q.marks) <= maxMarks {
		p.parts.Give(q, keepParts)
	}
}

func (p *Pool) takeFrame() *Frame {
	f := p.frame
	p.frame = nil
	if f == nil {
		f = &Frame{}
	}
	return f
}

func (p *Pool) putFrame(f *Frame) {
	f.Bytes, f.Buf, f.Marks, f.InChunk = nil, nil, nil, false
	p.frame = f
}
