package records

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

// contents are data of many sizes and kinds.
func contents() [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	var out [][]byte
	for _, n := range []int{1, 15, 16, 17, 100, 5000, 70_000, 300_000} {
		text := make([]byte, n)
		noise := make([]byte, n)
		for i := range n {
			text[i] = "abcdef"[random.IntN(6)]
			noise[i] = byte(random.Uint32())
		}
		out = append(out, text, noise, bytes.Repeat([]byte{'x'}, n))
	}
	return out
}

func TestInflate(t *testing.T) {
	f := inflater{}
	encoders := map[string]struct {
		codec  Codec
		encode func([]byte) []byte
	}{
		"gzip": {Gzip, func(b []byte) []byte { return compress(t, Gzip, b) }},
		"gzip joined": {Gzip, func(b []byte) []byte {
			return append(compress(t, Gzip, b[:len(b)/2]), compress(t, Gzip, b[len(b)/2:])...)
		}},
		"snappy framed":  {Snappy, func(b []byte) []byte { return compress(t, Snappy, b) }},
		"snappy raw":     {Snappy, func(b []byte) []byte { return snappy.Encode(nil, b) }},
		"lz4":            {LZ4, func(b []byte) []byte { return compress(t, LZ4, b) }},
		"lz4 plain":      {LZ4, func(b []byte) []byte { return compress(t, LZ4, b, lz4.ChecksumOption(false)) }},
		"lz4 block sums": {LZ4, func(b []byte) []byte { return compress(t, LZ4, b, lz4.BlockChecksumOption(true)) }},
		"lz4 sized":      {LZ4, func(b []byte) []byte { return compress(t, LZ4, b, lz4.SizeOption(uint64(len(b)))) }},
		"lz4 large":      {LZ4, func(b []byte) []byte { return compress(t, LZ4, b, lz4.BlockSizeOption(lz4.Block4Mb)) }},
		"zstd":           {Zstd, func(b []byte) []byte { return compress(t, Zstd, b) }},
	}
	for name, e := range encoders {
		t.Run(name, func(t *testing.T) {
			var buf []byte
			for _, content := range contents() {
				src := e.encode(content)
				out, err := f.inflate(e.codec, src, buf, 1<<20)
				require.NoError(t, err)
				assert.True(t, bytes.Equal(content, out), "%d bytes", len(content))
				assert.Zero(t, f.lz4)

				out, err = f.inflate(e.codec, src, nil, len(content))
				require.NoError(t, err, "limit equal to size")
				assert.True(t, bytes.Equal(content, out))

				limit := len(content) - 1
				out, err = f.inflate(e.codec, src, nil, limit)
				require.ErrorIs(t, err, errLimit)
				assert.True(t, bytes.HasPrefix(content, out), "what came out before the limit is good")
				assert.LessOrEqual(t, len(out), limit)

				for _, cut := range []int{1, 4, len(src) / 2, len(src) - 1} {
					cut = min(cut, len(src)-1)
					out, _ = f.inflate(e.codec, src[:cut:cut], buf, 1<<20)
					assert.True(t, bytes.HasPrefix(content, out) || len(out) == 0 || e.codec == Snappy, "cut at %d", cut)
				}
				buf = out[:0]
			}
		})
	}
}

// Blocks of a frame may refer to those before them; made by hand, as the encoder does not.
func TestLZ4LinkedBlocks(t *testing.T) {
	first := []byte("0123456789abcdef")
	src := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	src = append(src, lz4Version, 0x40)
	src = append(src, byte(xxh32(src[4:])>>8))
	src = binary.LittleEndian.AppendUint32(src, uint32(len(first))|lz4Stored)
	src = append(src, first...)
	// Match of 16 bytes, 16 back, then 5 literals.
	block := []byte{0x0c, 16, 0, 0x50, 'V', 'W', 'X', 'Y', 'Z'}
	src = binary.LittleEndian.AppendUint32(src, uint32(len(block)))
	src = append(src, block...)
	src = append(src, 0, 0, 0, 0)
	f := inflater{}
	out, err := f.inflate(LZ4, src, nil, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, "0123456789abcdef0123456789abcdefVWXYZ", string(out))
}

func TestLZ4Oddities(t *testing.T) {
	record := one()
	frame := func(change func([]byte) []byte, o ...lz4.Option) []byte {
		return change(compress(t, LZ4, record, append(o, lz4.ChecksumOption(true), lz4.BlockChecksumOption(true), lz4.SizeOption(uint64(len(record))))...))
	}
	old := func(b []byte) []byte { b[14] = byte(xxh32(b[:14]) >> 8); return b }
	cases := []struct {
		name  string
		frame []byte
		want  string
	}{
		{"header checksum over the magic", frame(old), "lz4 header checksum does not fit"},
		{"header checksum", frame(func(b []byte) []byte { b[14] ^= 0x55; return b }), "lz4 header checksum does not fit"},
		{"content checksum", frame(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), "lz4 content checksum does not fit"},
		{"block checksum", frame(func(b []byte) []byte { b[len(b)-9] ^= 1; return b }), "lz4 block checksum does not fit"},
		{"content size", frame(func(b []byte) []byte { b[6]++; b[14] = byte(xxh32(b[4:14]) >> 8); return b }), "lz4 content size does not fit"},
	}
	var d Decoder
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, sink, _ := walkJSON(t, &d, testBatch{count: 1, attributes: 3}.encode(c.frame), Options{})
			require.Len(t, sink.issues, 1)
			assert.Equal(t, tree.Warning, sink.issues[0].Severity)
			assert.Equal(t, c.want, sink.issues[0].Text)
			records := got[0].(map[string]any)["records"].([]any)
			require.Len(t, records, 1, "decompressed all the same")
		})
	}
	t.Run("header checksum over the magic in magic 0", func(t *testing.T) {
		set := compress(t, LZ4, testMessage(3, 0, 0, nil, []byte("v")))
		set[6] = byte(xxh32(set[:6]) >> 8)
		_, sink, _ := walkJSON(t, &d, testMessage(3, 0, 3, nil, set), Options{})
		require.Len(t, sink.issues, 1)
		assert.Equal(t, tree.Info, sink.issues[0].Severity)
	})
}

func TestXXH32(t *testing.T) {
	// From the specification's test vectors, and the sums that an LZ4 encoder writes.
	assert.Equal(t, uint32(0x02CC5D05), xxh32(nil))
	assert.Equal(t, uint32(0x550D7456), xxh32([]byte("a")))
	for _, content := range contents() {
		frame := compress(t, LZ4, content)
		assert.Equal(t, binary.LittleEndian.Uint32(frame[len(frame)-4:]), xxh32(content), "%d bytes", len(content))
	}
}

func TestCodecWords(t *testing.T) {
	assert.Equal(t, "zstd", Zstd.String())
	assert.Equal(t, "codec-6", Codec(6).String())
	assert.Equal(t, Snappy, (CodecSet(1<<None | 1<<Snappy | 1<<Zstd)).First())
	assert.Equal(t, None, CodecSet(1).First())
	assert.Equal(t, "gzip, LogAppendTime, transactional, control", fmt.Sprint(batchAttributes{}.Name(0x39)))
	assert.Equal(t, "lz4", messageAttributes{0}.Name(3))
	assert.Equal(t, "none, LogAppendTime", messageAttributes{1}.Name(8))
}
