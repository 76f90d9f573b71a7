package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/traffic"
)

// generated writes a capture of a mix and returns its name.
func generated(tb testing.TB, mix traffic.Mix) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "generated.pcap")
	file, err := os.Create(name)
	require.NoError(tb, err)
	require.NoError(tb, traffic.Generate(file, mix))
	require.NoError(tb, file.Close())
	return name
}

// allocations returns what a run of read allocates.
func allocations(t *testing.T, file string, args ...string) float64 {
	args = append([]string{"read", file}, args...)
	return testing.AllocsPerRun(3, func() { require.Equal(t, exitDone, Main(args, nil, io.Discard, io.Discard)) })
}

// TestSummaryOfMoreFramesAllocatesNoMore: from files to lines, frames cost no allocation once all
// has begun.
func TestSummaryOfMoreFramesAllocatesNoMore(t *testing.T) {
	few := generated(t, traffic.Mix{Bytes: 2 << 20, Records: 1, Connections: 16})
	many := generated(t, traffic.Mix{Bytes: 10 << 20, Records: 1, Connections: 16})
	const moreFrames = 8 << 20 / 400
	for _, workers := range []string{"1", "2"} {
		more := allocations(t, many, "--workers", workers) - allocations(t, few, "--workers", workers)
		assert.Less(t, more/moreFrames, 0.005, "%s workers: %v allocations more for %d frames more", workers, more, moreFrames)
	}
}

// BenchmarkRead measures all stages together, from a file to lines.
func BenchmarkRead(b *testing.B) {
	for _, size := range []struct {
		name    string
		records int
	}{{"large", 50}, {"small", 1}} {
		file := generated(b, traffic.Mix{Bytes: 16 << 20, Records: size.records, Connections: 64})
		info, err := os.Stat(file)
		require.NoError(b, err)
		for _, format := range []string{"summary", "json", "tree"} {
			for _, workers := range []string{"1", "2"} {
				b.Run("stage=read/format="+format+"/frames="+size.name+"/workers="+workers, func(b *testing.B) {
					b.SetBytes(info.Size())
					b.ReportAllocs()
					for b.Loop() {
						require.Equal(b, exitDone, Main([]string{"read", "--format", format, "--workers", workers, file}, nil, io.Discard, io.Discard))
					}
				})
			}
		}
	}
}
