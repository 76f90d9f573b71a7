package reassembly

// index names a connection of an arena; 0 is none.
type index uint32

// slabSize is how many connections lie together: they are walked in the order of memory, and are
// few large objects for the garbage collector.
const (
	slabBits = 8
	slabSize = 1 << slabBits
)

// arena holds connections, and uses the place of a closed one again.
type arena struct {
	slabs []*[slabSize]conn
	used  int // places given out so far
	free  []index
	dead  []index // to be free once nobody holds them any more
}

func (r *arena) at(i index) *conn { return &r.slabs[(i-1)>>slabBits][(i-1)%slabSize] }

// take returns a connection with nothing but its index set.
func (r *arena) take() *conn {
	if n := len(r.free); n > 0 {
		c := r.at(r.free[n-1])
		r.free = r.free[:n-1]
		return c
	}
	if r.used == len(r.slabs)*slabSize {
		s := new([slabSize]conn)
		for i := range s { // also so that its memory is written to before it is read: see hashTable.resize
			s[i].index = index(r.used + i + 1)
		}
		r.slabs = append(r.slabs, s)
	}
	r.used++
	return r.at(index(r.used))
}

// drop gives c back. It stays as it is until the next call of reclaim: callers on the stack may
// still look at it.
func (r *arena) drop(c *conn) { r.dead = append(r.dead, c.index) }

func (r *arena) reclaim() {
	for _, i := range r.dead {
		c := r.at(i)
		*c = conn{index: i}
	}
	r.free = append(r.free, r.dead...)
	r.dead = r.dead[:0]
}
