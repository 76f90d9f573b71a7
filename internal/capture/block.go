package capture

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// Block is a buffer that packets lie in. It is used again once nobody holds it. A nil Block
// stands for memory that is never used again.
type Block struct {
	data []byte
	refs atomic.Int32
	home *blockPool
}

// Hold keeps the bytes of b alive until a matching Release. It is called while the bytes are
// still alive, that is, before the next call of whoever gave them.
func (b *Block) Hold() {
	if b != nil {
		b.refs.Add(1)
	}
}

// Release gives up one hold. It may be called from any goroutine.
func (b *Block) Release() {
	if b != nil && b.refs.Add(-1) == 0 {
		b.home.put(b)
	}
}

// shared reports whether somebody besides the owner holds b.
func (b *Block) shared() bool { return b.refs.Load() > 1 }

// blockPool keeps free blocks of one size.
type blockPool struct {
	size  int
	keep  int                         // free blocks to keep
	fresh func(address, size uintptr) // is told of a new one; may be nil
	mu    sync.Mutex
	free  []*Block
}

// get returns a block of at least size bytes (the pool's own size where that is more), held once.
func (p *blockPool) get(size int) *Block {
	b := p.pop(size)
	if b == nil {
		b = &Block{data: make([]byte, max(size, p.size)), home: p}
		if p.fresh != nil {
			p.fresh(reflect.ValueOf(b.data).Pointer(), uintptr(len(b.data)))
		}
	}
	b.refs.Store(1)
	return b
}

func (p *blockPool) pop(size int) *Block {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 || size > p.size {
		return nil
	}
	b := p.free[n-1]
	p.free = p.free[:n-1]
	return b
}

func (p *blockPool) put(b *Block) {
	if len(b.data) != p.size {
		return // a large one, made for a single packet
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < p.keep {
		p.free = append(p.free, b)
	}
}
