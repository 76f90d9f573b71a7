// Package dump reads bytes that people paste: hex in its many forms, base64, escapes, or the
// bytes themselves.
package dump

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Form names how bytes were written.
type Form string

// Forms.
const (
	Auto    Form = "auto"    // find out
	Hex     Form = "hex"     // digits, with any spacing and 0x
	Hexdump Form = "hexdump" // rows with an offset, as of hexdump, xxd, od or tcpdump -x
	Base64  Form = "base64"  // either alphabet, padded or not
	Escapes Form = "escapes" // \x00 and the escapes of C, as in string literals
	Binary  Form = "binary"
)

// Forms returns the words that Parse takes.
func Forms() []string {
	return []string{string(Auto), string(Hex), string(Hexdump), string(Base64), string(Escapes), string(Binary)}
}

// Parse returns the bytes that data stands for and the form it was in. With Auto, text that
// could be hex is hex before it is base64, and what is no text is binary.
func Parse(data []byte, form Form) ([]byte, Form, error) {
	if form == Auto {
		form = guess(data)
	}
	var (
		b   []byte
		err error
	)
	switch form {
	case Hex:
		b, err = parseHex(string(data))
	case Hexdump:
		b, err = parseRows(string(data))
	case Base64:
		b, err = parseBase64(string(data))
	case Escapes:
		b, err = parseEscapes(string(data))
	default:
		b = data
	}
	if err != nil {
		return nil, form, fmt.Errorf("%s: %w", form, err)
	}
	return b, form, nil
}

func guess(data []byte) Form {
	for _, c := range data {
		if c >= 0x7f || c < 0x20 && c != '\n' && c != '\r' && c != '\t' {
			if !utf8.Valid(data) || c != 0x7f && c < 0x80 {
				return Binary
			}
		}
	}
	text := string(data)
	if strings.Contains(text, `\x`) {
		return Escapes
	}
	if _, err := parseRows(text); err == nil {
		return Hexdump
	}
	if _, err := parseHex(text); err == nil {
		return Hex
	}
	if _, err := parseBase64(text); err == nil {
		return Base64
	}
	if bytes.ContainsAny(data, "ghijklmnopqrstuvwyzGHIJKLMNOPQRSTUVWYZ") {
		return Base64
	}
	return Hex
}

// separators may stand between the digits of hex.
const separators = " \t\r\n,:;-_|[]{}()\"'"

func parseHex(s string) ([]byte, error) {
	var digits []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isHex(c):
			// 0x begins a byte; a lone 0 before it is part of the mark.
			if c == '0' && i+1 < len(s) && (s[i+1] == 'x' || s[i+1] == 'X') {
				i++
				continue
			}
			digits = append(digits, c)
		case strings.IndexByte(separators, c) >= 0:
		default:
			return nil, fmt.Errorf("%q at offset %d is no hex digit", c, i)
		}
	}
	if len(digits)%2 != 0 {
		return nil, fmt.Errorf("an odd number of digits: %d", len(digits))
	}
	if len(digits) == 0 {
		return nil, errors.New("no digits")
	}
	b := make([]byte, len(digits)/2)
	_, err := hex.Decode(b, digits)
	return b, err
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// parseRows reads rows of an offset and bytes. The offset ends with a colon or two spaces or,
// in hexdump's default form of 16-bit words, with one; what stands behind the bytes is their
// text. Rows of * repeat the row above up to the next offset.
func parseRows(s string) ([]byte, error) {
	var (
		b, last  []byte
		rows     int
		repeated bool
		words    = wordRows(s)
	)
	for n, line := range strings.Split(s, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if strings.TrimSpace(line) == "*" && rows > 0 {
			repeated = true
			continue
		}
		off, rest, ok := cutOffset(line)
		if !ok {
			return nil, fmt.Errorf("line %d has no offset in front", n+1)
		}
		if repeated {
			repeated = false
			if len(last) == 0 || off < len(b) || off-len(b) > maxRepeat {
				return nil, fmt.Errorf("line %d: offset %#x cannot follow", n+1, off)
			}
			for len(b) < off {
				b = append(b, last[:min(len(last), off-len(b))]...)
			}
		}
		if off != len(b) {
			return nil, fmt.Errorf("line %d: offset %#x, want %#x", n+1, off, len(b))
		}
		last = rowBytes(rest, words)
		if len(last) == 0 && rest != "" {
			return nil, fmt.Errorf("line %d: no bytes behind the offset", n+1)
		}
		b = append(b, last...)
		rows++
	}
	if rows == 0 || len(b) == 0 {
		return nil, errors.New("no rows")
	}
	return b, nil
}

