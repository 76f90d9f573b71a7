package tls

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
)

// errOpen says that a ciphertext does not carry the tag of its key, nonce and additional data.
var errOpen = errors.New("message authentication failed")

// ccm is AES in counter mode with CBC-MAC (RFC 3610, NIST SP 800-38C).
type ccm struct {
	block cipher.Block
	nonce int // bytes; 15-nonce bytes hold the length
	tag   int // bytes: 4 to 16, even

	// A block passed to cipher.Block escapes; these are reused.
	mac, ctr, key [ccmBlock]byte
}

const ccmBlock = 16

// newCCM returns CCM over a block cipher of 16 bytes. It serves one goroutine.
func newCCM(block cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error) {
	switch {
	case block.BlockSize() != ccmBlock:
		return nil, errors.New("ccm: block size is not 16")
	case nonceSize < 7 || nonceSize > 13:
		return nil, errors.New("ccm: nonce size is not 7 to 13")
	case tagSize < 4 || tagSize > 16 || tagSize%2 != 0:
		return nil, errors.New("ccm: tag size is not 4, 6, 8, 10, 12, 14 or 16")
	}
	return &ccm{block: block, nonce: nonceSize, tag: tagSize}, nil
}

// NonceSize implements cipher.AEAD.
func (c *ccm) NonceSize() int { return c.nonce }

// Overhead implements cipher.AEAD.
func (c *ccm) Overhead() int { return c.tag }

// Seal implements cipher.AEAD.
func (c *ccm) Seal(dst, nonce, plaintext, additional []byte) []byte {
	tag := c.authenticate(nonce, plaintext, additional)
	c.start(nonce)
	c.pad(tag[:])
	at := len(dst)
	dst = append(dst, plaintext...)
	c.crypt(dst[at:])
	return append(dst, tag[:c.tag]...)
}

// Open implements cipher.AEAD.
func (c *ccm) Open(dst, nonce, ciphertext, additional []byte) ([]byte, error) {
	if len(ciphertext) < c.tag {
		return nil, errOpen
	}
	n := len(ciphertext) - c.tag
	at := len(dst)
	dst = append(dst, ciphertext[:n]...)
	c.start(nonce)
	var first [ccmBlock]byte
	c.pad(first[:])
	c.crypt(dst[at:])
	tag := c.authenticate(nonce, dst[at:], additional)
	subtle.XORBytes(tag[:], tag[:], first[:])
	if subtle.ConstantTimeCompare(tag[:c.tag], ciphertext[n:]) != 1 {
		clear(dst[at:])
		return nil, errOpen
	}
	return dst, nil
}

// authenticate returns the CBC-MAC of block B0, the additional data and the plaintext.
func (c *ccm) authenticate(nonce, plaintext, additional []byte) [ccmBlock]byte {
	size := 15 - c.nonce
	c.mac = [ccmBlock]byte{}
	c.mac[0] = byte((c.tag-2)/2<<3 | (size - 1))
	if len(additional) > 0 {
		c.mac[0] |= 0x40
	}
	copy(c.mac[1:], nonce)
	for i, n := 15, len(plaintext); i > 15-size; i, n = i-1, n>>8 {
		c.mac[i] = byte(n)
	}
	c.block.Encrypt(c.mac[:], c.mac[:])
	if n := len(additional); n > 0 {
		at := 2
		if n < 0xff00 {
			c.mac[0] ^= byte(n >> 8)
			c.mac[1] ^= byte(n)
		} else {
			var head [6]byte
			binary.BigEndian.PutUint16(head[:], 0xfffe)
			binary.BigEndian.PutUint32(head[2:], uint32(n))
			at = subtle.XORBytes(c.mac[:], c.mac[:], head[:])
		}
		c.absorb(additional, at)
	}
	c.absorb(plaintext, 0)
	return c.mac
}

// absorb adds b, filled up with zeros, to the MAC from byte at of the current block.
func (c *ccm) absorb(b []byte, at int) {
	for len(b) > 0 {
		n := subtle.XORBytes(c.mac[at:], c.mac[at:], b)
		b, at = b[n:], 0
		c.block.Encrypt(c.mac[:], c.mac[:])
	}
}

// start sets the counter block to the one that encrypts the tag.
func (c *ccm) start(nonce []byte) {
	c.ctr = [ccmBlock]byte{byte(14 - c.nonce)}
	copy(c.ctr[1:], nonce)
}

// pad encrypts up to one block with the next block of the key stream.
func (c *ccm) pad(b []byte) {
	c.block.Encrypt(c.key[:], c.ctr[:])
	subtle.XORBytes(b, b, c.key[:])
	for i := 15; i > c.nonce; i-- {
		if c.ctr[i]++; c.ctr[i] != 0 {
			break
		}
	}
}

// crypt encrypts or decrypts b.
func (c *ccm) crypt(b []byte) {
	for len(b) > 0 {
		n := min(len(b), ccmBlock)
		c.pad(b[:n])
		b = b[n:]
	}
}
