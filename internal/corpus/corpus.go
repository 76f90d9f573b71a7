// Package corpus finds the captures and vectors that tests hold the decoder against. They lie
// outside of the project, in the folder that KDISSECT_SHARED names, by default shared beside
// the checkout.
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

// Skipped is what a test that misses the corpus says; the checks look for it where the
// corpus is present.
const Skipped = "corpus not found: set KDISSECT_SHARED"

// Dir returns the corpus folder, or skips the test.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("KDISSECT_SHARED")
	if dir == "" {
		dir = filepath.Join(moduleRoot(t), "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "captures")); err != nil {
		t.Skip(Skipped)
	}
	return dir
}

// Path returns a file of the corpus, or skips the test where there is no corpus.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	return filepath.Join(append([]string{Dir(t)}, elem...)...)
}

func moduleRoot(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// Lines calls f with each line of a file of JSON lines, gzip-compressed or not.
func Lines[T any](t testing.TB, path string, f func(n int, v T)) {
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
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("%s:%d: %v", filepath.Base(path), n, err)
		}
		f(n, v)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}
