package reassembly

// list is a list of connections, newest first. Its links lie apart from the connections, so that
// moving one to the front leaves its neighbours out of the cache's way.
type list struct {
	links       []link // by index
	first, last index
	n           int
}

type link struct{ prev, next index }

// in says whether the list holds i.
func (l *list) in(i index) bool {
	return int(i) < len(l.links) && (l.links[i].prev != 0 || l.first == i)
}

// before returns the one that was pushed next after i, or 0.
func (l *list) before(i index) index { return l.links[i].prev }

func (l *list) push(i index) {
	if int(i) >= len(l.links) {
		l.links = append(l.links, make([]link, int(i)+1-len(l.links))...)
	}
	l.links[i] = link{next: l.first}
	if l.first != 0 {
		l.links[l.first].prev = i
	} else {
		l.last = i
	}
	l.first = i
	l.n++
}

func (l *list) remove(i index) {
	if !l.in(i) {
		return
	}
	k := l.links[i]
	if k.prev != 0 {
		l.links[k.prev].next = k.next
	} else {
		l.first = k.next
	}
	if k.next != 0 {
		l.links[k.next].prev = k.prev
	} else {
		l.last = k.prev
	}
	l.links[i] = link{}
	l.n--
}
