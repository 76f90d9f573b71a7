package scrub

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"unicode/utf8"
)

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	alnums = lowers + digits
	base64 = uppers + lowers + digits

	// period is the length after which the stand-in of record data repeats: enough to tell
	// values apart, and short, so that it compresses no worse than what it stands for.
	period = 10

	// maxNames bounds how many names are remembered to keep their stand-ins apart; maxName is
	// the longest of them.
	maxNames = 1 << 17
	maxName  = 256
)

// standIns makes stand-ins. It serves one goroutine.
type standIns struct {
	mac   hash.Hash
	taken map[string]string // stand-in to name
	sum   [sha256.Size]byte
	ctr   uint32
	left  []byte // of sum
	seed  [sha256.Size]byte
}

func newStandIns(key []byte) *standIns {
	return &standIns{mac: hmac.New(sha256.New, key), taken: map[string]string{}}
}

// start begins the stream of random numbers that value and try stand for.
func (s *standIns) start(form byte, value []byte, try byte) {
	s.mac.Reset()
	s.mac.Write([]byte{form, try})
	s.mac.Write(value)
	s.mac.Sum(s.seed[:0])
	s.ctr, s.left = 0, nil
}

func (s *standIns) next() byte {
	if len(s.left) == 0 {
		var in [sha256.Size + 4]byte
		copy(in[:], s.seed[:])
		binary.BigEndian.PutUint32(in[sha256.Size:], s.ctr)
		s.sum = sha256.Sum256(in[:])
		s.ctr++
		s.left = s.sum[:]
	}
	b := s.left[0]
	s.left = s.left[1:]
	return b
}

// one picks a character of set, whose size is a divisor of neither: the bias does no harm.
func (s *standIns) one(set string) byte { return set[int(s.next())%len(set)] }

// Forms of stand-ins, so that equal values of different forms have nothing in common.
const (
	formName byte = iota
	formData
	formToken
	formAddress
	formID
)

// name replaces the text in b: letters by letters, digits by digits, and the rest of ASCII is
// kept where it is not all there is. Different names of one length stay different.
func (s *standIns) name(b []byte) {
	if len(b) == 0 {
		return
	}
	if !utf8.Valid(b) {
		s.data(b)
		return
	}
	original := string(b)
	for try := byte(0); ; try++ {
		s.start(formName, []byte(original), try)
		s.text(b, original)
		if try == 63 || len(b) > maxName {
			return
		}
		if string(b) == original && len(b) > 1 {
			continue
		}
		owner, taken := s.taken[string(b)]
		if !taken && len(s.taken) < maxNames {
			s.taken[string(b)] = original
		}
		if !taken || owner == original {
			return
		}
	}
}

// text writes to b what stands for original, which is UTF-8.
func (s *standIns) text(b []byte, original string) {
	keep := false
	for _, r := range original {
		keep = keep || r >= utf8.RuneSelf || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	for i, r := range original {
		switch {
		case r >= 'a' && r <= 'z':
			b[i] = s.one(lowers)
		case r >= 'A' && r <= 'Z':
			b[i] = s.one(uppers)
		case r >= '0' && r <= '9':
			b[i] = s.one(digits)
		case r < utf8.RuneSelf:
			if !keep {
				b[i] = s.one(alnums)
			}
		default:
			s.letter(b[i : i+utf8.RuneLen(r)])
		}
	}
}

// letter writes a letter that takes all of b in UTF-8, two to four bytes.
func (s *standIns) letter(b []byte) {
	r := rune(s.next())
	switch len(b) {
	case 2:
		r = 0x430 + r%32 // Cyrillic
	case 3:
		r += 0x4e00 // Han
	default:
		r = 0x10428 + r%40 // Deseret
	}
	utf8.EncodeRune(b, r)
}

// data replaces all of b, by text where it is text.
func (s *standIns) data(b []byte) {
	if len(b) == 0 {
		return
	}
	text := utf8.Valid(b)
	s.start(formData, b, 0)
	for i := range b {
		switch {
		case i >= period:
			b[i] = b[i-period]
		case text:
			b[i] = s.one(alnums)
		default:
			b[i] = 0x80 | s.next()
		}
	}
	if !text {
		b[0] = 0xff // never UTF-8
	}
}

// from replaces all characters of b that are in set by others of it.
func (s *standIns) from(b []byte, set string) {
	s.start(formToken, b, 0)
	for i, c := range b {
		if indexByte(set, c) {
			b[i] = s.one(set)
		}
	}
}

func indexByte(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}

// id replaces a UUID; those that Kafka reserves are kept: zero, and the metadata log's.
func (s *standIns) id(b []byte) {
	reserved := true
	for _, c := range b[:len(b)-1] {
		reserved = reserved && c == 0
	}
	if reserved && b[len(b)-1] <= 1 {
		return
	}
	s.start(formID, b, 0)
	for i := range b {
		b[i] = s.next()
	}
}

// filler is the character that replaces everything where stand-ins do not fit.
func filler(b []byte) byte {
	if utf8.Valid(b) {
		return 'x'
	}
	return 0xff
}

func fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}
