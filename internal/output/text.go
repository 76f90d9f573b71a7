package output

import (
	"strconv"
	"unicode/utf8"
)

// spaces is as wide as any column.
const spaces = "                                        "

// pad fills a column of text that began at from up to its width.
func pad(b []byte, from, width int) []byte {
	return appendSpaces(b, width-utf8.RuneCount(b[from:]))
}

// appendSpaces appends n spaces, none where n is negative.
func appendSpaces(b []byte, n int) []byte {
	if n <= 0 {
		return b
	}
	return append(b, spaces[:n]...)
}

// appendInt appends n in decimal; most numbers of a summary are short.
func appendInt(b []byte, n int64) []byte {
	if uint64(n) < 10 {
		return append(b, byte('0'+n))
	}
	return appendLongInt(b, n)
}

func appendLongInt(b []byte, n int64) []byte {
	switch u := uint64(n); {
	case u < 100:
		return append(b, byte('0'+u/10), byte('0'+u%10))
	case u < 1000:
		return append(b, byte('0'+u/100), byte('0'+u/10%10), byte('0'+u%10))
	}
	return strconv.AppendInt(b, n, 10)
}

// appendVisible appends text from the wire for a terminal: what does not print is written \xNN.
func appendVisible(b, s []byte) []byte {
	for len(s) > 0 {
		n := 0
		for n < len(s) && s[n] >= 0x20 && s[n] < 0x7f {
			n++
		}
		b, s = append(b, s[:n]...), s[n:]
		if len(s) == 0 {
			break
		}
		r, n := utf8.DecodeRune(s)
		if r >= 0xa0 && (r != utf8.RuneError || n > 1) && strconv.IsPrint(r) {
			b = append(b, s[:n]...)
			s = s[n:]
			continue
		}
		b = append(b, '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&15])
		s = s[1:]
	}
	return b
}
