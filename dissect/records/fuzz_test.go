package records

import (
	"runtime"
	"testing"

	"github.com/kdissect/kdissect/tree"
)

// FuzzRecords walks anything: events nest and tile, and memory is bounded by the input and the
// limits.
func FuzzRecords(f *testing.F) {
	f.Add(plainBatch(3), 0)
	for c := None; c <= 7; c++ {
		f.Add(testBatch{count: 1, attributes: int16(c)}.encode(compress(f, c, one())), 0)
		f.Add(testMessage(5, 1, byte(c), nil, compress(f, c, testMessage(0, 1, 0, []byte("k"), nil))), 3)
		f.Add(testMessage(5, 0, byte(c), nil, compress(f, c, testMessage(5, 0, 0, []byte("k"), nil))), 100)
	}
	f.Add(testBatch{count: 1, attributes: attrControl}.encode(testRecord{key: []byte{0, 0, 0, 1}, value: make([]byte, 6)}.encode()), 0)
	limits := Limits{Decompressed: 1 << 20, Total: 4 << 20, Issues: 20}
	d := New(limits)
	d.Walk(testBatch{attributes: 4}.encode(compress(f, Zstd, one())), tree.Span{}, newChecker(f, tree.Span{}, 1<<20), Options{})
	f.Fuzz(func(t *testing.T, data []byte, missing int) {
		if missing < 0 || missing > 1<<20 {
			missing = 0
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, sum := check(t, d, data, Options{Missing: missing, Secret: func(*Record) (bool, bool) { return true, false }})
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(16<<20+64*len(data)); got > most {
			t.Fatalf("%d bytes allocated for %d", got, len(data))
		}
		if len(c.issues) > limits.Issues+1 {
			t.Fatalf("%d issues", len(c.issues))
		}
		if sum.Batches > len(data)/minEntry+1 {
			t.Fatalf("%d batches in %d bytes", sum.Batches, len(data))
		}
	})
}
