package records

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

func one() []byte { return testRecord{key: []byte("k"), value: []byte("v")}.encode() }

func TestHostile(t *testing.T) {
	overlong := bytes.Repeat([]byte{0x80}, 11)
	good := testBatch{count: 1}.encode(one())
	nested := testMessage(0, 0, 1, nil, compress(t, Gzip,
		testMessage(0, 0, 1, nil, compress(t, Gzip,
			testMessage(0, 0, 1, nil, compress(t, Gzip, testMessage(0, 0, 0, nil, []byte("deep"))))))))
	set := func(body []byte, count int32) []byte {
		return append(testBatch{count: count}.encode(body), good...)
	}
	withLength := func(n int32) []byte {
		b := bytes.Clone(good)
		binary.BigEndian.PutUint32(b[8:], uint32(n))
		return append(b, good...)
	}
	cases := []struct {
		name string
		data []byte
		want []string // issues, without information
		// decoded is the number of batches that JSON shows.
		decoded int
	}{
		{"count 2^31-1", set(one(), math.MaxInt32), []string{"count: count 2147483647, 1 records found"}, 2},
		{"count -1", set(one(), -1), []string{"count: count -1, 1 records found"}, 2},
		{"more records than counted", set(append(one(), testRecord{offsetDelta: 1}.encode()...), 1), []string{
			"count: offset delta 1, the batch's last is 0", "count: count 1, 2 records found"}, 2},
		{"record length negative", set([]byte{0x01, 0, 0}, 1), []string{"malformed: length -1, 2 bytes left"}, 2},
		{"record length too small", set([]byte{0x0a, 0, 0, 0, 0, 0}, 1), []string{"malformed: value 5 has no meaning here"}, 2},
		{"record length beyond the batch", set([]byte{0x7e, 0, 0}, 1), []string{"malformed: length 63, 2 bytes left"}, 2},
		{"record length overlong", set(overlong, 1), []string{"malformed: varint too long"}, 2},
		{"key length negative", set([]byte{0x0c, 0, 0, 0, 0x03, 0, 0}, 1), []string{"malformed: negative length -2"}, 2},
		{"value length beyond the record", set([]byte{0x0c, 0, 0, 0, 0x01, 0x7e, 0}, 1), []string{"malformed: length 63, 1 bytes left"}, 2},
		{"header count negative", set([]byte{0x0c, 0, 0, 0, 0x01, 0x01, 0x01}, 1), []string{"malformed: negative length -1"}, 2},
		{"header count 2^31-1", set([]byte{0x14, 0, 0, 0, 0x01, 0x01, 0xfe, 0xff, 0xff, 0xff, 0x0f}, 1),
			[]string{"malformed: count 2147483647 needs more than the 0 bytes left"}, 2},
		{"header key null", set([]byte{0x10, 0, 0, 0, 0x01, 0x01, 0x02, 0x01, 0x01}, 1), []string{"malformed: negative length -1"}, 2},
		{"timestamp delta overlong", set(append([]byte{0x18, 0}, overlong...), 1), []string{"malformed: varint too long"}, 2},
		{"bytes behind the headers", set([]byte{0x10, 0, 0, 0, 0x01, 0x01, 0x00, 0xaa, 0xbb}, 1),
			[]string{"malformed: 2 bytes behind the record's headers"}, 2},
		{"bad record, good record", set(append([]byte{0x0c, 0, 0, 0, 0x03, 0, 0}, one()...), 2), []string{"malformed: negative length -2",
			"count: offset delta 0 behind 0"}, 2},
		{"batch length negative", withLength(-1), []string{"malformed: batch length -1"}, 0},
		{"batch length 0", withLength(0), []string{"malformed: batch length 0"}, 0},
		{"batch length too small for its magic", withLength(48), []string{"malformed: batch length 48"}, 1},
		{"wrong crc", append(testBatch{count: 1, wrongCRC: true}.encode(one()), good...), []string{"checksum: crc 0x"}, 2},
		{"unknown magic", append(testBatch{count: 1, magic: 3}.encode(one()), good...), []string{"unsupported: magic 3"}, 1},
		{"negative magic", append(testBatch{count: 1, magic: -1}.encode(one()), good...), []string{"unsupported: magic -1"}, 1},
		{"unknown codec", append(testBatch{count: 1, attributes: 5}.encode(one()), good...), []string{"unsupported: codec 5"}, 2},
		{"corrupt gzip", append(testBatch{count: 1, attributes: 1}.encode([]byte("nonsense")), good...), []string{"malformed: gzip: "}, 2},
		{"corrupt snappy", append(testBatch{count: 1, attributes: 2}.encode([]byte("nonsense")), good...), []string{"malformed: snappy: "}, 2},
		{"corrupt lz4", append(testBatch{count: 1, attributes: 3}.encode([]byte("nonsense")), good...), []string{"malformed: lz4: "}, 2},
		{"corrupt zstd", append(testBatch{count: 1, attributes: 4}.encode([]byte("nonsense")), good...), []string{"malformed: zstd: "}, 2},
		{"nested three deep", append(nested, good...), []string{"malformed: message sets nested more than one level deep"}, 2},
		{"compressed null", append(testMessage(0, 1, 1, nil, nil), good...), []string{"malformed: compressed message without a value"}, 2},
		{"batch in a message set", append(testMessage(0, 1, 1, nil, compress(t, Gzip, good)), good...),
			[]string{"malformed: batch of another magic in a compressed message set"}, 2},
		{"message cut inside", append(testMessage(0, 1, 1, nil, compress(t, Gzip, testMessage(0, 1, 0, nil, []byte("abc"))[:20])), good...),
			[]string{"malformed: message set does not end with a message"}, 2},
		{"max timestamp too early", testBatch{count: 1, baseTimestamp: 5, maxTimestamp: 4}.encode(one()),
			[]string{"count: max timestamp 4, the latest record's is 5"}, 1},
		{"zeros", make([]byte, 100), []string{"malformed: batch length 0"}, 0},
	}
	var d Decoder
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, sink, _ := walkJSON(t, &d, c.data, Options{})
			codes := sink.codes(tree.Warning)
			require.Len(t, codes, len(c.want), "%v", codes)
			for i, want := range c.want {
				assert.Contains(t, codes[i], want)
			}
			require.Len(t, got, c.decoded)
			for n := range c.data {
				check(t, &d, c.data[:n:n], Options{})
				check(t, &d, c.data[:n:n], Options{Missing: len(c.data) - n})
			}
		})
	}
}

