//go:build !race

// The race detector allocates by itself.

package cli

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/traffic"
)

// allocations returns what a run of read allocates.
func allocations(t *testing.T, file string, args ...string) float64 {
	args = append([]string{"read", file}, args...)
	return testing.AllocsPerRun(3, func() { require.Equal(t, exitDone, Main(args, nil, io.Discard, io.Discard)) })
}

// TestSummaryOfMoreFramesAllocatesNoMore: from files to lines, frames cost no allocation once all
// has begun.
func TestSummaryOfMoreFramesAllocatesNoMore(t *testing.T) {
	few := generated(t, traffic.Mix{Bytes: 8 << 20, Records: 1, Connections: 16}) // more packets than exactPackets
	many := generated(t, traffic.Mix{Bytes: 24 << 20, Records: 1, Connections: 16})
	const moreFrames = 16 << 20 / 400
	for _, workers := range []string{"1", "2"} {
		more := allocations(t, many, "--workers", workers) - allocations(t, few, "--workers", workers)
		assert.Less(t, more/moreFrames, 0.005, "%s workers: %v allocations more for %d frames more", workers, more, moreFrames)
	}
}
