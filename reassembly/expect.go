package reassembly

const (
	// expectMost is how many segments are looked ahead.
	expectMost = 16
	// expectFrom is from how many connections on that pays: with what a Handler has of them, they take
	// more than 2 MiB then, and a processor's cache holds no more.
	expectFrom = 2048
)

// Expecter is implemented by a Handler that has memory of its own for each connection.
type Expecter interface {
	// Expect says that something of these connections comes next, a few of them. It changes nothing
	// that can be seen, and does not keep the slice.
	Expect([]*Conn)
}

// crowded reports whether there are so many connections that reading ahead pays.
func (a *Assembler) crowded() bool { return a.conns.used >= a.expectFrom }

// Expect says that next are the segments that come, and returns for how many of them it has done
// what can be done: at least one, unless there is none.
//
// Where there are many connections, nothing of one is in the processor's caches when its next
// segment comes, and what that needs would be fetched piece by piece, each waited for. So it is read
// ahead here, and waited for together.
func (a *Assembler) Expect(next []Segment) int {
	if !a.crowded() {
		return len(next)
	}
	next = next[:min(len(next), expectMost)]
	var hashes [expectMost]uint32
	var read uint64
	n := 0
	for i := range next {
		if i > 0 {
			if _, ok := next[i-1].Flow.carries(&next[i].Flow); ok {
				continue // packets come in runs
			}
		}
		hashes[n] = a.table.hash(&next[i].Flow)
		n++
	}
	for _, hash := range hashes[:n] {
		read += a.table.slots[a.table.place(hash)]
	}
	var at [expectMost]index
	for i, hash := range hashes[:n] {
		p := a.table.probe(hash)
		if at[i] = p.next(&a.table); at[i] != 0 {
			read += uint64(a.recent.at(at[i]).prev)
		}
	}
	a.read = read
	a.fetch(at[:n])
	return len(next)
}

// fetch reads what is known of a few connections, 0 standing for none: a member of each line of the
// cache that their next segments need.
func (a *Assembler) fetch(some []index) {
	var read int64
	conns := a.expected[:0]
	for _, i := range some {
		switch {
		case i == 0:
		case i&early != 0:
			o := a.opening(i)
			read += o.id + o.stamp
		default:
			c := a.conns.at(i)
			read += c.half[0].next + c.half[1].ackLast + c.LastPacket + c.Dirs[0].Packets + c.ID
			conns = append(conns, &c.Conn)
		}
	}
	a.read = uint64(read)
	if e, ok := a.handler.(Expecter); ok {
		e.Expect(conns)
	}
}
