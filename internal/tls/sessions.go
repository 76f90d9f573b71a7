package tls

import (
	"crypto/sha256"
	"sync"
)

// Sessions remembers the master secrets of TLS 1.2 sessions by what resumes them. It may be shared
// by several Decryptors.
type Sessions struct {
	mu     sync.Mutex
	limit  int
	master map[[32]byte]remembered
	oldest [][32]byte // in the order of their coming, from next on in a ring
	next   int
}

// remembered is a master secret and the place in the capture where it was learned.
type remembered struct {
	master []byte
	place  int64
}

// NewSessions returns a Sessions for as many as limit; 0 is the default of Limits.
func NewSessions(limit int) *Sessions {
	return &Sessions{limit: Limits{Sessions: limit}.withDefaults().Sessions, master: make(map[[32]byte]remembered)}
}

// sessionKey hashes what resumes a session, so that its length is bounded; kind keeps session ids
// and tickets apart.
func sessionKey(kind byte, b []byte) [32]byte {
	return sha256.Sum256(append([]byte{kind}, b...))
}

// put remembers a secret that was learned at a place.
func (s *Sessions) put(key [32]byte, master []byte, place int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, had := s.master[key]; !had {
		if len(s.oldest) < s.limit {
			s.oldest = append(s.oldest, key)
		} else {
			delete(s.master, s.oldest[s.next])
			s.oldest[s.next] = key
			s.next = (s.next + 1) % s.limit
		}
	}
	s.master[key] = remembered{master, place}
}

// get returns the secret that was learned before a place, or nil.
func (s *Sessions) get(key [32]byte, place int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.master[key]; r.place < place {
		return r.master
	}
	return nil
}

// resumed returns the secret of a session that other connections have shown, or nil.
func (d *Decryptor) resumed(key [32]byte) []byte {
	if d.await != nil {
		d.await()
	}
	return d.sessions.get(key, d.where())
}
