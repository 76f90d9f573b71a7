package reassembly

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHashTable compares with a map, with hashes that collide as a rule.
func TestHashTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table, want := newHashTable(), map[index]uint32{}
	for i := range 20_000 {
		switch hash := rng.Uint32() << 12 >> uint(rng.IntN(2)*12); {
		case rng.IntN(3) > 0:
			table.add(hash, index(i+1))
			want[index(i+1)] = hash
		default:
			for at, h := range want {
				if i%2 == 0 {
					table.remove(h, at)
				} else {
					table.replace(h, at, index(i+1))
					want[index(i+1)] = h
				}
				delete(want, at)
				break
			}
		}
		if i%500 != 0 {
			continue
		}
		require.Equal(t, len(want), table.n)
		for at, h := range want {
			found := 0
			for p := table.probe(h); ; {
				n := p.next(&table)
				if n == 0 {
					break
				}
				assert.Equal(t, h, want[n])
				if n == at {
					found++
				}
			}
			assert.Equal(t, 1, found)
		}
	}
}

func TestHashIsOfBothDirections(t *testing.T) {
	table, rng := newHashTable(), rand.New(rand.NewPCG(3, 4))
	seen := map[uint32]bool{}
	for range 1000 {
		f := Flow{Endpoint{Port: uint16(rng.Uint32())}, Endpoint{Port: 9092}}
		f.Src.IP[rng.IntN(16)], f.Dst.IP[15] = byte(rng.Uint32()), 7
		back := f.Reverse()
		assert.Equal(t, table.hash(&f), table.hash(&back))
		seen[table.hash(&f)] = true
	}
	assert.Greater(t, len(seen), 990)
}

func TestList(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var l list
	want := []index{} // newest last
	for range 5000 {
		i := index(rng.IntN(50) + 1)
		at := -1
		for n := range want {
			if want[n] == i {
				at = n
			}
		}
		require.Equal(t, at >= 0, l.in(i))
		l.remove(i)
		if at >= 0 {
			want = append(want[:at], want[at+1:]...)
		}
		if rng.IntN(3) > 0 {
			l.push(i)
			want = append(want, i)
		}
		got := []index{}
		for i := l.last; i != 0; i = l.before(i) {
			got = append(got, i)
		}
		require.Equal(t, want, got)
		require.Equal(t, len(want), l.n)
	}
}

// TestArenaKeepsTheDropped lets callers look at a connection that was dropped until reclaim.
func TestArenaKeepsTheDropped(t *testing.T) {
	var r arena
	c := r.take()
	c.ID = 5
	r.drop(c)
	assert.NotSame(t, c, r.take())
	assert.Equal(t, int64(5), c.ID)
	r.reclaim()
	assert.Same(t, c, r.take())
	assert.Zero(t, c.ID)
}

// deaf is a Handler that does nothing.
type deaf struct{}

func (deaf) Open(*Conn)                      {}
func (deaf) Chunk(*Conn, Dir, Chunk)         {}
func (deaf) Gap(*Conn, Dir, Gap)             {}
func (deaf) Note(*Conn, Dir, Note)           {}
func (deaf) Finish(*Conn, Dir, int64, int64) {}
func (deaf) Close(*Conn, End, int64, int64)  {}

// TestPlacesAreUsedAgain opens and closes connections one after another.
func TestPlacesAreUsedAgain(t *testing.T) {
	a := New(Limits{MaxClosed: 8}, deaf{})
	for i := range int64(1000) {
		there := Flow{Src: Endpoint{Port: uint16(i)}, Dst: Endpoint{Port: 9092}}
		back := there.Reverse()
		for _, s := range []Segment{
			{Flow: there, Flags: SYN, Seq: 100},
			{Flow: back, Flags: SYN | ACK, Seq: 500, Ack: 101},
			{Flow: there, Flags: ACK, Seq: 101, Ack: 501, Payload: []byte("request"), WireLen: 7},
			{Flow: there, Flags: FIN | ACK, Seq: 108, Ack: 501},
			{Flow: back, Flags: FIN | ACK, Seq: 501, Ack: 109},
		} {
			s.Packet, s.Time = i+1, i*1e6
			a.Segment(&s)
		}
	}
	assert.Equal(t, int64(1000), a.Opened())
	assert.Equal(t, 8, a.lingering.n)
	assert.Equal(t, 8, a.table.n)
	assert.LessOrEqual(t, a.conns.used, 10)
	assert.Zero(t, a.recent.n)
}

// TestFlushGoesByAge opens connections of both kinds and closes most or few of them: the end comes
// for those that are left in the order in which they were opened.
func TestFlushGoesByAge(t *testing.T) {
	for _, left := range []int{2, 3, 50, 300} {
		s := &scribe{lines: map[int64][]string{}}
		a := New(Limits{MaxConnections: left}, s)
		rng := rand.New(rand.NewPCG(7, uint64(left)))
		for i := range int64(300) {
			g := Segment{Flow: Flow{Endpoint{Port: uint16(i)}, Endpoint{Port: 9092}}, Flags: SYN, Packet: i + 1}
			a.Segment(&g)
			if i%3 == 0 { // one of the latest becomes a whole one
				g.Flow.Src.Port = uint16(i - rng.Int64N(min(i+1, int64(left))))
				g.Flags, g.Seq, g.Payload, g.WireLen = ACK, 1, []byte{1}, 1
				a.Segment(&g)
			}
		}
		open := a.recent.n
		require.Equal(t, left, open)
		require.NotZero(t, a.conns.used)
		before := len(s.closed)
		a.Flush()
		assert.Len(t, s.closed[before:], open)
		assert.True(t, slices.IsSorted(s.closed[before:]), "%d left: %v", left, s.closed[before:])
	}
}
