package records

import (
	"encoding/binary"
	"errors"

	"github.com/pierrec/lz4/v4"
)

// Parts of an LZ4 frame (https://github.com/lz4/lz4, doc/lz4_Frame_format.md).
const (
	lz4Magic         = 0x184D2204
	lz4SkipMagic     = 0x184D2A50 // to ...5F
	lz4FlagDict      = 0x01
	lz4FlagChecksum  = 0x04
	lz4FlagSize      = 0x08
	lz4FlagBlockSum  = 0x10
	lz4FlagIsolated  = 0x20
	lz4VersionMask   = 0xC0
	lz4Version       = 0x40
	lz4Stored        = 0x80000000 // of a block's size: it is not compressed
	lz4Window        = 64 << 10
	lz4Ratio         = 255 // most bytes that one byte of a block becomes
	lz4DescriptorMin = 3   // flags, block size, checksum
)

var (
	errLZ4Magic   = errors.New("lz4: no frame magic")
	errLZ4Version = errors.New("lz4: unknown frame version")
	errLZ4Block   = errors.New("lz4: block larger than the frame allows")
)

// lz4Notes are what is odd about frames that could be decompressed all the same.
type lz4Notes struct {
	header  lz4Header
	block   bool // the checksum of a block does not fit
	content bool // the checksum of the content does not fit
	size    bool // the content size does not fit
}

// lz4Header is the verdict on the checksum of a frame's header.
type lz4Header uint8

const (
	lz4HeaderGood lz4Header = iota
	lz4HeaderOld            // taken over the frame's magic too, as clients of magic 0 did (KAFKA-3160)
	lz4HeaderBad
)

func (f *inflater) unlz4(src, buf []byte, limit int) ([]byte, error) {
	for first := true; first || len(src) > 0; first = false {
		if len(src) < 4 {
			return buf, errShort
		}
		switch m := binary.LittleEndian.Uint32(src); {
		case m == lz4Magic:
			var err error
			if buf, src, err = f.lz4Frame(src, buf, limit); err != nil {
				return buf, err
			}
		case m&^0xF == lz4SkipMagic:
			if len(src) < 8 || int64(binary.LittleEndian.Uint32(src[4:])) > int64(len(src)-8) {
				return buf, errShort
			}
			src = src[8+binary.LittleEndian.Uint32(src[4:]):]
		default:
			return buf, errLZ4Magic
		}
	}
	return buf, nil
}

// lz4Frame appends the content of the frame at the start of src to buf and returns what follows
// the frame.
func (f *inflater) lz4Frame(src, buf []byte, limit int) (out, rest []byte, err error) {
	if len(src) < 4+lz4DescriptorMin {
		return buf, nil, errShort
	}
	flags, blockMax := src[4], 1<<(8+2*(src[5]>>4&7))
	if flags&lz4VersionMask != lz4Version {
		return buf, nil, errLZ4Version
	}
	end := 6
	size := int64(-1)
	if flags&lz4FlagSize != 0 {
		if len(src) < end+8 {
			return buf, nil, errShort
		}
		size = int64(binary.LittleEndian.Uint64(src[end:]))
		end += 8
	}
	if flags&lz4FlagDict != 0 {
		end += 4
	}
	if len(src) <= end {
		return buf, nil, errShort
	}
	if v := lz4HeaderVerdict(src[:end], src[end]); v > f.lz4.header {
		f.lz4.header = v
	}
	src = src[end+1:]
	start := len(buf)
	for {
		if len(src) < 4 {
			return buf, nil, errShort
		}
		word := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if word == 0 {
			break
		}
		n := int(word &^ lz4Stored)
		if n > len(src) {
			return buf, nil, errShort
		}
		block := src[:n]
		src = src[n:]
		if flags&lz4FlagBlockSum != 0 {
			if len(src) < 4 {
				return buf, nil, errShort
			}
			f.lz4.block = f.lz4.block || binary.LittleEndian.Uint32(src) != xxh32(block)
			src = src[4:]
		}
		if word&lz4Stored != 0 {
			if buf, err = lz4Store(block, buf, limit); err != nil {
				return buf, nil, err
			}
			continue
		}
		dict := buf[start:]
		if flags&lz4FlagIsolated != 0 {
			dict = nil
		}
		if buf, err = lz4Block(block, buf, dict, blockMax, limit); err != nil {
			return buf, nil, err
		}
	}
	if flags&lz4FlagChecksum != 0 {
		if len(src) < 4 {
			return buf, nil, errShort
		}
		f.lz4.content = f.lz4.content || binary.LittleEndian.Uint32(src) != xxh32(buf[start:])
		src = src[4:]
	}
	f.lz4.size = f.lz4.size || size >= 0 && size != int64(len(buf)-start)
	return buf, src, nil
}

// lz4HeaderVerdict checks the sum of a frame's header, which starts with the magic.
func lz4HeaderVerdict(header []byte, sum byte) lz4Header {
	switch sum {
	case byte(xxh32(header[4:]) >> 8):
		return lz4HeaderGood
	case byte(xxh32(header) >> 8):
		return lz4HeaderOld
	}
	return lz4HeaderBad
}

func lz4Store(block, buf []byte, limit int) ([]byte, error) {
	n := min(len(block), limit-len(buf))
	buf = append(grow(buf, len(buf)+n, limit), block[:n]...)
	if n < len(block) {
		return buf, errLimit
	}
	return buf, nil
}

func lz4Block(block, buf, dict []byte, blockMax, limit int) ([]byte, error) {
	need := min(blockMax, lz4Ratio*len(block))
	room := min(need, limit-len(buf))
	if len(dict) > lz4Window {
		dict = dict[len(dict)-lz4Window:]
	}
	buf = grow(buf, len(buf)+room, limit)
	n, err := lz4.UncompressBlockWithDict(block, buf[len(buf):len(buf)+room], dict)
	switch {
	case err == nil:
		return buf[:len(buf)+n], nil
	case room < need:
		return buf, errLimit
	case need == blockMax && errors.Is(err, lz4.ErrInvalidSourceShortBuffer):
		return buf, errLZ4Block
	}
	return buf, err
}
