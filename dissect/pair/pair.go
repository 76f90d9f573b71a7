// Package pair holds the requests of one connection that are in flight, by correlation id.
package pair

// mapFrom is the number of waiting requests from which on they are found through a map; most
// connections have a handful, which are quicker to look through.
const mapFrom = 32

// Shared is memory for the Tables of one goroutine, which is with those that hold requests. The zero
// value is ready.
type Shared[T any] struct{ free [][]slot[T] }

// What is kept for Tables to come.
const (
	keepSlots = 256
	maxSlots  = 64 // of one Table
)

// Table holds the requests in flight in the order in which they were sent. The zero value is
// ready and has no limit.
type Table[T any] struct {
	// Max is the number of requests that are held; 0 is no limit.
	Max int
	// Shared has the memory of the Table while it is empty; nil leaves it with the Table.
	Shared *Shared[T]

	slots []slot[T] // by order of sending; taken ones stay until the table is compacted
	head  int       // no slot before it waits
	live  int
	byID  *byID // nil while few are waiting

	sent     int64 // requests put in flight so far
	answered int64 // the latest of these that was answered, counted from 1
}

// byID finds the waiting slots.
type byID struct {
	oldest map[int32]int // index of the oldest slot of an id
	// twice is the number of requests that were sent while another of their id was in flight.
	twice int
}

type slot[T any] struct {
	value T
	time  int64
	nth   int64 // of the requests, counted from 1
	id    int32
	live  bool
	doubt bool
}

// Len returns the number of requests in flight.
func (t *Table[T]) Len() int { return t.live }

// Has reports whether a request with this id is in flight.
func (t *Table[T]) Has(id int32) bool { return t.find(id) >= 0 }

// Expects reports whether a request with this id is in flight, and no later one was answered.
func (t *Table[T]) Expects(id int32) bool {
	i := t.find(id)
	return i >= 0 && t.slots[i].nth > t.answered
}

// Get returns the oldest request with this id, which stays in flight.
func (t *Table[T]) Get(id int32) (v T, ok bool) {
	if i := t.find(id); i >= 0 {
		return t.slots[i].value, true
	}
	return v, false
}

// Add puts a request in flight. Where the limit is reached, the oldest is removed and returned.
// Ids need not be unique: the oldest of an id is taken first.
func (t *Table[T]) Add(id int32, time int64, v T) (oldest T, removed bool) {
	if t.Max > 0 && t.live >= t.Max {
		oldest, removed = t.TakeOldest()
	}
	switch {
	case t.slots == nil:
		t.borrow()
	case len(t.slots) == cap(t.slots) && t.live < len(t.slots):
		t.compact()
	}
	t.sent++
	if n := len(t.slots); n < cap(t.slots) { // in place: a whole slot would be copied
		t.slots = t.slots[:n+1]
		s := &t.slots[n]
		s.value, s.time, s.nth, s.id, s.live, s.doubt = v, time, t.sent, id, true, false
	} else {
		t.slots = append(t.slots, slot[T]{value: v, time: time, nth: t.sent, id: id, live: true})
	}
	t.live++
	switch {
	case t.byID != nil:
		t.note(len(t.slots) - 1)
	case t.live >= mapFrom:
		t.index()
	}
	return oldest, removed
}

// Take removes the oldest request with this id. overtook is set where an earlier request still
// waits for its response, and is not in doubt.
func (t *Table[T]) Take(id int32) (v T, overtook, ok bool) {
	i := t.find(id)
	if i < 0 {
		return v, false, false
	}
	for j := t.head; j < i && !overtook; j++ {
		overtook = t.slots[j].live && !t.slots[j].doubt
	}
	t.answered = max(t.answered, t.slots[i].nth)
	return t.remove(i), overtook, true
}

// Doubt says that responses were lost: those of the requests now in flight may be among them.
func (t *Table[T]) Doubt() {
	for i := t.head; i < len(t.slots); i++ {
		t.slots[i].doubt = true
	}
}

// TakeDoubtful removes the oldest request with this id if it is in doubt.
func (t *Table[T]) TakeDoubtful(id int32) (v T, ok bool) {
	i := t.find(id)
	if i < 0 || !t.slots[i].doubt {
		return v, false
	}
	return t.remove(i), true
}

// TakeOldest removes the request that has waited longest.
func (t *Table[T]) TakeOldest() (v T, ok bool) {
	if t.live == 0 {
		return v, false
	}
	return t.remove(t.oldest()), true
}

// Expire removes the requests sent before time and gives them to gone, in order.
func (t *Table[T]) Expire(time int64, gone func(T)) {
	for t.live > 0 {
		i := t.oldest()
		if t.slots[i].time >= time {
			return
		}
		gone(t.remove(i))
	}
}

// Flush removes all requests and gives them to gone, in order.
func (t *Table[T]) Flush(gone func(T)) {
	for t.live > 0 {
		gone(t.remove(t.oldest()))
	}
}

// Reset makes t as it was before the first request.
func (t *Table[T]) Reset() {
	clear(t.slots)
	t.empty()
	*t = Table[T]{Max: t.Max, Shared: t.Shared, slots: t.slots}
}

// empty notes that no slot holds a request.
func (t *Table[T]) empty() {
	t.slots, t.head, t.byID = t.slots[:0], 0, nil
	if s := t.Shared; s != nil && t.slots != nil {
		if cap(t.slots) <= maxSlots && len(s.free) < keepSlots {
			s.free = append(s.free, t.slots)
		}
		t.slots = nil
	}
}

// borrow gives t memory, if there is some.
func (t *Table[T]) borrow() {
	if s := t.Shared; s != nil && len(s.free) > 0 {
		t.slots = s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
	}
}

// oldest returns the index of the request that has waited longest; there must be one.
func (t *Table[T]) oldest() int {
	for !t.slots[t.head].live {
		t.head++
	}
	return t.head
}

// find returns the oldest slot of id, or -1.
func (t *Table[T]) find(id int32) int {
	if t.byID == nil {
		return t.scan(id, t.head)
	}
	if i, ok := t.byID.oldest[id]; ok {
		return i
	}
	return -1
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

func (t *Table[T]) remove(i int) T {
	v, id := t.slots[i].value, t.slots[i].id
	t.slots[i] = slot[T]{}
	t.live--
	if t.live == 0 {
		t.empty()
		return v
	}
	if t.byID != nil {
		next := -1
		if t.byID.twice > 0 {
			next = t.scan(id, i+1)
		}
		if next >= 0 {
			t.byID.oldest[id] = next
			t.byID.twice--
		} else {
			delete(t.byID.oldest, id)
		}
	}
	return v
}

// compact moves the waiting slots to the front.
func (t *Table[T]) compact() {
	n := 0
	for i := t.head; i < len(t.slots); i++ {
		if t.slots[i].live {
			t.slots[n] = t.slots[i]
			n++
		}
	}
	clear(t.slots[n:])
	t.slots, t.head = t.slots[:n], 0
	if t.byID != nil {
		t.index()
	}
}

func (t *Table[T]) index() {
	if t.byID == nil {
		t.byID = &byID{oldest: make(map[int32]int, 2*mapFrom)}
	}
	clear(t.byID.oldest)
	t.byID.twice = 0
	for i := t.head; i < len(t.slots); i++ {
		if t.slots[i].live {
			t.note(i)
		}
	}
}

func (t *Table[T]) note(i int) {
	id := t.slots[i].id
	if _, ok := t.byID.oldest[id]; ok {
		t.byID.twice++
	} else {
		t.byID.oldest[id] = i
	}
}
