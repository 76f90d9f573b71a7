package schema

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the catalogue from the jars in KDISSECT_JARS")

func atoi16(t *testing.T, s string) int16 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 16)
	require.NoError(t, err)
	return int16(n)
}

// jars reads the definitions of every jar in KDISSECT_JARS, or skips the test.
func jars(t *testing.T) []*Source {
	t.Helper()
	dir := os.Getenv("KDISSECT_JARS")
	if dir == "" {
		t.Skip("KDISSECT_JARS names no folder with Kafka's jars")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var sources []*Source
	for _, f := range files {
		s, err := ReadSource(f)
		require.NoError(t, err)
		sources = append(sources, s)
	}
	return sources
}
