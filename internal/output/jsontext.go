package output

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// plainRun returns how many of the first bytes of s are ASCII that stands for itself in a JSON
// string. It looks at eight at a time: a byte below 0x20, a quote, a backslash or a byte with
// its high bit set leaves a high bit in the mask, and never a lower byte's false one before it.
func plainRun(s []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		if (w|(w-ones*0x20)|(quote-ones)|(slash-ones))&high != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// appendQuoted appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted(b, s []byte) []byte {
	b = append(b, '"')
	n := plainRun(s)
	b = append(b, s[:n]...)
	if n < len(s) {
		b = appendUnquoted(b, s[n:])
	}
	return append(b, '"')
}

// appendUnquoted is appendQuoted without the quotes.
func appendUnquoted(b, s []byte) []byte {
	for {
		n := plainRun(s)
		b = append(b, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			return b
		}
		if s[0] < utf8.RuneSelf {
			b = appendEscaped(b, s[0])
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			b = append(b, "\uFFFD"...)
		} else {
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
}

// appendEscaped appends a control character, a quote or a backslash.
func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendString is appendQuoted for a string.
func appendString(b []byte, s string) []byte {
	return appendQuoted(b, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// appendBase64 appends p as a JSON string of base64, standard alphabet, padded.
func appendBase64(b, p []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, p)
	return append(b, '"')
}

// appendHex appends p as a JSON string of hex digits.
func appendHex(b, p []byte) []byte {
	b = append(b, '"')
	b = hex.AppendEncode(b, p)
	return append(b, '"')
}

// appendUUID appends 16 bytes in Kafka's form: base64url without padding.
func appendUUID(b, p []byte) []byte { return base64.RawURLEncoding.AppendEncode(b, p) }

// appendFloat appends a float64 as a JSON number, or, where JSON has none for it, as the string
// that Jackson writes.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// appendHidden appends the words that stand for n secret bytes.
func appendHidden(b []byte, n int) []byte {
	b = append(b, "<hidden, "...)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, " bytes>"...)
}

// appendMillis appends nanoseconds as milliseconds with three decimals, rounded to the nearest
// microsecond.
func appendMillis(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	us := (ns + 500) / 1000
	b = append(appendInt(b, us/1000), '.')
	return appendThree(b, us%1000)
}
