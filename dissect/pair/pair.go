// Package pair holds the requests of one connection that are in flight, by correlation id.
package pair

// mapFrom is the number of waiting requests from which on they are found through a map; most
// connections have a handful, which are quicker to look through.
const mapFrom = 32

// Table holds the requests in flight in the order in which they were sent. The zero value is
// ready and has no limit.
type Table[T any] struct {
	// Max is the number of requests that are held; 0 is no limit.
	Max int

	slots []slot[T] // by order of sending; taken ones stay until they are in front
	head  int
	live  int
	// byID gives the number of the oldest slot of an id, counted from the first slot there ever
	// was; nil while few are waiting.
	byID  map[int32]uint64
	first uint64 // number of slots[0]
	// twice is the number of requests that were sent while another of their id was in flight;
	// while it is 0 no second one has to be looked for.
	twice int
}

type slot[T any] struct {
	value T
	time  int64
	id    int32
	live  bool
}

// Len returns the number of requests in flight.
func (t *Table[T]) Len() int { return t.live }

// Has reports whether a request with this id is in flight.
func (t *Table[T]) Has(id int32) bool { return t.find(id) >= 0 }

// Add puts a request in flight. Where the limit is reached, the oldest is removed and returned.
// Ids need not be unique: the oldest of an id is taken first.
func (t *Table[T]) Add(id int32, time int64, v T) (oldest T, removed bool) {
	if t.Max > 0 && t.live >= t.Max {
		t.skipTaken()
		oldest, removed = t.remove(t.head), true
	}
	if t.head > 0 && (t.head == len(t.slots) || len(t.slots) == cap(t.slots)) {
		t.compact()
	}
	t.slots = append(t.slots, slot[T]{v, time, id, true})
	t.live++
	if t.byID == nil && t.live >= mapFrom {
		t.index()
	} else if t.byID != nil {
		if _, ok := t.byID[id]; ok {
			t.twice++
		} else {
			t.byID[id] = t.first + uint64(len(t.slots)-1)
		}
	}
	return oldest, removed
}

// Take removes the oldest request with this id. overtook is set where an earlier request still
// waits for its response.
func (t *Table[T]) Take(id int32) (v T, overtook, ok bool) {
	i := t.find(id)
	if i < 0 {
		return v, false, false
	}
	t.skipTaken()
	overtook = i > t.head
	return t.remove(i), overtook, true
}

// Oldest returns the request that has waited longest, and when it was sent.
func (t *Table[T]) Oldest() (v T, time int64, ok bool) {
	if t.live == 0 {
		return v, 0, false
	}
	t.skipTaken()
	return t.slots[t.head].value, t.slots[t.head].time, true
}

// TakeOldest removes the request that has waited longest.
func (t *Table[T]) TakeOldest() (v T, ok bool) {
	if t.live == 0 {
		return v, false
	}
	t.skipTaken()
	return t.remove(t.head), true
}

// Expire removes the requests sent before time and gives them to gone, in order.
func (t *Table[T]) Expire(time int64, gone func(T)) {
	for t.live > 0 {
		t.skipTaken()
		if t.slots[t.head].time >= time {
			return
		}
		gone(t.remove(t.head))
	}
}

// Flush removes all requests and gives them to gone, in order.
func (t *Table[T]) Flush(gone func(T)) {
	for t.live > 0 {
		t.skipTaken()
		gone(t.remove(t.head))
	}
}

func (t *Table[T]) find(id int32) int {
	if t.byID != nil {
		if n, ok := t.byID[id]; ok {
			return int(n - t.first)
		}
		return -1
	}
	return t.scan(id, t.head)
}

// scan returns the first slot of id from index i on, or -1.
func (t *Table[T]) scan(id int32, i int) int {
	for ; i < len(t.slots); i++ {
		if t.slots[i].live && t.slots[i].id == id {
			return i
		}
	}
	return -1
}

func (t *Table[T]) skipTaken() {
	for t.head < len(t.slots) && !t.slots[t.head].live {
		t.head++
	}
}

func (t *Table[T]) remove(i int) T {
	s := &t.slots[i]
	v, id := s.value, s.id
	*s = slot[T]{}
	t.live--
	if t.live == 0 {
		t.first += uint64(len(t.slots))
		t.slots, t.head, t.byID, t.twice = t.slots[:0], 0, nil, 0
		return v
	}
	if t.byID != nil {
		next := -1
		if t.twice > 0 {
			next = t.scan(id, i+1)
		}
		if next >= 0 {
			t.byID[id] = t.first + uint64(next)
			t.twice--
		} else {
			delete(t.byID, id)
		}
	}
	return v
}

// compact moves the slots to the front.
func (t *Table[T]) compact() {
	t.skipTaken()
	n := copy(t.slots, t.slots[t.head:])
	clear(t.slots[n:])
	t.slots = t.slots[:n]
	t.first += uint64(t.head)
	t.head = 0
}

func (t *Table[T]) index() {
	t.byID = make(map[int32]uint64, 2*mapFrom)
	for i := len(t.slots) - 1; i >= t.head; i-- {
		if s := &t.slots[i]; s.live {
			if _, ok := t.byID[s.id]; ok {
				t.twice++
			}
			t.byID[s.id] = t.first + uint64(i)
		}
	}
}
