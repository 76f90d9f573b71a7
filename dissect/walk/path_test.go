package walk

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

// TestPlaces compares remembered paths with those written anew, of more places than are remembered,
// and has one that is known cost nothing.
func TestPlaces(t *testing.T) {
	topics, partitions, records := &tree.Desc{Key: "topics"}, &tree.Desc{Key: "partitions"}, &tree.Desc{Key: "records"}
	var p places
	path := []step{{topics, -1}, {topics, 0}, {partitions, -1}, {partitions, 0}, {records, -1}}
	for range 2 {
		for i := range int32(3) {
			for j := range int32(maxPlaces) {
				path[1].index, path[3].index = i, j
				require.Equal(t, where(path), p.where(path))
				require.LessOrEqual(t, len(p.known), maxPlaces)
			}
		}
	}
	assert.Equal(t, "topics[2].partitions[255].records", p.where(path))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.where(path) }))
	assert.Empty(t, p.where(nil))
}
