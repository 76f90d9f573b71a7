package reassembly

import "reflect"

// index names something in slabs; 0 is nothing.
type index uint32

// slabSize is how many lie together: they are walked in the order of memory, and are few large
// objects for the garbage collector.
const (
	slabBits = 8
	slabSize = 1 << slabBits
)

// slabs are places for a T each, used again when they are given back.
type slabs[T any] struct {
	slabs [][]T
	used  int // places given out so far
	free  []index
	fresh func(address, size uintptr) // is told of a new slab; may be nil
}

func (r *slabs[T]) at(i index) *T { return &r.slabs[(i-1)>>slabBits][(i-1)%slabSize] }

// take returns a place. What is there may be left from an earlier use.
func (r *slabs[T]) take() index {
	if n := len(r.free); n > 0 {
		i := r.free[n-1]
		r.free = r.free[:n-1]
		return i
	}
	if r.used == len(r.slabs)*slabSize {
		s := make([]T, slabSize)
		if r.fresh != nil {
			v := reflect.ValueOf(s)
			r.fresh(v.Pointer(), slabSize*v.Type().Elem().Size())
		}
		r.slabs = append(r.slabs, s)
	}
	r.used++
	return index(r.used)
}

func (r *slabs[T]) give(i index) { r.free = append(r.free, i) }

// arena holds connections, and uses the place of a closed one again.
type arena struct {
	slabs[conn]
	dead []index // to be free once nobody holds them any more
}

// take returns a connection with nothing but its index set.
func (r *arena) take() *conn {
	i := r.slabs.take()
	c := r.at(i)
	c.index = i // before it is read, for the first time: see hashTable.resize
	return c
}

// drop gives c back. It stays as it is until the next call of reclaim: callers on the stack may
// still look at it.
func (r *arena) drop(c *conn) { r.dead = append(r.dead, c.index) }

func (r *arena) reclaim() {
	for _, i := range r.dead {
		*r.at(i) = conn{}
		r.give(i)
	}
	r.dead = r.dead[:0]
}
