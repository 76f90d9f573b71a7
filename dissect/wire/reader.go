package wire

import (
	"encoding/binary"
	"math"
)

// Reader reads from a buffer inside a region. The region may go on behind the buffer, where
// bytes were not captured: running out of the region is malformed, running out of the buffer
// is truncated. The first error sticks: getters then return zero and do not move, so loops
// that are driven by a count from the wire must also check Failed.
type Reader struct {
	buf    []byte // captured bytes
	off    int
	end    int // of the region; may lie behind len(buf)
	failed bool
	err    Error
}

// Reset starts reading at off in b, in a region that ends at end.
func (r *Reader) Reset(b []byte, off, end int) {
	r.buf, r.off, r.end, r.failed = b, min(off, end), end, false
}

// Off returns the offset of the next byte.
func (r *Reader) Off() int { return r.off }

// End returns the end of the region.
func (r *Reader) End() int { return r.end }

// Left returns the bytes left in the region, captured or not.
func (r *Reader) Left() int { return r.end - r.off }

// Captured returns the bytes left that can be read.
func (r *Reader) Captured() int { return max(min(r.end, len(r.buf))-r.off, 0) }

// Window returns the buffer up to the end of the region: what is behind Off there can be read.
func (r *Reader) Window() []byte { return r.buf[:min(r.end, len(r.buf))] }

// Seek goes on at off, which lies in the window: what is before it was read there.
func (r *Reader) Seek(off int) { r.off = off }

// Buf returns the whole buffer.
func (r *Reader) Buf() []byte { return r.buf }

// Failed reports whether an error stuck.
func (r *Reader) Failed() bool { return r.failed }

// Err returns the error that stuck, or nil.
func (r *Reader) Err() *Error {
	if !r.failed {
		return nil
	}
	return &r.err
}

// Fail makes an error stick, unless one does already.
func (r *Reader) Fail(c Class, off int, w What, want, have int64) {
	if !r.failed {
		r.failed = true
		r.err = Error{c, off, w, want, have}
	}
}

// Rewind goes back to off after an error, so that Off tells what was read whole.
func (r *Reader) Rewind(off int) { r.off = off }

// Narrow makes the next n bytes the region and returns the end to give to Widen. An n beyond
// the region is an error.
func (r *Reader) Narrow(n int) (end int) {
	end = r.end
	if r.failed {
		return end
	}
	if n < 0 || n > r.Left() {
		r.Fail(Malformed, r.off, ShortBytes, int64(n), int64(r.Left()))
		return end
	}
	r.end = r.off + n
	return end
}

// Widen ends a Narrow: the error is taken back and returned, if there is one, and reading goes on
// behind the narrow region, as far as it was captured.
func (r *Reader) Widen(end int) (err Error, failed bool) {
	err, failed = r.err, r.failed
	r.failed = false
	r.off, r.end = r.end, end
	if r.off > len(r.buf) {
		r.off = len(r.buf)
		r.Fail(Truncated, r.off, ShortBytes, int64(r.end-r.off), 0)
	}
	return err, failed
}

// need reports whether n more bytes can be read.
func (r *Reader) need(n int) bool {
	if r.failed {
		return false
	}
	if n > r.end-r.off {
		r.Fail(Malformed, r.off, ShortValue, int64(n), int64(r.Left()))
		return false
	}
	if n > len(r.buf)-r.off {
		r.Fail(Truncated, r.off, ShortValue, int64(n), int64(r.Captured()))
		return false
	}
	return true
}

// Int8 reads one byte.
func (r *Reader) Int8() int8 {
	if !r.need(1) {
		return 0
	}
	v := int8(r.buf[r.off])
	r.off++
	return v
}

// Int16 reads two bytes.
func (r *Reader) Int16() int16 {
	if !r.need(2) {
		return 0
	}
	v := int16(binary.BigEndian.Uint16(r.buf[r.off:]))
	r.off += 2
	return v
}

// Int32 reads four bytes.
func (r *Reader) Int32() int32 {
	if !r.need(4) {
		return 0
	}
	v := int32(binary.BigEndian.Uint32(r.buf[r.off:]))
	r.off += 4
	return v
}

// Int64 reads eight bytes.
func (r *Reader) Int64() int64 {
	if !r.need(8) {
		return 0
	}
	v := int64(binary.BigEndian.Uint64(r.buf[r.off:]))
	r.off += 8
	return v
}

// Uvarint reads an unsigned varint of 32 bits: at most five bytes.
func (r *Reader) Uvarint() uint32 {
	if r.failed {
		return 0
	}
	if r.off < len(r.buf) && r.off < r.end {
		if b := r.buf[r.off]; b < 0x80 {
			r.off++
			return uint32(b)
		}
	}
	off := r.off
	v := r.uvarint(5)
	if v > math.MaxUint32 {
		r.off = off
		r.Fail(Malformed, off, VarintTooLong, 0, 0)
		return 0
	}
	return uint32(v)
}

// Varint reads a zigzag varint of 32 bits.
func (r *Reader) Varint() int32 {
	u := r.Uvarint()
	return int32(u>>1) ^ -int32(u&1)
}

// Varlong reads a zigzag varint of 64 bits: at most ten bytes.
func (r *Reader) Varlong() int64 {
	if r.failed {
		return 0
	}
	u := r.uvarint(10)
	return int64(u>>1) ^ -int64(u&1)
}

// uvarint reads at most most bytes and leaves the reader where it was on an error.
func (r *Reader) uvarint(most int) uint64 {
	var v uint64
	for i := range most {
		at := r.off + i
		if at >= r.end {
			r.Fail(Malformed, r.off, ShortValue, int64(i+1), int64(r.Left()))
			return 0
		}
		if at >= len(r.buf) {
			r.Fail(Truncated, r.off, ShortValue, int64(i+1), int64(r.Captured()))
			return 0
		}
		b := r.buf[at]
		if i == 9 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.off = at + 1
			return v
		}
	}
	r.Fail(Malformed, r.off, VarintTooLong, 0, 0)
	return 0
}

// Bytes returns the next n bytes, which alias the buffer and cannot be appended into it.
// A negative n is an error.
func (r *Reader) Bytes(n int) []byte {
	if r.failed {
		return nil
	}
	switch {
	case n < 0:
		r.Fail(Malformed, r.off, NegativeLength, int64(n), 0)
		return nil
	case n > r.Left():
		r.Fail(Malformed, r.off, ShortBytes, int64(n), int64(r.Left()))
		return nil
	case n > len(r.buf)-r.off:
		r.Fail(Truncated, r.off, ShortBytes, int64(n), int64(r.Captured()))
		return nil
	}
	b := r.buf[r.off : r.off+n : r.off+n]
	r.off += n
	return b
}

// Skip passes n bytes over.
func (r *Reader) Skip(n int) { r.Bytes(n) }

// Count checks a count from the wire against the bytes left, each element taking at least
// minSize bytes, and returns it; 0 on an error. Counts of elements that may take no bytes are
// held to the number of bytes left.
func (r *Reader) Count(n int64, minSize int, off int) int {
	if r.failed {
		return 0
	}
	if n < 0 {
		r.Fail(Malformed, off, NegativeLength, n, 0)
		return 0
	}
	if left := int64(r.Left()); n > left || n*int64(max(minSize, 1)) > left {
		r.Fail(Malformed, off, CountTooLarge, n, int64(r.Left()))
		return 0
	}
	return int(n)
}

// UvarintLen returns the bytes that an unsigned varint takes in its shortest form.
func UvarintLen(v uint32) int {
	n := 1
	for v >= 0x80 {
		v >>= 7
		n++
	}
	return n
}
