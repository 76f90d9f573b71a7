package reassembly

// list is a list of connections, newest first. Its links lie apart from the connections, so that
// moving one to the front leaves its neighbours out of the cache's way.
type list struct {
	links       [2][][]link // by index, in runs of linkRun; the second ones of openings
	first, last index
	n           int
}

type link struct{ prev, next index }

const linkRun = 1 << 10

func (l *list) at(i index) *link { return &l.links[i>>31][i&^early/linkRun][i%linkRun] }

// in says whether the list holds i.
func (l *list) in(i index) bool {
	return int(i&^early/linkRun) < len(l.links[i>>31]) && (l.at(i).prev != 0 || l.first == i)
}

// before returns the one that was pushed next after i, or 0.
func (l *list) before(i index) index { return l.at(i).prev }

func (l *list) push(i index) {
	for links := &l.links[i>>31]; int(i&^early/linkRun) >= len(*links); {
		*links = append(*links, make([]link, linkRun))
	}
	*l.at(i) = link{next: l.first}
	if l.first != 0 {
		l.at(l.first).prev = i
	} else {
		l.last = i
	}
	l.first = i
	l.n++
}

// renew makes i, which may be in the list, its newest.
func (l *list) renew(i index) {
	if l.first != i {
		l.remove(i)
		l.push(i)
	}
}

func (l *list) remove(i index) {
	if !l.in(i) {
		return
	}
	k := *l.at(i)
	if k.prev != 0 {
		l.at(k.prev).next = k.next
	} else {
		l.first = k.next
	}
	if k.next != 0 {
		l.at(k.next).prev = k.prev
	} else {
		l.last = k.prev
	}
	*l.at(i) = link{}
	l.n--
}
