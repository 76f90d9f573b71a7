package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

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
