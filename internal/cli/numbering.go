package cli

import "github.com/kdissect/kdissect/dissect/frame"

// numbering gives a worker's connections their numbers among all. Their ids go up by one, and most
// end in about the order in which they began: so those of a stretch lie together, and are
// forgotten with the last of them.
type numbering struct {
	// recent are the stretches from the oldest that is left to the newest, nil where all
	// connections of one have ended; first is the key of the first.
	recent []*stretchOfNumbers
	first  int64
	gone   int // of recent, which begins with as many nils
	// old are those of before, few of which are left.
	old  map[int64]*stretchOfNumbers
	free frame.Spares[*stretchOfNumbers]
}

const (
	// stretchLength is small, lest a stretch of which one connection stays hold much.
	stretchLength = 16
	maxRecent     = 1 << 12
	maxStretches  = 1024 // kept for reuse
)

type stretchOfNumbers struct {
	numbers [stretchLength]int64
	n       int // of connections that are open
}

// find returns the stretch with that key, or nil.
func (n *numbering) find(key int64) *stretchOfNumbers {
	switch at := key - n.first; {
	case at < 0:
		return n.old[key]
	case at < int64(len(n.recent)):
		return n.recent[at]
	}
	return nil
}

// set gives connection id, whose stretch is the newest or comes next, its number.
func (n *numbering) set(id, number int64) {
	key := id / stretchLength
	s := n.find(key)
	if s == nil {
		s = n.open(key)
	}
	s.numbers[id%stretchLength] = number
	s.n++
}

// open makes a stretch.
func (n *numbering) open(key int64) *stretchOfNumbers {
	s, ok := n.free.Take()
	if !ok {
		s = &stretchOfNumbers{}
	}
	if len(n.recent) == 0 {
		n.first = key
	}
	if len(n.recent) >= maxRecent {
		n.archive(maxRecent / 2)
	}
	for n.first+int64(len(n.recent)) <= key { // one, but where all of a stretch had ended before the next
		n.recent = append(n.recent, nil)
	}
	n.recent[key-n.first] = s
	return s
}

// archive makes the first k of the recent stretches old.
func (n *numbering) archive(k int) {
	if n.old == nil {
		n.old = map[int64]*stretchOfNumbers{}
	}
	for i, s := range n.recent[:k] {
		if s != nil {
			n.old[n.first+int64(i)] = s
		}
	}
	n.drop(k)
}

// drop takes the first k of the recent stretches away.
func (n *numbering) drop(k int) {
	n.recent = append(n.recent[:0], n.recent[k:]...)
	n.first += int64(k)
	n.gone = 0
}

// of returns the number of an open connection.
func (n *numbering) of(id int64) int64 {
	s := n.find(id / stretchLength)
	if s == nil {
		return 0
	}
	return s.numbers[id%stretchLength]
}

// forget forgets an open connection.
func (n *numbering) forget(id int64) {
	key := id / stretchLength
	s := n.find(key)
	if s == nil {
		return
	}
	if s.n--; s.n > 0 {
		return
	}
	if key < n.first {
		delete(n.old, key)
	} else {
		n.recent[key-n.first] = nil
		n.trim()
	}
	n.free.Give(s, maxStretches)
}

// trim drops the stretches in front of which nothing is left, once that is worth the while.
func (n *numbering) trim() {
	for n.gone < len(n.recent) && n.recent[n.gone] == nil {
		n.gone++
	}
	if n.gone > len(n.recent)/2 {
		n.drop(n.gone)
	}
}
