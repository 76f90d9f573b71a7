package records

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/kdissect/kdissect/internal/fuzzing"
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

// FuzzInflate decompresses anything with each codec: no more comes out than is allowed, and memory
// is bounded by that, whatever sizes the input claims.
func FuzzInflate(f *testing.F) {
	text := bytes.Repeat([]byte("some text that repeats, "), 40)
	for c := Gzip; c <= Zstd; c++ {
		b := compress(f, c, text)
		f.Add(byte(c), b, uint16(4096))
		f.Add(byte(c), b, uint16(100))
		f.Add(byte(c), b[:len(b)/2], uint16(4096))
	}
	f.Add(byte(Snappy), snappy.Encode(nil, text), uint16(4096))
	f.Add(byte(Snappy), []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0}, uint16(1000))
	f.Add(byte(Zstd), []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, uint16(1000))
	var inflater inflater
	for c := Gzip; c <= Zstd; c++ { // what a codec allocates once
		_, _ = inflater.inflate(c, compress(f, c, text), nil, 1<<16)
	}
	f.Fuzz(func(t *testing.T, codec byte, data []byte, limit uint16) {
		var out []byte
		allocated := fuzzing.Allocated(func() { out, _ = inflater.inflate(Codec(codec)&codecMask, data, nil, int(limit)) })
		if len(out) > int(limit) {
			t.Fatalf("%d bytes for a limit of %d", len(out), limit)
		}
		if most := uint64(4<<20 + 16*(len(data)+int(limit))); allocated > most {
			t.Fatalf("%d bytes allocated for %d, limit %d", allocated, len(data), limit)
		}
	})
}
