package reassembly

import (
	"math/rand/v2"
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
				table.remove(h, at)
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
