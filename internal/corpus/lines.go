package corpus

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// longest is the longest line of any file, in bytes.
const longest = 64 << 20

// Lines calls f with each line of a file of JSON lines, gzip-compressed or not, and its number,
// from 1.
func Lines[T any](t testing.TB, path string, f func(n int, v T)) {
	t.Helper()
	each(t, path, func(n int, line []byte) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s:%d: %v", filepath.Base(path), n, err)
		}
		f(n, v)
	})
}

// Table returns the rows of a file of tab-separated values, without its first, the heading.
func Table(t testing.TB, path string) (rows [][]string) {
	t.Helper()
	each(t, path, func(n int, line []byte) {
		if n > 1 {
			rows = append(rows, strings.Split(string(line), "\t"))
		}
	})
	return rows
}

func each(t testing.TB, path string, f func(n int, line []byte)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, longest)
	for n := 1; s.Scan(); n++ {
		f(n, s.Bytes())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}
