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
	const staying = 20 // of the first connections
	var n numbering
	want, open := map[int64]int64{}, []int64(nil)
	for id := int64(1); id < 3*stretchLength*maxRecent; id++ {
		number := rng.Int64()
		n.set(id, number)
		want[id], open = number, append(open, id)
		for len(open) > 100 && rng.IntN(4) > 0 || len(open) > staying && rng.IntN(2) == 0 {
			i := staying + rng.IntN(len(open)-staying)
			n.forget(open[i])
			delete(want, open[i])
			open = append(open[:i], open[i+1:]...)
		}
		if len(open) > 0 {
			i := open[rng.IntN(len(open))]
			require.Equal(t, want[i], n.of(i))
		}
	}
	assert.NotEmpty(t, n.old)
	assert.Less(t, len(n.old), 100)
	for _, id := range open {
		require.Equal(t, want[id], n.of(id))
		n.forget(id)
	}
	assert.Empty(t, n.recent)
	assert.Empty(t, n.old)
	assert.Zero(t, n.of(1))
}
