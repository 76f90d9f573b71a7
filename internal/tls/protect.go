package tls

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"encoding/binary"
	"hash"

	"golang.org/x/crypto/chacha20poly1305"
)

// opener removes the protection from the records of one direction under one key. It serves one
// goroutine.
type opener interface {
	// open decrypts rec, a record with its header that is number seq under the key. It returns
	// the content, which is written over dst, and its type.
	open(dst, rec []byte, seq uint64) (content []byte, kind uint8, ok bool)
	// overhead returns how many bytes of a record, its header aside, are not content, and whether
	// there may be more.
	overhead() (n int, exact bool)
	// guess returns the number of a record where its own nonce shows it.
	guess(rec []byte) (seq uint64, ok bool)
}

// newAEAD returns the cipher of a suite that is not CBC.
func newAEAD(s *suite, key []byte) (cipher.AEAD, error) {
	if s.method == chacha20 {
		return chacha20poly1305.New(key)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	switch s.method {
	case aesCCM:
		return newCCM(block, nonceSize, 16)
	case aesCCM8:
		return newCCM(block, nonceSize, 8)
	}
	return cipher.NewGCM(block)
}

// nonceSize is that of all ciphers of TLS 1.3, and of those of TLS 1.2 with additional data.
const nonceSize = 12

// implicitSize is the part of a TLS 1.2 nonce that comes from the key block, with AES.
const implicitSize = 4

// seqNonce writes the nonce of number seq: the initialisation vector, to which seq is added
// without carry (RFC 8446, section 5.3; RFC 7905).
func seqNonce(nonce, iv *[nonceSize]byte, seq uint64) {
	*nonce = *iv
	binary.BigEndian.PutUint64(nonce[4:], binary.BigEndian.Uint64(iv[4:])^seq)
}

// aead13 opens records of TLS 1.3 (RFC 8446, section 5.2).
type aead13 struct {
	aead      cipher.AEAD
	iv, nonce [nonceSize]byte
}

func (a *aead13) open(dst, rec []byte, seq uint64) ([]byte, uint8, bool) {
	seqNonce(&a.nonce, &a.iv, seq)
	plain, err := a.aead.Open(dst[:0], a.nonce[:], rec[headerSize:], rec[:headerSize])
	if err != nil {
		return nil, 0, false
	}
	n := len(plain)
	for n > 0 && plain[n-1] == 0 { // padding
		n--
	}
	if n == 0 {
		return nil, 0, false
	}
	return plain[:n-1], plain[n-1], true
}

// overhead counts no padding, which implementations do not use unless told to.
func (a *aead13) overhead() (int, bool) { return 1 + a.aead.Overhead(), true }

func (*aead13) guess([]byte) (uint64, bool) { return 0, false }

// additional is the data that a TLS 1.2 record authenticates beside its content.
type additional [13]byte

func (a *additional) set(seq uint64, rec []byte, n int) []byte {
	binary.BigEndian.PutUint64(a[:], seq)
	copy(a[8:], rec[:3])
	binary.BigEndian.PutUint16(a[11:], uint16(n))
	return a[:]
}

// aead12 opens records of TLS 1.2 with AES-GCM, AES-CCM or ChaCha20-Poly1305 (RFC 5288, 6655, 7905).
type aead12 struct {
	aead      cipher.AEAD
	explicit  bool // each record carries 8 bytes of its nonce
	iv, nonce [nonceSize]byte
	ad        additional

	// Implementations count the explicit nonces up, from wherever.
	base  uint64
	based bool
}

func (a *aead12) explicitSize() int {
	if a.explicit {
		return nonceSize - implicitSize
	}
	return 0
}

func (a *aead12) open(dst, rec []byte, seq uint64) ([]byte, uint8, bool) {
	sealed := rec[headerSize:]
	at := a.explicitSize()
	n := len(sealed) - at - a.aead.Overhead()
	if n < 0 {
		return nil, 0, false
	}
	if a.explicit {
		a.nonce = a.iv
		copy(a.nonce[implicitSize:], sealed)
	} else {
		seqNonce(&a.nonce, &a.iv, seq)
	}
	plain, err := a.aead.Open(dst[:0], a.nonce[:], sealed[at:], a.ad.set(seq, rec, n))
	if err != nil {
		return nil, 0, false
	}
	if a.explicit && !a.based {
		a.base, a.based = binary.BigEndian.Uint64(sealed)-seq, true
	}
	return plain, rec[0], true
}

func (a *aead12) overhead() (int, bool) { return a.explicitSize() + a.aead.Overhead(), true }

func (a *aead12) guess(rec []byte) (uint64, bool) {
	if !a.explicit || len(rec) < headerSize+8 {
		return 0, false
	}
	base := uint64(0) // what most begin with
	if a.based {
		base = a.base
	}
	return binary.BigEndian.Uint64(rec[headerSize:]) - base, true
}

// cbc opens records of TLS 1.2 with AES-CBC and HMAC, which is over the plaintext (RFC 5246,
// section 6.2.3.2) or over the ciphertext (RFC 7366).
type cbc struct {
	block  cipher.Block
	mode   cipher.BlockMode // reused where its vector can be set
	mac    hash.Hash
	sealed bool // the MAC is over the ciphertext
	ad     additional
	sum    []byte
}

func (c *cbc) open(dst, rec []byte, seq uint64) ([]byte, uint8, bool) {
	b := rec[headerSize:]
	if c.sealed {
		n := len(b) - c.mac.Size()
		if n < 0 || !c.proves(seq, rec, b[:n], b[n:]) {
			return nil, 0, false
		}
		b = b[:n]
	}
	if len(b) < 2*aes.BlockSize || len(b)%aes.BlockSize != 0 {
		return nil, 0, false
	}
	plain := append(dst[:0], b[aes.BlockSize:]...)
	c.decrypter(b[:aes.BlockSize]).CryptBlocks(plain, plain)
	n := len(plain) - 1 - int(plain[len(plain)-1]) // without the padding
	if n < 0 {
		return nil, 0, false
	}
	if bytes.Count(plain[n:], plain[len(plain)-1:]) != len(plain)-n {
		return nil, 0, false
	}
	if !c.sealed {
		at := n - c.mac.Size()
		if at < 0 || !c.proves(seq, rec, plain[:at], plain[at:n]) {
			return nil, 0, false
		}
		n = at
	}
	return plain[:n], rec[0], true
}

// proves reports whether mac is that of b.
func (c *cbc) proves(seq uint64, rec, b, mac []byte) bool {
	c.mac.Reset()
	c.mac.Write(c.ad.set(seq, rec, len(b)))
	c.mac.Write(b)
	c.sum = c.mac.Sum(c.sum[:0])
	return hmac.Equal(c.sum, mac)
}

func (c *cbc) decrypter(iv []byte) cipher.BlockMode {
	if m, ok := c.mode.(interface{ SetIV([]byte) }); ok {
		m.SetIV(iv)
		return c.mode
	}
	c.mode = cipher.NewCBCDecrypter(c.block, iv)
	return c.mode
}

func (c *cbc) overhead() (int, bool) { return aes.BlockSize + c.mac.Size() + 1, false }

func (*cbc) guess([]byte) (uint64, bool) { return 0, false }
