package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLimitsFollowFromMemory: limits that are not given shrink with --max-memory, those given stay.
func TestLimitsFollowFromMemory(t *testing.T) {
	full, small := limitFlags{memory: defaultMemory}, limitFlags{memory: minMemory, inFlight: 5}
	require.NoError(t, full.check(1))
	require.NoError(t, small.check(1))
	assert.EqualValues(t, 128<<20, full.frame)
	assert.EqualValues(t, 256<<20, full.buffer)
	assert.EqualValues(t, 64<<20, full.connBuffer)
	assert.EqualValues(t, 16<<20, full.decompressed)
	assert.EqualValues(t, 1<<20, full.nodes)
	assert.Greater(t, full.connections, 50_000)
	assert.Less(t, small.frame, full.frame)
	assert.Less(t, small.connections, full.connections)
	assert.Less(t, small.nodes, full.nodes)
	assert.Equal(t, 5, small.inFlight)
	for _, bad := range []limitFlags{{memory: 1 << 20}, {memory: defaultMemory, nodes: -1}, {memory: defaultMemory, frame: 1 << 31}} {
		assert.Error(t, bad.check(1))
	}
}
