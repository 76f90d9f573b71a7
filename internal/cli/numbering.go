package cli

// numbering gives a worker's connections their numbers among all. Their ids go up by one, and most
// end in about the order in which they began: so those of a stretch lie together, and are
// forgotten with the last of them.
type numbering struct {
	stretches map[int64]*stretchOfNumbers
	free      []*stretchOfNumbers
	last      *stretchOfNumbers // that was looked at
	lastKey   int64
}

const (
	// stretchLength is small, lest a stretch of which one connection stays hold much.
	stretchLength = 16
	maxStretches  = 1024 // kept for reuse
)

type stretchOfNumbers struct {
	numbers [stretchLength]int64
	n       int // of connections that are open
}

// find returns the stretch that id belongs to, or nil.
func (n *numbering) find(id int64) *stretchOfNumbers {
	key := id / stretchLength
	if n.last == nil || n.lastKey != key {
		n.last, n.lastKey = n.stretches[key], key
	}
	return n.last
}

func (n *numbering) set(id, number int64) {
	s := n.find(id)
	if s == nil {
		if k := len(n.free); k > 0 {
			s, n.free = n.free[k-1], n.free[:k-1]
		} else {
			s = &stretchOfNumbers{}
		}
		if n.stretches == nil {
			n.stretches = make(map[int64]*stretchOfNumbers)
		}
		n.stretches[n.lastKey], n.last = s, s
	}
	s.numbers[id%stretchLength] = number
	s.n++
}

// of returns the number of an open connection.
func (n *numbering) of(id int64) int64 {
	s := n.find(id)
	if s == nil {
		return 0
	}
	return s.numbers[id%stretchLength]
}

// forget forgets an open connection.
func (n *numbering) forget(id int64) {
	s := n.find(id)
	if s == nil {
		return
	}
	if s.n--; s.n > 0 {
		return
	}
	delete(n.stretches, n.lastKey)
	n.last = nil
	if len(n.free) < maxStretches {
		n.free = append(n.free, s)
	}
}
