package scrub

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/records"
)

// sample returns n bytes that compress to about half.
func sample(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnop"[r.Intn(16)]
		if i > 40 && r.Intn(8) > 0 {
			b[i] = b[i-37]
		}
	}
	return b
}

// smallest returns the size that data have at best.
func smallest(t *testing.T, c *compressor, codec records.Codec, data, head []byte) int {
	switch codec {
	case records.Gzip:
		low, high := 0, 2*len(data)+100
		for low < high {
			if _, ok := c.gzip(data, (low+high)/2); ok {
				high = (low + high) / 2
			} else {
				low = (low+high)/2 + 1
			}
		}
		return low
	case records.Snappy:
		if len(head) < len(xerialHeader) {
			return len(s2.EncodeSnappyBest(nil, data))
		}
		n := len(xerialHeader)
		for part := data; len(part) > 0; part = part[min(len(part), xerialBlock):] {
			n += 4 + len(s2.EncodeSnappyBest(nil, part[:min(len(part), xerialBlock)]))
		}
		return n
	case records.LZ4:
		tail := 0
		if len(data) > 64<<10 {
			tail = len(c.lz4Block(nil, data[64<<10:]))
		}
		return 4 + 3 + 4 + len(c.lz4Block(nil, data[:min(len(data), 64<<10)])) + tail
	}
	_, ok := c.zstdFrame(data, 0)
	require.False(t, ok)
	return len(c.zstd[0].EncodeAll(data, nil))
}

func TestEverySizeIsMet(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var c compressor
	d := records.New(records.Limits{})
	bare := s2.EncodeSnappyBest(nil, []byte("x"))
	for _, tc := range []struct {
		name  string
		codec records.Codec
		head  []byte
		// How many sizes above the smallest may not be met.
		missed int
	}{
		{"gzip", records.Gzip, nil, 0},
		{"snappy", records.Snappy, bare, 0},
		{"xerial", records.Snappy, xerialHeader, 0},
		{"lz4", records.LZ4, nil, 8},
		{"zstd", records.Zstd, nil, 6},
	} {
		for _, n := range []int{30, 300, 3000, 70_000} {
			t.Run(fmt.Sprint(tc.name, "/", n), func(t *testing.T) {
				data := sample(r, n)
				size, missed := smallest(t, &c, tc.codec, data, tc.head), 0
				require.Less(t, size, n+40)
				for extra := range min(n/2, 40) {
					was := append(bytes.Clone(tc.head), make([]byte, size+extra)...)[:size+extra]
					b, ok := c.to(tc.codec.String(), data, was)
					if !ok {
						missed++
						continue
					}
					require.Len(t, b, len(was))
					back, err := d.Inflate(tc.codec, b)
					require.NoError(t, err)
					require.True(t, bytes.Equal(data, back))
					d.Reset()
				}
				assert.LessOrEqual(t, missed, tc.missed)
			})
		}
	}
}

func TestGzipOfAnySize(t *testing.T) {
	var c compressor
	d := records.New(records.Limits{})
	for _, size := range []int{65_560, 65_600, 131_100, 1_000_000} {
		b, ok := c.gzip([]byte("some data"), size)
		require.True(t, ok)
		require.Len(t, b, size)
		back, err := d.Inflate(records.Gzip, b)
		require.NoError(t, err)
		assert.Equal(t, "some data", string(back))
	}
}

func TestZstdHeadersGrow(t *testing.T) {
	e, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	plain, err := zstd.NewReader(nil)
	require.NoError(t, err)
	for _, n := range []int{300, 70_000} {
		data := sample(rand.New(rand.NewSource(2)), n)
		frame := e.EncodeAll(data, nil)
		for _, grow := range []int{1, 2, 3, 4, 5, 6, 7} {
			b, ok := growZstd(frame, grow)
			if !ok {
				continue
			}
			require.Len(t, b, len(frame)+grow)
			back, err := plain.DecodeAll(b, nil)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(data, back))
		}
	}
}
