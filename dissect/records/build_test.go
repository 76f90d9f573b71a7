package records

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
)

// testRecord is a record for building batches; nil is null.
type testRecord struct {
	timestampDelta int64
	offsetDelta    int64
	key, value     []byte
	headers        [][2][]byte
}

func putBytes(b, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(b, -1)
	}
	return append(binary.AppendVarint(b, int64(len(v))), v...)
}

func (r testRecord) encode() []byte {
	b := []byte{0}
	b = binary.AppendVarint(b, r.timestampDelta)
	b = binary.AppendVarint(b, r.offsetDelta)
	b = putBytes(putBytes(b, r.key), r.value)
	b = binary.AppendVarint(b, int64(len(r.headers)))
	for _, h := range r.headers {
		b = putBytes(putBytes(b, h[0]), h[1])
	}
	return append(binary.AppendVarint(nil, int64(len(b))), b...)
}

// testBatch is the head of a batch of magic 2 for building one.
type testBatch struct {
	baseOffset      int64
	attributes      int16
	lastOffsetDelta int32
	baseTimestamp   int64
	maxTimestamp    int64
	count           int32
	magic           int8
	wrongCRC        bool
}

func (h testBatch) encode(body []byte) []byte {
	if h.magic == 0 {
		h.magic = 2
	}
	b := make([]byte, batchHead, batchHead+len(body))
	be := binary.BigEndian
	be.PutUint64(b, uint64(h.baseOffset))
	be.PutUint32(b[8:], uint32(batchHead-headSize+len(body)))
	b[16] = byte(h.magic)
	be.PutUint16(b[21:], uint16(h.attributes))
	be.PutUint32(b[23:], uint32(h.lastOffsetDelta))
	be.PutUint64(b[27:], uint64(h.baseTimestamp))
	be.PutUint64(b[35:], uint64(h.maxTimestamp))
	for i := 43; i < 57; i++ {
		b[i] = 0xff
	}
	be.PutUint32(b[57:], uint32(h.count))
	b = append(b, body...)
	crc := crc32.Checksum(b[21:], castagnoli)
	if h.wrongCRC {
		crc++
	}
	be.PutUint32(b[17:], crc)
	return b
}

// plainBatch is a batch of n like records.
func plainBatch(n int) []byte {
	var body []byte
	for i := range n {
		body = append(body, testRecord{
			timestampDelta: int64(i), offsetDelta: int64(i),
			key: []byte("key-00"), value: bytes.Repeat([]byte("v"), 100),
			headers: [][2][]byte{{[]byte("trace"), []byte("0123456789")}}[:i%2],
		}.encode()...)
	}
	return testBatch{
		baseOffset: 5000, lastOffsetDelta: int32(n - 1), baseTimestamp: 1700000000000,
		maxTimestamp: 1700000000000 + int64(n-1), count: int32(n),
	}.encode(body)
}

// testMessage encodes a message of magic 0 or 1.
func testMessage(offset int64, magic int8, attributes byte, key, value []byte) []byte {
	m := []byte{byte(magic), attributes}
	if magic == 1 {
		m = binary.BigEndian.AppendUint64(m, 1700000000000)
	}
	for _, v := range [][]byte{key, value} {
		if v == nil {
			m = binary.BigEndian.AppendUint32(m, 0xffffffff)
			continue
		}
		m = append(binary.BigEndian.AppendUint32(m, uint32(len(v))), v...)
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(offset))
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(m)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(m))
	return append(b, m...)
}

// compress compresses data the way that producers do; snappy is framed.
func compress(t testing.TB, c Codec, data []byte, lz4Options ...lz4.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	switch c {
	case Gzip:
		w := gzip.NewWriter(&out)
		_, err := w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	case Snappy:
		out.Write(xerialMagic)
		out.Write([]byte{1, 0, 0, 0, 1, 0, 0, 0}) // little-endian version words, as some clients write
		for len(data) > 0 {
			n := min(len(data), 32<<10)
			block := snappy.Encode(nil, data[:n])
			out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(block))))
			out.Write(block)
			data = data[n:]
		}
	case LZ4:
		w := lz4.NewWriter(&out)
		require.NoError(t, w.Apply(append([]lz4.Option{lz4.BlockSizeOption(lz4.Block64Kb), lz4.ConcurrencyOption(1)}, lz4Options...)...))
		_, err := w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	case Zstd:
		w, err := zstd.NewWriter(&out)
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	default:
		return data
	}
	return out.Bytes()
}
