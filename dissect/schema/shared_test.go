package schema

import (
	"bufio"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the catalogue from the jars in KDISSECT_JARS")

// shared returns the path of a file of the shared material, or skips the test.
func shared(t *testing.T, path ...string) string {
	t.Helper()
	dir := os.Getenv("KDISSECT_SHARED")
	if dir == "" {
		wd, err := os.Getwd()
		require.NoError(t, err)
		for root := wd; ; root = filepath.Dir(root) {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				dir = filepath.Join(filepath.Dir(root), "shared")
				break
			}
			if root == filepath.Dir(root) {
				t.Skip("no go.mod above the test")
			}
		}
	}
	file := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("shared material is absent: %v", err)
	}
	return file
}

// tsv returns the rows of a shared table without its header.
func tsv(t *testing.T, path ...string) [][]string {
	t.Helper()
	f, err := os.Open(shared(t, path...))
	require.NoError(t, err)
	defer f.Close()
	var rows [][]string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		if !first {
			rows = append(rows, strings.Split(lines.Text(), "\t"))
		}
	}
	require.NoError(t, lines.Err())
	return rows
}

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
