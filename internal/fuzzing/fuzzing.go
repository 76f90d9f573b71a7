// Package fuzzing holds what fuzz targets share: a measure of allocations, and captures to begin
// with.
package fuzzing

import (
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"
)

// Allocated returns how many bytes of heap f allocates, counted in spans of some KiB; what other
// goroutines allocate meanwhile is counted too.
func Allocated(f func()) uint64 {
	before := allocs()
	f()
	return allocs() - before
}

func allocs() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Captures returns the files of testdata/pcaps.
func Captures(tb testing.TB) []string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			tb.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "pcaps", "*.pcap*"))
	if err != nil || len(files) == 0 {
		tb.Fatal("no captures in testdata/pcaps: ", err)
	}
	return files
}
