package cli

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNumbering compares with a map, with connections that end in any order.
func TestNumbering(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var n numbering
	want, open := map[int64]int64{}, []int64(nil)
	for id := int64(1); id < 5000; id++ {
		number := rng.Int64()
		n.set(id, number)
		want[id], open = number, append(open, id)
		for rng.IntN(2) == 0 && len(open) > 0 {
			i := rng.IntN(len(open))
			n.forget(open[i])
			delete(want, open[i])
			open[i] = open[len(open)-1]
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			i := open[rng.IntN(len(open))]
			require.Equal(t, want[i], n.of(i))
		}
	}
	for _, id := range open {
		require.Equal(t, want[id], n.of(id))
		n.forget(id)
	}
	assert.Empty(t, n.stretches)
	assert.Zero(t, n.of(1))
}