// maxRepeat bounds what a row of * stands for.
const maxRepeat = 64 << 20

// wordRows reports whether every group of every row is four digits, as hexdump writes 16-bit
// words of the host, low byte first; xxd's groups of four are in order and have a colon.
func wordRows(s string) bool {
	for line := range strings.Lines(s) {
		fields := strings.Fields(line)
		if len(fields) == 0 || len(fields) == 1 {
			continue
		}
		if strings.HasSuffix(fields[0], ":") || strings.HasPrefix(fields[0], "0x") {
			return false
		}
		for _, f := range fields[1:] {
			if len(f) != 4 || strings.Trim(f, "0123456789abcdefABCDEF") != "" {
				return false
			}
		}
	}
	return true
}

// cutOffset splits a row behind its offset.
func cutOffset(line string) (off int, rest string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	line = strings.TrimPrefix(strings.TrimPrefix(line, "0x"), "0X")
	n := 0
	for n < len(line) && isHex(line[n]) {
		off = off<<4 | digit(line[n])
		n++
	}
	if n < 4 || n > 8 {
		return 0, "", false
	}
	if n == len(line) {
		return off, "", true
	}
	if line[n] != ':' && line[n] != ' ' && line[n] != '\t' {
		return 0, "", false
	}
	return off, line[n+1:], true
}

func digit(c byte) int {
	switch {
	case c <= '9':
		return int(c - '0')
	case c <= 'F':
		return int(c - 'A' + 10)
	}
	return int(c - 'a' + 10)
}

// rowBytes reads the bytes of a row up to its text: two spaces behind at least one byte begin
// it, except in the middle, where hexdump -C leaves two.
func rowBytes(s string, words bool) []byte {
	var b []byte
	s = strings.TrimLeft(s, " \t")
	for len(b) < 64 {
		n := 0
		for n < len(s) && isHex(s[n]) {
			n++
		}
		if n == 0 || n%2 != 0 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
			break
		}
		group, err := hex.DecodeString(s[:n])
		if err != nil {
			break
		}
		if words && len(group) == 2 {
			group[0], group[1] = group[1], group[0]
		}
		b = append(b, group...)
		s = s[n:]
		gap := len(s) - len(strings.TrimLeft(s, " \t"))
		if gap > 2 || gap == 2 && len(b) != 8 {
			break
		}
		s = s[gap:]
	}
	return b
}

func parseBase64(s string) ([]byte, error) {
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\r', '\n', '"', '\'':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, s)
	s = strings.TrimRight(s, "=")
	if s == "" {
		return nil, errors.New("no characters")
	}
	return base64.RawStdEncoding.DecodeString(s)
}

// parseEscapes reads \xNN, the escapes of C and other characters as themselves. Quotes around
// the whole, with a b before them, are dropped.
func parseEscapes(s string) ([]byte, error) {
	s = strings.TrimSpace(s)
	if t := strings.TrimPrefix(s, "b"); len(t) >= 2 && (t[0] == '"' || t[0] == '\'') && t[len(t)-1] == t[0] {
		s = t[1 : len(t)-1]
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\n' || c == '\r' {
			continue
		}
		if c != '\\' {
			b = append(b, c)
			continue
		}
		i++
		if i == len(s) {
			return nil, errors.New("a backslash at the end")
		}
		if s[i] == 'x' {
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return nil, fmt.Errorf("\\x at offset %d needs two hex digits", i-1)
			}
			b = append(b, byte(digit(s[i+1])<<4|digit(s[i+2])))
			i += 2
			continue
		}
		at := strings.IndexByte(`0abtnvfr\'"`, s[i])
		if at < 0 {
			return nil, fmt.Errorf("\\%c at offset %d is no escape", s[i], i-1)
		}
		b = append(b, "\x00\a\b\t\n\v\f\r\\'\""[at])
	}
	return b, nil
}
