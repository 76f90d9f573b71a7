package output

import (
	"strconv"
	"unicode/utf8"
)

// spaces is as wide as any column.
const spaces = "                                        "

// pad fills a column that began at from up to its width.
func pad(b []byte, from, width int) []byte {
	n := len(b) - from
	for _, c := range b[from:] {
		if c >= utf8.RuneSelf {
			n = utf8.RuneCount(b[from:])
			break
		}
	}
	if n < width {
		b = append(b, spaces[:width-n]...)
	}
	return b
}

// alignRight moves what began at from to the right edge of a column.
func alignRight(b []byte, from, width int) []byte {
	n := len(b) - from
	if n >= width {
		return b
	}
	b = append(b, spaces[:width-n]...)
	copy(b[from+width-n:], b[from:from+n])
	copy(b[from:], spaces[:width-n])
	return b
}

// appendInt appends n in decimal; most numbers of a summary are short.
func appendInt(b []byte, n int64) []byte {
	switch u := uint64(n); {
	case u < 10:
		return append(b, byte('0'+u))
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
