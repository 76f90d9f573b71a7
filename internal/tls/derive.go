package tls

import (
	"crypto/aes"
	"crypto/hkdf"
	"crypto/hmac"
	"hash"
)

// expandLabel is HKDF-Expand-Label with an empty context (RFC 8446, section 7.1).
func expandLabel(h func() hash.Hash, secret []byte, label string, n int) ([]byte, error) {
	info := make([]byte, 0, 4+len("tls13 ")+len(label))
	info = append(info, byte(n>>8), byte(n), byte(len("tls13 ")+len(label)))
	info = append(info, "tls13 "...)
	info = append(info, label...)
	info = append(info, 0)
	return hkdf.Expand(h, secret, string(info), n)
}

// newOpener13 returns the opener of a traffic secret of TLS 1.3.
func newOpener13(s *suite, secret []byte) (opener, error) {
	key, err := expandLabel(s.hash, secret, "key", s.key)
	if err != nil {
		return nil, err
	}
	iv, err := expandLabel(s.hash, secret, "iv", nonceSize)
	if err != nil {
		return nil, err
	}
	o := &aead13{iv: [nonceSize]byte(iv)}
	o.aead, err = newAEAD(s, key)
	return o, err
}

// nextSecret returns the traffic secret behind a key update (RFC 8446, section 7.2).
func nextSecret(s *suite, secret []byte) ([]byte, error) {
	return expandLabel(s.hash, secret, "traffic upd", len(secret))
}

// prf12 is the pseudorandom function of TLS 1.2 (RFC 5246, section 5).
func prf12(h func() hash.Hash, secret []byte, label string, seed []byte, n int) []byte {
	seed = append([]byte(label), seed...)
	mac := hmac.New(h, secret)
	sum := func(parts ...[]byte) []byte {
		mac.Reset()
		for _, p := range parts {
			mac.Write(p)
		}
		return mac.Sum(nil)
	}
	var out []byte
	for a := sum(seed); len(out) < n; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:n]
}

// newOpeners12 returns the openers of the client's and of the server's records in TLS 1.2 (RFC
// 5246, section 6.3). With sealed, the MAC of CBC is over the ciphertext.
func newOpeners12(s *suite, master []byte, client, server *[32]byte, sealed bool) (pair [2]opener, err error) {
	iv, mac := 0, 0
	switch s.method {
	case chacha20:
		iv = nonceSize
	case aesCBC:
		mac = s.mac().Size()
	default:
		iv = implicitSize
	}
	seed := append(server[:len(server):len(server)], client[:]...)
	block := prf12(s.hash, master, "key expansion", seed, 2*(mac+s.key+iv))
	take := func(n int) [2][]byte {
		both := [2][]byte{block[:n], block[n : 2*n]}
		block = block[2*n:]
		return both
	}
	macs, keys, ivs := take(mac), take(s.key), take(iv)
	for i := range pair {
		if s.method == aesCBC {
			block, err := aes.NewCipher(keys[i])
			if err != nil {
				return pair, err
			}
			pair[i] = &cbc{block: block, mac: hmac.New(s.mac, macs[i]), sealed: sealed}
			continue
		}
		o := &aead12{explicit: s.method != chacha20}
		copy(o.iv[:], ivs[i])
		if o.aead, err = newAEAD(s, keys[i]); err != nil {
			return pair, err
		}
		pair[i] = o
	}
	return pair, nil
}
