package records

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Errors of decompression. What came out before them is still good.
var (
	errLimit = errors.New("decompressed size is over the cap")
	errShort = errors.New("compressed bytes end too early")
)

// inflater decompresses batches. Its codecs are made when first needed and kept.
type inflater struct {
	src  bytes.Reader
	gzip gzip.Reader
	zstd *zstd.Decoder
	lz4  lz4Notes
}

// firstBuffer is the least capacity of a buffer; growth multiplies it by bufferGrowth, so that
// all buffers on the way to a size take little more than that size.
const (
	firstBuffer  = 16 << 10
	bufferGrowth = 8
	zstdBlock    = 128 << 10 // most bytes of one block
)

// inflate decompresses src into buf, which it may replace by a larger one, and returns what came
// out, at most limit bytes, also with an error: errLimit, errShort, or corrupt input.
func (f *inflater) inflate(c Codec, src, buf []byte, limit int) ([]byte, error) {
	if cap(buf) < firstBuffer {
		buf = make([]byte, 0, min(limit, max(firstBuffer, 4*len(src))))
	}
	buf = buf[:0:min(cap(buf), limit)]
	f.lz4 = lz4Notes{}
	switch c {
	case Gzip:
		return f.gunzip(src, buf, limit)
	case Snappy:
		return unsnappy(src, buf, limit)
	case LZ4:
		return f.unlz4(src, buf, limit)
	case Zstd:
		return f.unzstd(src, buf, limit)
	}
	return buf, errors.ErrUnsupported
}

func (f *inflater) gunzip(src, buf []byte, limit int) ([]byte, error) {
	f.src.Reset(src)
	err := f.gzip.Reset(&f.src)
	for err == nil {
		if len(buf) == cap(buf) {
			if len(buf) == limit {
				return buf, f.behindLimit()
			}
			buf = grow(buf, len(buf)+1, limit)
		}
		var n int
		n, err = f.gzip.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
	}
	switch {
	case err == io.EOF && len(src) > 0:
		return buf, nil
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return buf, errShort
	}
	return buf, err
}

// behindLimit tells a stream that ends at the limit from one that goes on.
func (f *inflater) behindLimit() error {
	var one [1]byte
	for {
		n, err := f.gzip.Read(one[:])
		switch {
		case n > 0:
			return errLimit
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

func (f *inflater) unzstd(src, buf []byte, limit int) ([]byte, error) {
	if f.zstd == nil {
		// The window is the buffer itself, so memory is bounded by its capacity.
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return buf, err
		}
		f.zstd = d
	}
	for {
		room := cap(buf)
		out, err := f.zstd.DecodeAll(src, buf)
		over := len(out) > limit
		if over {
			out = out[:limit]
		}
		// Where a block does not fit, the error is not always that of size.
		full := errors.Is(err, zstd.ErrDecoderSizeExceeded) || err != nil && room-len(out) < zstdBlock
		switch {
		case over, full && room >= limit:
			return out, errLimit
		case full:
		case err == nil && len(src) == 0, errors.Is(err, io.ErrUnexpectedEOF):
			return out, errShort
		default:
			return out, err
		}
		buf = grow(buf[:0], room+1, limit)
	}
}

// grow returns buf with room for need bytes in all, its capacity at most limit; need is not
// above limit.
func grow(buf []byte, need, limit int) []byte {
	if need <= cap(buf) {
		return buf
	}
	room := max(need, bufferGrowth*cap(buf))
	if room > limit/2 {
		room = limit
	}
	bigger := make([]byte, len(buf), room)
	copy(bigger, buf)
	return bigger
}