// Every record of hostile data could be an issue; a walk reports only so many.
func TestIssuesAreCapped(t *testing.T) {
	d := New(Limits{Issues: 10})
	c, _ := check(t, d, testBatch{count: 1000}.encode(bytes.Repeat([]byte{0x0c, 0, 0, 0, 0x03, 0, 0}, 1000)), Options{})
	require.Len(t, c.issues, 11)
	assert.Equal(t, tree.CodeLimit, c.issues[10].Code)
}

// bombs are small values that decompress to 100 MiB of zeros.
func bombs(t testing.TB) map[string][]byte {
	const size = 100 << 20
	zeros := make([]byte, size)
	zero := compress(t, Snappy, zeros[:32<<10])
	framed := append([]byte{}, zero[:xerialHeader]...)
	for range size / (32 << 10) {
		framed = append(framed, zero[xerialHeader:]...)
	}
	noise := make([]byte, 100<<10) // raises what the ratio allows
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	return map[string][]byte{
		"zstd with noise": compress(t, Zstd, append(noise, zeros...)),
		"gzip":            compress(t, Gzip, zeros), "zstd": compress(t, Zstd, zeros), "snappy": framed,
		"lz4": compress(t, LZ4, zeros, lz4.BlockSizeOption(lz4.Block4Mb)), "raw snappy": snappy.Encode(nil, zeros),
	}
}

func TestBombs(t *testing.T) {
	codecs := map[string]int16{"gzip": 1, "snappy": 2, "raw snappy": 2, "lz4": 3, "zstd": 4, "zstd with noise": 4}
	for name, bomb := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			data := testBatch{count: 1, attributes: codecs[name]}.encode(bomb)
			for wrapped, data := range map[string][]byte{"batch": data, "message": testMessage(7, 1, byte(codecs[name]), nil, bomb)} {
				var d Decoder
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				c := newChecker(t, tree.Span{}, len(data))
				d.Walk(data, tree.Span{}, c, Options{})
				runtime.ReadMemStats(&after)
				c.done()
				codes := c.codes(tree.Warning)
				require.NotEmpty(t, codes, wrapped)
				assert.Contains(t, codes[0], "limit: ", wrapped)
				// Everything ever allocated, collected or not.
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), wrapped)
				t.Logf("%s: %d MiB allocated, %d MiB out", wrapped, (after.TotalAlloc-before.TotalAlloc)>>20, d.spent>>20)
				d.Reset()
				assert.LessOrEqual(t, cap(d.buf), keepBuffer)
			}
		})
	}
}

func TestTotalIsCapped(t *testing.T) {
	body := compress(t, Gzip, bytes.Repeat(one(), 100_000))
	data := bytes.Repeat(testBatch{count: 100_000, attributes: 1}.encode(body), 20)
	d := New(Limits{Total: 3 << 20})
	c, _ := check(t, d, data, Options{})
	assert.Contains(t, c.codes(tree.Warning)[len(c.codes(tree.Warning))-1], "limit: gzip")
	assert.LessOrEqual(t, d.spent, 3<<20)
}
