package records

import (
	"encoding/binary"
	"math/bits"
)

// Primes of XXH32 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
const (
	xxPrime1 uint32 = 0x9E3779B1
	xxPrime2 uint32 = 0x85EBCA77
	xxPrime3 uint32 = 0xC2B2AE3D
	xxPrime4 uint32 = 0x27D4EB2F
	xxPrime5 uint32 = 0x165667B1
)

// xxh32 returns the 32-bit xxHash of b with seed 0, the checksum of LZ4 frames.
func xxh32(b []byte) uint32 {
	n := uint32(len(b))
	h := xxPrime5
	if len(b) >= 16 {
		var seed uint32
		v1, v2, v3, v4 := seed+xxPrime1+xxPrime2, seed+xxPrime2, seed, seed-xxPrime1
		for len(b) >= 16 {
			v1 = xxRound(v1, b[0:])
			v2 = xxRound(v2, b[4:])
			v3 = xxRound(v3, b[8:])
			v4 = xxRound(v4, b[12:])
			b = b[16:]
		}
		h = bits.RotateLeft32(v1, 1) + bits.RotateLeft32(v2, 7) +
			bits.RotateLeft32(v3, 12) + bits.RotateLeft32(v4, 18)
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h += binary.LittleEndian.Uint32(b) * xxPrime3
		h = bits.RotateLeft32(h, 17) * xxPrime4
	}
	for _, c := range b {
		h += uint32(c) * xxPrime5
		h = bits.RotateLeft32(h, 11) * xxPrime1
	}
	h ^= h >> 15
	h *= xxPrime2
	h ^= h >> 13
	h *= xxPrime3
	return h ^ h>>16
}

func xxRound(acc uint32, b []byte) uint32 {
	return bits.RotateLeft32(acc+binary.LittleEndian.Uint32(b)*xxPrime2, 13) * xxPrime1
}
