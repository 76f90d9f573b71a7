package records

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

// collect keeps the leaves of one description's name.
type collect struct {
	*checker
	name   string
	leaves []tree.Event
}

func (c *collect) Leaf(e tree.Event) {
	c.checker.Leaf(e)
	if e.Desc.Name == c.name {
		c.leaves = append(c.leaves, e)
	}
}

func TestSecrets(t *testing.T) {
	sets := map[string][]byte{
		"batch":   testBatch{count: 1}.encode(testRecord{key: []byte("user"), value: []byte("salt")}.encode()),
		"message": testMessage(0, 1, 0, []byte("user"), []byte("salt")),
		"wrapped": testMessage(0, 1, 1, nil, compress(t, Gzip, testMessage(0, 1, 0, []byte("user"), []byte("salt")))),
	}
	for name, data := range sets {
		t.Run(name, func(t *testing.T) {
			for _, part := range []string{"key", "value"} {
				c := &collect{checker: newChecker(t, tree.Span{}, len(data)), name: part}
				var d Decoder
				d.Walk(data, tree.Span{}, c, Options{Secret: func(r *Record) (bool, bool) {
					assert.Equal(t, "user", string(r.Key))
					assert.Equal(t, "salt", string(r.Value), "the value is known before the key is reported")
					return false, true
				}})
				require.NotEmpty(t, c.leaves)
				assert.Equal(t, part == "value", c.leaves[len(c.leaves)-1].Desc.Secret)
			}
		})
	}
}

// Payloads are opened in every kind of record, and their spans hold the bytes they were given.
func TestPayload(t *testing.T) {
	for name, data := range map[string][]byte{
		"batch":   testBatch{count: 1, baseOffset: 9, baseTimestamp: 1700000000000, maxTimestamp: 1700000000000}.encode(one()),
		"message": testMessage(9, 1, 0, []byte("k"), []byte("v")),
		"wrapped": testMessage(9, 1, 4, nil, compress(t, Zstd, testMessage(0, 1, 0, []byte("k"), []byte("v")))),
	} {
		t.Run(name, func(t *testing.T) {
			p := &everything{t: t}
			var d Decoder
			_, sink, _ := walkJSON(t, &d, data, Options{Payload: p})
			assert.Empty(t, sink.issues)
			assert.Equal(t, "kv", p.seen)
		})
	}
}

type everything struct {
	t    *testing.T
	seen string
}

func (p *everything) Claim(*Record, Part) bool { return true }

func (p *everything) Walk(rec *Record, _ Part, data []byte, at tree.Span, sink tree.Sink) {
	assert.EqualValues(p.t, 9, rec.Offset)
	assert.Equal(p.t, int64(1700000000000), rec.Timestamp)
	assert.EqualValues(p.t, len(data), at.Len)
	p.seen += string(data)
	sink.Leaf(tree.Event{Desc: descBody, Span: at, Value: tree.Value{Bytes: data}})
}

// A sink that takes no records costs no decompression; one that takes no batches nothing at all.
func TestSkipping(t *testing.T) {
	data := testBatch{count: 1, attributes: 1}.encode(compress(t, Gzip, one()))
	for _, skipped := range []string{"RecordBatch", "records", "Record", "headers"} {
		t.Run(skipped, func(t *testing.T) {
			c := newChecker(t, tree.Span{}, len(data))
			c.skip = func(e tree.Event) bool { return e.Desc.Name == skipped }
			var d Decoder
			sum := d.Walk(data, tree.Span{}, c, Options{})
			c.done()
			assert.EqualValues(t, 1, sum.Records)
			assert.Empty(t, c.issues)
			if skipped == "RecordBatch" || skipped == "records" {
				assert.Empty(t, c.origins)
				assert.Zero(t, d.spent)
			}
		})
	}
}

func TestPartial(t *testing.T) {
	whole := plainBatch(3)
	data := append(plainBatch(2), whole[:100]...)
	var d Decoder
	c, sum := check(t, &d, data, Options{})
	require.Len(t, c.issues, 1)
	i := c.issues[0]
	assert.Equal(t, tree.CodePartial, i.Code)
	assert.Equal(t, tree.Info, i.Severity)
	assert.Equal(t, "partial batch, have 100 of "+itoa(len(whole)), i.Text)
	assert.Equal(t, 100, sum.Partial)
	assert.Equal(t, 1, sum.Batches)

	c, _ = check(t, &d, data, Options{Whole: true})
	assert.Equal(t, tree.Warning, c.issues[0].Severity)
}

// What was not captured is told apart from what is not there.
func TestMissing(t *testing.T) {
	data := plainBatch(10)
	n := len(data) - 30
	var d Decoder
	got, sink, sum := walkJSON(t, &d, data[:n:n], Options{Missing: 30, Path: "records"})
	require.Len(t, sink.issues, 1)
	assert.Equal(t, tree.CodeTruncated, sink.issues[0].Code)
	assert.Equal(t, "records[0].records[9]", sink.issues[0].Path)
	require.Len(t, got, 1)
	batch := got[0].(map[string]any)
	assert.Len(t, batch["records"], 10, "the cut record too, as far as it goes")
	assert.NotContains(t, batch, "crcValid")
	assert.EqualValues(t, 10, sum.Records)
}

func TestSkipChecksums(t *testing.T) {
	data := testBatch{count: 1, wrongCRC: true}.encode(one())
	var d Decoder
	got, sink, _ := walkJSON(t, &d, data, Options{SkipChecksums: true})
	assert.Empty(t, sink.issues)
	assert.NotContains(t, got[0], "crcValid")
}

// Offsets inside a compressed set of magic 1 count from its first message; clients that leave
// the outer offset at 0 mean what they say inside.
func TestRelativeOffsets(t *testing.T) {
	inside := append(testMessage(0, 1, 0, nil, []byte("a")), testMessage(1, 1, 0, nil, []byte("b"))...)
	for name, c := range map[string]struct {
		outer int64
		magic int8
		want  []int64
	}{
		"relative":     {101, 1, []int64{100, 101}},
		"single":       {1, 1, []int64{0, 1}},
		"outer left 0": {0, 1, []int64{0, 1}},
		"absolute":     {101, 0, []int64{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var d Decoder
			got, _, _ := walkJSON(t, &d, testMessage(c.outer, c.magic, 1, nil, compress(t, Gzip, inside)), Options{})
			var offsets []int64
			for _, r := range got[0].(map[string]any)["records"].([]any) {
				offsets = append(offsets, r.(map[string]any)["offset"].(int64))
			}
			assert.Equal(t, c.want, offsets)
		})
	}
}

// Compaction leaves holes between records and behind the last one.
func TestHolesAreLegal(t *testing.T) {
	body := append(testRecord{offsetDelta: 3}.encode(), testRecord{offsetDelta: 7}.encode()...)
	var d Decoder
	c, sum := check(t, &d, testBatch{baseOffset: 10, count: 2, lastOffsetDelta: 9}.encode(body), Options{})
	assert.Empty(t, c.issues)
	assert.EqualValues(t, 19, sum.LastOffset)
}
