package records

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/snappy"
)

// xerialMagic starts the framing of snappy-java, which most clients send: the magic, two version
// words and then blocks, each behind its int32 length. Some clients send one bare block.
var xerialMagic = []byte("\x82SNAPPY\x00")

const (
	xerialHeader = 16
	// snappyRatio is more than one snappy byte can become: three make up to 64.
	snappyRatio = 32
)

var errSnappyLength = errors.New("snappy: block length cannot be")

func unsnappy(src, buf []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) {
		return unsnappyBlock(src, buf, limit)
	}
	for len(src) > 0 {
		if bytes.HasPrefix(src, xerialMagic) { // also between joined streams
			if len(src) < xerialHeader {
				return buf, errShort
			}
			src = src[xerialHeader:]
			continue
		}
		if len(src) < 4 {
			return buf, errShort
		}
		n := int64(int32(binary.BigEndian.Uint32(src)))
		if n < 0 {
			return buf, errSnappyLength
		}
		if n > int64(len(src)-4) {
			return buf, errShort
		}
		var err error
		if buf, err = unsnappyBlock(src[4:4+n], buf, limit); err != nil {
			return buf, err
		}
		src = src[4+n:]
	}
	return buf, nil
}

func unsnappyBlock(src, buf []byte, limit int) ([]byte, error) {
	if len(src) == 0 {
		return buf, errShort
	}
	n, err := snappy.DecodedLen(src)
	switch {
	case err != nil:
		return buf, err
	case n > snappyRatio*len(src):
		return buf, errSnappyLength
	case n > limit-len(buf):
		return buf, errLimit
	}
	buf = grow(buf, len(buf)+n, limit)
	if _, err := snappy.Decode(buf[len(buf):len(buf)+n], src); err != nil {
		return buf, err
	}
	return buf[:len(buf)+n], nil
}
