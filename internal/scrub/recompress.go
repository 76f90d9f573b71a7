package scrub

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compressor compresses to a given size. Its zero value is ready.
type compressor struct {
	deflate *flate.Writer
	zstd    []*zstd.Encoder
	lz4     lz4.CompressorHC
}

// to compresses data into exactly as many bytes as was has, in the framing that was has. It
// reports whether that could be done.
func (c *compressor) to(codec string, data, was []byte) ([]byte, bool) {
	switch codec {
	case "gzip":
		return c.gzip(data, len(was))
	case "snappy":
		return snappy(data, was)
	case "lz4":
		return c.lz4Frame(data, was)
	case "zstd":
		return c.zstdFrame(data, len(was))
	}
	return nil, false
}

const (
	gzipFixed = 10 + 8 // header and trailer
	gzipExtra = 1 << 2 // header flags
	gzipName  = 1 << 3
	maxExtra  = 1<<16 - 1
	gzipEmpty = 2 // bytes of an empty deflate stream
)

// gzip pads by header fields, and by empty members where one is not enough.
func (c *compressor) gzip(data []byte, size int) ([]byte, bool) {
	var body bytes.Buffer
	if c.deflate == nil {
		c.deflate, _ = flate.NewWriter(nil, flate.BestCompression) // the level is known
	}
	c.deflate.Reset(&body)
	_, _ = c.deflate.Write(data) // a bytes.Buffer takes everything
	_ = c.deflate.Close()
	pad := size - gzipFixed - body.Len()
	if pad < 0 {
		return nil, false
	}
	var out []byte
	for pad > maxExtra+2 {
		extra := min(maxExtra, pad-gzipFixed-gzipEmpty-2)
		out = gzipMember(out, extra+2, []byte{3, 0}, nil)
		pad -= gzipFixed + gzipEmpty + 2 + extra
	}
	return gzipMember(out, pad, body.Bytes(), data), true
}

// gzipMember appends a member with a padded header (RFC 1952).
func gzipMember(out []byte, pad int, body, data []byte) []byte {
	header := [10]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	switch {
	case pad == 1:
		header[3] = gzipName
	case pad > 1:
		header[3] = gzipExtra
	}
	out = append(out, header[:]...)
	switch {
	case pad == 1:
		out = append(out, 0)
	case pad > 1:
		out = binary.LittleEndian.AppendUint16(out, uint16(pad-2))
		out = append(out, make([]byte, pad-2)...)
	}
	out = append(out, body...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(out, uint32(len(data)))
}

// minSkippable is the size of an empty skippable frame.
const minSkippable = 8

// skippable appends a frame that readers of LZ4 and Zstandard pass over, in all n bytes. It
// reports false where n is too small for one.
func skippable(out []byte, n int) ([]byte, bool) {
	if n == 0 {
		return out, true
	}
	if n < minSkippable {
		return out, false
	}
	out = binary.LittleEndian.AppendUint32(out, 0x184D2A50)
	out = binary.LittleEndian.AppendUint32(out, uint32(n-minSkippable))
	return append(out, make([]byte, n-minSkippable)...), true
}

// splits is where data is cut in two for another size, in sixteenths, when the first falls short
// by less than a skippable frame.
var splits = []int{0, 8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15}

func (c *compressor) zstdFrame(data []byte, size int) ([]byte, bool) {
	if c.zstd == nil {
		for _, level := range []zstd.EncoderLevel{zstd.SpeedBestCompression, zstd.SpeedDefault} {
			for _, sum := range []bool{false, true} {
				e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(sum), zstd.WithEncoderConcurrency(1))
				if err != nil {
					return nil, false
				}
				c.zstd = append(c.zstd, e)
			}
		}
	}
	for _, split := range splits {
		cut := len(data) * split / 16
		for _, e := range c.zstd {
			var out []byte
			if cut > 0 {
				out = e.EncodeAll(data[:cut], out)
			}
			first := len(out)
			out = e.EncodeAll(data[cut:], out)
			if len(out) > size {
				continue
			}
			if last, ok := growZstd(out[first:], size-len(out)); ok && size-len(out) < minSkippable {
				return append(out[:first:first], last...), true
			}
			if out, ok := skippable(out, size-len(out)); ok {
				return out, true
			}
		}
		if len(c.zstd[0].EncodeAll(data, nil)) > size {
			return nil, false
		}
	}
	return nil, false
}

// lz4Frame keeps the size of blocks that was tells, and their independence.
func (c *compressor) lz4Frame(data, was []byte) ([]byte, bool) {
	const magic, flags = 0x184D2204, 0x60 // version 1, independent blocks, nothing else
	sizeCode := byte(4)
	if len(was) > 5 && was[5]>>4&7 > 4 {
		sizeCode = was[5] >> 4 & 7
	}
	most := 1 << (8 + 2*int(sizeCode))
	head := binary.LittleEndian.AppendUint32(nil, magic)
	head = append(head, flags, sizeCode<<4)
	head = append(head, byte(xxh32(head[4:])>>8))
	for _, split := range splits {
		out := bytes.Clone(head)
		cut := len(data) * split / 16
		for _, part := range [][]byte{data[:cut], data[cut:]} {
			for len(part) > 0 {
				block := part[:min(len(part), most)]
				out = c.lz4Block(out, block)
				part = part[len(block):]
			}
		}
		out = append(out, 0, 0, 0, 0)
		if len(out) > len(was) && split == 0 {
			return nil, false
		}
		if len(out) > len(was) {
			continue
		}
		if out, ok := skippable(out, len(was)-len(out)); ok {
			return out, true
		}
	}
	return nil, false
}

