package scrub

import (
	"encoding/binary"
	"math/bits"
)

// zstdHeader is the header of a Zstandard frame (RFC 8878, 3.1.1.1), without a dictionary.
type zstdHeader struct {
	single bool // no window size: the content is one segment
	window byte
	size   uint64 // of the content; holds where field is not 0
	field  int    // bytes that the size takes: 0, 1, 2, 4 or 8
	sum    bool
	len    int
}

// Parts of the descriptor that a frame begins with behind its magic.
const (
	zstdSingle = 1 << 5
	zstdSum    = 1 << 2
	zstdDict   = 3
)

// readZstdHeader reads the header of a frame. It reports false where there is none, or one with
// a dictionary.
func readZstdHeader(b []byte) (h zstdHeader, ok bool) {
	if len(b) < 5 || b[4]&zstdDict != 0 {
		return h, false
	}
	h.single, h.sum = b[4]&zstdSingle != 0, b[4]&zstdSum != 0
	at := 5
	if !h.single {
		if len(b) <= at {
			return h, false
		}
		h.window = b[at]
		at++
	}
	if h.field = 1 << (b[4] >> 6); h.field == 1 && !h.single {
		h.field = 0
	}
	if len(b) < at+h.field {
		return h, false
	}
	var le [8]byte
	copy(le[:], b[at:at+h.field])
	if h.size = binary.LittleEndian.Uint64(le[:]); h.field == 2 {
		h.size += 256
	}
	h.len = at + h.field
	return h, true
}

// append appends the header with the size in that many bytes.
func (h *zstdHeader) append(out, magic []byte) []byte {
	out = append(out, magic...)
	d := byte(bits.Len(uint(h.field))-1) & 3
	if h.field <= 1 {
		d = 0
	}
	d <<= 6
	if h.single {
		d |= zstdSingle
	}
	if h.sum {
		d |= zstdSum
	}
	out = append(out, d)
	if !h.single {
		out = append(out, h.window)
	}
	size := h.size
	if h.field == 2 {
		size -= 256
	}
	var le [8]byte
	binary.LittleEndian.PutUint64(le[:], size)
	return append(out, le[:h.field]...)
}

// fits reports whether the size can be written in field bytes.
func (h *zstdHeader) fits(field int) bool {
	switch field {
	case 1:
		return h.single && h.size < 256
	case 2:
		return h.size >= 256 && h.size < 256+1<<16
	case 4:
		return h.size < 1<<32
	}
	return field == 8
}

// zstdEmptyBlock is a block that holds nothing.
const zstdEmptyBlock = 3

// growZstd makes a frame longer by n bytes: by wider fields in its header and by empty blocks.
func growZstd(frame []byte, n int) ([]byte, bool) {
	h, ok := readZstdHeader(frame)
	if !ok || h.field == 0 {
		return nil, false
	}
	for _, single := range []bool{true, false} {
		for _, field := range []int{1, 2, 4, 8} {
			wide := h
			wide.single, wide.field = single, field
			if !single {
				log := max(bits.Len64(h.size), 10)
				wide.window = byte(log-10) << 3
			}
			if single && !h.single || !wide.fits(field) {
				continue
			}
			out := wide.append(nil, frame[:4])
			blocks := n - (len(out) - h.len)
			if blocks < 0 || blocks%zstdEmptyBlock != 0 {
				continue
			}
			out = append(out, make([]byte, blocks)...)
			return append(out, frame[h.len:]...), true
		}
	}
	return nil, false
}
