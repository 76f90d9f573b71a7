package records

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/tree"
)

func itoa(n int) string { return strconv.Itoa(n) }

// counting is a sink that takes everything and does nothing with it.
type counting struct {
	tree.Discard
	events int
	sum    int64
}

func (c *counting) Begin(tree.Event) bool { c.events++; return true }

func (c *counting) Leaf(e tree.Event) { c.events++; c.sum += e.Value.Num }

func TestAllocations(t *testing.T) {
	const n = 50
	sinks := map[string]tree.Sink{"sink=discard": tree.Discard{}, "sink=counting": &counting{}}
	plain := plainBatch(n)
	message := testMessage(1, 1, 0, []byte("k"), []byte("v"))
	var d Decoder
	for name, sink := range sinks {
		walk := func(data []byte) func() {
			return func() { d.Reset(); d.Walk(data, tree.Span{}, sink, Options{}) }
		}
		assert.Zero(t, testing.AllocsPerRun(100, walk(plain)), name)
		assert.Zero(t, testing.AllocsPerRun(100, walk(message)), name)
		for c := Snappy; c <= Zstd; c++ {
			packed := testBatch{attributes: int16(c), count: n, lastOffsetDelta: n - 1, baseTimestamp: 1, maxTimestamp: n}.
				encode(compress(t, c, plain[batchHead:]))
			assert.Zero(t, testing.AllocsPerRun(100, walk(packed)), "%s %s", name, c)
		}
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { Summarize(plain, 0) }))
}

func BenchmarkWalk(b *testing.B) {
	const n = 50
	plain := plainBatch(n)
	for c := None; c <= Zstd; c++ {
		data := testBatch{attributes: int16(c), count: n, lastOffsetDelta: n - 1, baseTimestamp: 1700000000000, maxTimestamp: 1700000000000 + n - 1}.
			encode(compress(b, c, plain[batchHead:]))
		for name, sink := range map[string]tree.Sink{"discard": tree.Discard{}, "counting": &counting{}} {
			b.Run("sink="+name+"/codec="+c.String(), func(b *testing.B) {
				var d Decoder
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					d.Reset()
					d.Walk(data, tree.Span{}, sink, Options{})
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
			})
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	data := plainBatch(50)
	b.ReportAllocs()
	for b.Loop() {
		Summarize(data, 0)
	}
}