// lz4Block appends a block, compressed where that makes it smaller.
func (c *compressor) lz4Block(out, block []byte) []byte {
	buf := make([]byte, lz4.CompressBlockBound(len(block)))
	c.lz4.Level = lz4.Level9
	n, err := c.lz4.CompressBlock(block, buf)
	if err != nil || n == 0 || n >= len(block) {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(block))|1<<31)
		return append(out, block...)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(n))
	return append(out, buf[:n]...)
}

// xxh32 is the xxHash of fewer than four bytes.
func xxh32(b []byte) uint32 {
	const p1, p2, p3, p5 = 2654435761, 2246822519, 3266489917, 374761393
	h := uint32(p5) + uint32(len(b))
	for _, c := range b {
		h += uint32(c) * p5
		h = (h<<11 | h>>21) * p1
	}
	h = (h ^ h>>15) * p2
	h = (h ^ h>>13) * p3
	return h ^ h>>16
}

// xerialHeader is what the framing of snappy-java begins with: magic and two versions.
var xerialHeader = []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")

const xerialBlock = 32 << 10

// snappy pads by literals, which may be as short as one byte.
func snappy(data, was []byte) ([]byte, bool) {
	if !bytes.HasPrefix(was, xerialHeader[:8]) {
		b := s2.EncodeSnappyBest(nil, data)
		return growSnappy(b, data, len(was)-len(b))
	}
	out := bytes.Clone(xerialHeader)
	if len(was) >= len(out) {
		copy(out, was[:len(out)])
	}
	var blocks, parts [][]byte
	left := len(was) - len(out)
	for len(data) > 0 {
		part := data[:min(len(data), xerialBlock)]
		b := s2.EncodeSnappyBest(nil, part)
		blocks, parts = append(blocks, b), append(parts, part)
		left -= 4 + len(b)
		data = data[len(part):]
	}
	for i, b := range blocks {
		if left > 0 {
			// As much as the block can take.
			grown, _ := growSnappy(b, parts[i], left)
			left -= len(grown) - len(b)
			b = grown
		}
		out = binary.BigEndian.AppendUint32(out, uint32(len(b)))
		out = append(out, b...)
	}
	return out, left == 0
}

// growSnappy makes block, which is data compressed, longer by n bytes, or by as many as it can
// take; it reports whether it is n.
func growSnappy(block, data []byte, n int) ([]byte, bool) {
	if n <= 0 {
		return block, n == 0
	}
	_, at := binary.Uvarint(block)
	out := bytes.Clone(block[:at])
	for at < len(block) {
		length, size, literal := snappyElement(block[at:])
		text := data[:length]
		data = data[length:]
		raw := block[at : at+size]
		at += size
		if grow := literalSize(length) - size; !literal && (grow < 0 || grow > n) {
			out = append(out, raw...)
			continue
		}
		n -= literalSize(length) - size
		for n > 0 && len(text) > 1 {
			n -= 2 + literalSize(len(text)-1) - literalSize(len(text))
			out = append(out, 0, text[0])
			text = text[1:]
		}
		out = appendLiteral(out, text)
	}
	return out, n == 0
}

// snappyElement returns how many bytes the element at the start of b stands for, and takes.
func snappyElement(b []byte) (length, size int, literal bool) {
	switch b[0] & 3 {
	case 0:
		n, extra := int(b[0]>>2), 0
		if n >= 60 {
			extra = n - 59
			n = 0
			for i := range extra {
				n |= int(b[1+i]) << (8 * i)
			}
		}
		return n + 1, 1 + extra + n + 1, true
	case 1:
		return 4 + int(b[0]>>2&7), 2, false
	case 2:
		return 1 + int(b[0]>>2), 3, false
	}
	return 1 + int(b[0]>>2), 5, false
}

// literalSize is the size of a literal of n bytes.
func literalSize(n int) int {
	switch {
	case n <= 60:
		return 1 + n
	case n <= 1<<8:
		return 2 + n
	case n <= 1<<16:
		return 3 + n
	}
	return 4 + n
}

func appendLiteral(out, b []byte) []byte {
	n := len(b) - 1
	switch literalSize(len(b)) - len(b) {
	case 1:
		out = append(out, byte(n)<<2)
	case 2:
		out = append(out, 60<<2, byte(n))
	case 3:
		out = append(out, 61<<2, byte(n), byte(n>>8))
	default:
		out = append(out, 62<<2, byte(n), byte(n>>8), byte(n>>16))
	}
	return append(out, b...)
}
