package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Values says what is shown of the contents of records, which are those of Descs with Data set.
type Values uint8

// What is shown of records' contents.
const (
	ValuesFull Values = iota
	ValuesSize        // how many bytes they have
	ValuesHash        // that, and the beginning of their SHA-256
)

// ParseValues reads full, size or hash.
func ParseValues(s string) (Values, bool) {
	switch s {
	case "full":
		return ValuesFull, true
	case "size":
		return ValuesSize, true
	case "hash":
		return ValuesHash, true
	}
	return ValuesFull, false
}

// hashDigits is how much of a hash is shown: enough to tell values of a capture apart.
const hashDigits = 12

// Append appends the words that stand for the contents b.
func (v Values) Append(dst, b []byte) []byte {
	dst = append(dst, "<hidden, "...)
	dst = strconv.AppendInt(dst, int64(len(b)), 10)
	dst = append(dst, " bytes"...)
	if v == ValuesHash {
		sum := sha256.Sum256(b)
		dst = append(dst, ", sha256 "...)
		dst = hex.AppendEncode(dst, sum[:hashDigits/2])
	}
	return append(dst, '>')
}
