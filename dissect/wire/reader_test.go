package wire_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/wire"
)

func TestReaderVarints(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		b := binary.AppendVarint(nil, v)
		var r wire.Reader
		r.Reset(b, 0, len(b))
		assert.Equal(t, v, r.Varlong())
		assert.Equal(t, len(b), r.Off())
		if v >= math.MinInt32 && v <= math.MaxInt32 {
			r.Reset(b, 0, len(b))
			assert.Equal(t, int32(v), r.Varint())
		}
	}
}

func TestReaderVarlongOfCapturedBytes(t *testing.T) {
	// A timestamp delta as a producer sent it, 64 bits wide.
	b := []byte{0xa2, 0xd9, 0x9e, 0xea, 0x82, 0x68}
	want, n := binary.Varint(b)
	require.Equal(t, len(b), n)
	var r wire.Reader
	r.Reset(b, 0, len(b))
	assert.Equal(t, want, r.Varlong())
	assert.Greater(t, want, int64(math.MaxInt32))
}

func TestReaderErrors(t *testing.T) {
	overlong := []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x01}
	wide := []byte{0xff, 0xff, 0xff, 0xff, 0x1f}
	for _, c := range []struct {
		name  string
		buf   []byte
		end   int
		read  func(*wire.Reader)
		class wire.Class
		what  wire.What
	}{
		{"int32 beyond the region", []byte{1, 2, 3, 4}, 3, func(r *wire.Reader) { r.Int32() }, wire.Malformed, wire.ShortValue},
		{"int32 not captured", []byte{1, 2, 3}, 8, func(r *wire.Reader) { r.Int32() }, wire.Truncated, wire.ShortValue},
		{"bytes beyond the region", []byte{1, 2, 3}, 3, func(r *wire.Reader) { r.Bytes(4) }, wire.Malformed, wire.ShortBytes},
		{"bytes not captured", []byte{1, 2, 3}, 9, func(r *wire.Reader) { r.Bytes(4) }, wire.Truncated, wire.ShortBytes},
		{"negative length", []byte{1}, 1, func(r *wire.Reader) { r.Bytes(-2) }, wire.Malformed, wire.NegativeLength},
		{"varint of six bytes", overlong, 6, func(r *wire.Reader) { r.Uvarint() }, wire.Malformed, wire.VarintTooLong},
		{"varint of 33 bits", wide, 5, func(r *wire.Reader) { r.Uvarint() }, wire.Malformed, wire.VarintTooLong},
		{"varint not captured", []byte{0x80}, 5, func(r *wire.Reader) { r.Uvarint() }, wire.Truncated, wire.ShortValue},
		{"varint beyond the region", []byte{0x80, 1}, 1, func(r *wire.Reader) { r.Uvarint() }, wire.Malformed, wire.ShortValue},
		{"count beyond the bytes left", make([]byte, 64), 64, func(r *wire.Reader) { r.Count(math.MaxInt32, 4, 0) }, wire.Malformed, wire.CountTooLarge},
		{"count of empty elements", make([]byte, 64), 64, func(r *wire.Reader) { r.Count(65, 0, 0) }, wire.Malformed, wire.CountTooLarge},
		{"negative count", make([]byte, 64), 64, func(r *wire.Reader) { r.Count(-2, 1, 0) }, wire.Malformed, wire.NegativeLength},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r wire.Reader
			r.Reset(c.buf, 0, c.end)
			c.read(&r)
			err := r.Err()
			require.NotNil(t, err)
			assert.Equal(t, c.class, err.Class)
			assert.Equal(t, c.what, err.What)
			assert.NotEmpty(t, err.Error())
			// The error sticks: nothing moves any more.
			at := r.Off()
			assert.Zero(t, r.Int8())
			assert.Zero(t, r.Varlong())
			assert.Nil(t, r.Bytes(0))
			assert.Equal(t, at, r.Off())
		})
	}
}

func TestReaderNarrowContainsErrors(t *testing.T) {
	var r wire.Reader
	r.Reset([]byte{1, 2, 3, 4, 5, 6}, 1, 6)
	end := r.Narrow(2)
	r.Int32()
	require.True(t, r.Failed())
	err, failed := r.Widen(end)
	assert.True(t, failed)
	assert.Equal(t, wire.Malformed, err.Class)
	assert.Equal(t, 3, r.Off())
	assert.Equal(t, int8(4), r.Int8())
	assert.False(t, r.Failed())
}

func TestReaderWidenBehindTheCapture(t *testing.T) {
	var r wire.Reader
	r.Reset([]byte{1, 2}, 0, 8)
	end := r.Narrow(4)
	r.Int32()
	_, failed := r.Widen(end)
	assert.True(t, failed)
	require.True(t, r.Failed(), "what follows was not captured either")
	assert.Equal(t, wire.Truncated, r.Err().Class)
	assert.Equal(t, 2, r.Off())
}

func TestReaderWindowEndsWithWhatCanBeRead(t *testing.T) {
	var r wire.Reader
	r.Reset([]byte{1, 2, 3, 4}, 1, 8)
	assert.Equal(t, []byte{1, 2, 3, 4}, r.Window(), "captured")
	r.Narrow(2)
	assert.Equal(t, []byte{1, 2, 3}, r.Window(), "of the region")
	r.Seek(2)
	assert.Equal(t, int8(3), r.Int8())
	assert.Zero(t, r.Left())
}

func TestReaderBytesCannotGrowIntoTheBuffer(t *testing.T) {
	buf := []byte{1, 2, 3}
	var r wire.Reader
	r.Reset(buf, 0, 3)
	b := append(r.Bytes(1), 9)
	assert.Equal(t, []byte{1, 2, 3}, buf)
	assert.Equal(t, []byte{1, 9}, b)
}

func TestReaderDoesNotAllocate(t *testing.T) {
	b := binary.AppendVarint(make([]byte, 8), -12345)
	var r wire.Reader
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		r.Reset(b, 0, len(b))
		r.Int64()
		r.Varlong()
		r.Int64()
		_ = r.Err()
	}))
}

// What fails takes no bytes, so that whoever reports the rest leaves none out.
func TestVarintsThatFailTakeNothing(t *testing.T) {
	for _, b := range [][]byte{
		{0x8b, 0x8b, 0x8b, 0x8b, 0x30},       // 33 bits and more in five bytes
		{0xff, 0xff, 0xff, 0xff, 0x1f},       // one bit too many
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, // six bytes
		{0x80, 0x80},                         // no end
	} {
		for name, read := range map[string]func(*wire.Reader){"uvarint": func(r *wire.Reader) { r.Uvarint() }, "varint": func(r *wire.Reader) { r.Varint() }} {
			var r wire.Reader
			r.Reset(append([]byte{7}, b...), 1, len(b)+1)
			read(&r)
			require.True(t, r.Failed(), "%s of % x", name, b)
			assert.Equal(t, 1, r.Off(), "%s of % x", name, b)
			assert.Equal(t, 1, r.Err().Off, "%s of % x", name, b)
		}
	}
}
