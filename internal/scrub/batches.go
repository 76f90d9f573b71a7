package scrub

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// Places in an entry of a record set: a batch of magic 2, or a message of magic 0 or 1.
const (
	headSize  = 12 // offset and size
	magicAt   = 16
	batchHead = 61

	crcAt         = 17 // of a batch; a message has it at 12
	attributesAt  = 21
	lastDeltaAt   = 23
	baseTimeAt    = 27
	maxTimeAt     = 35
	countAt       = 57
	codecBits     = 7
	logAppendTime = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fixChecksums computes the checksums of the entries of a record set anew, where those of the
// original were right. A wrong one stays as it was.
func fixChecksums(in, out []byte) {
	for len(in) > magicAt {
		size := int64(int32(binary.BigEndian.Uint32(in[8:]))) + headSize
		if size > int64(len(in)) || size <= magicAt {
			return
		}
		fixChecksum(in[:size], out[:size])
		in, out = in[size:], out[size:]
	}
}

func fixChecksum(in, out []byte) {
	at, from, sum := headSize, magicAt, crc32.ChecksumIEEE
	if in[magicAt] == 2 {
		if len(in) < batchHead {
			return
		}
		at, from = crcAt, attributesAt
		sum = func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
	}
	if binary.BigEndian.Uint32(in[at:]) == sum(in[from:]) {
		binary.BigEndian.PutUint32(out[at:], sum(out[from:]))
	}
}

// recompress puts d back to where it was decompressed from, in as many bytes as it had.
func (s *frames) recompress(d *derived) {
	in, out := s.buffers(d.origin.Source)
	was, now := in[d.origin.Off:d.origin.End()], out[d.origin.Off:d.origin.End()]
	switch {
	case d.damaged:
		s.batches.Zeroed++
		fill(now, 0)
		return
	case len(d.in) == 0: // nothing was compressed
		return
	}
	message := d.entry.Desc != nil && d.entry.Desc.Name == messageName
	for _, filled := range []bool{false, true} {
		if filled {
			for _, e := range d.data {
				fill(d.out[e.off:e.off+e.n], e.fill)
			}
		}
		if message {
			fixChecksums(d.in, d.out)
		}
		if b, ok := s.press.to(d.codec, d.out, was); ok {
			copy(now, b)
			if filled {
				s.batches.Filled++
			} else {
				s.batches.Recompressed++
			}
			return
		}
	}
	s.batches.Replaced++
	entry := out[d.entry.Span.Off:]
	switch {
	case d.entry.Desc == nil:
		fill(now, 0)
		if b, ok := s.press.to(d.codec, emptyMetrics(len(was)), was); ok {
			copy(now, b)
		}
	case message:
		entry[magicAt+1] &^= codecBits
		fill(now, 'x')
	default:
		blank(entry[:batchHead], now)
	}
}

// emptyMetrics returns metrics of no instance that can be compressed to size bytes: a field that
// no reader knows, full of zeros.
func emptyMetrics(size int) []byte {
	n := size * 3 / 4
	return append(binary.AppendUvarint([]byte{15<<3 | 2}, uint64(n)), make([]byte, n)...)
}

// blank makes a batch one with a single uncompressed record of filler, at its last offset and
// its latest time.
func blank(head, records []byte) {
	head[attributesAt+1] &^= codecBits
	binary.BigEndian.PutUint32(head[countAt:], 1)
	last := int64(int32(binary.BigEndian.Uint32(head[lastDeltaAt:])))
	var after int64
	if head[attributesAt+1]&logAppendTime == 0 {
		after = int64(binary.BigEndian.Uint64(head[maxTimeAt:]) - binary.BigEndian.Uint64(head[baseTimeAt:]))
	}
	front := []byte{0} // attributes
	front = binary.AppendVarint(front, after)
	front = binary.AppendVarint(front, last)
	front = append(front, 1) // no key
	// Both lengths take as many bytes as the larger would need, so that every size can be met.
	width := (bits.Len(uint(2*len(records))) + 6) / 7
	value := len(records) - 2*width - len(front) - 1
	if value < 0 {
		binary.BigEndian.PutUint32(head[countAt:], 0)
		fill(records, 0)
		return
	}
	b := appendWide(records[:0], len(records)-width, width)
	b = append(b, front...)
	b = appendWide(b, value, width)
	fill(records[len(b):len(records)-1], 'x')
	records[len(records)-1] = 0 // no headers
}

// appendWide appends n as a zigzag varint of that many bytes.
func appendWide(b []byte, n, width int) []byte {
	v := uint64(n) << 1
	for range width - 1 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
