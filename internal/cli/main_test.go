package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// runMain runs a command line and returns what it wrote and its exit status.
func runMain(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	status = Main(args, strings.NewReader(""), &out, &err)
	return out.String(), err.String(), status
}

// captures returns the names of the captures in testdata/pcaps.
func captures(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "pcaps", "*.pcap*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// TestGolden compares what read makes of each capture with the files beside it.
func TestGolden(t *testing.T) {
	for _, file := range captures(t) {
		base := strings.TrimSuffix(file, filepath.Ext(file))
		t.Run(filepath.Base(base), func(t *testing.T) {
			assert.FileExists(t, base+".md", "where the capture comes from")
			args := []string{"read", file}
			if _, err := os.Stat(base + ".keys"); err == nil {
				args = append(args, "--keylog", base+".keys")
			}
			for format, golden := range map[string]string{"summary": ".summary.txt", "tree": ".txt", "json": ".json"} {
				got, stderr, status := runMain(t, append(args, "--format", format)...)
				require.Equal(t, exitDone, status, stderr)
				if *update {
					require.NoError(t, os.WriteFile(base+golden, []byte(got), 0o666))
					continue
				}
				want, err := os.ReadFile(base + golden)
				require.NoError(t, err)
				assert.Equal(t, string(want), got)
			}
		})
	}
}
