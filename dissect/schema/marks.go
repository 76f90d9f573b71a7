package schema

import (
	"strconv"
	"strings"
)

// marks are what stands at the start of each line of a text that was copied with it: the line
// numbers of a listing, the + of a diff, the > of a quoted mail. They are left out where they
// stand on every line, which holds for no definition as it is.
type marks struct {
	kind   byte // 0, '+', '>' or 'n'
	minus  bool // a diff has removed lines
	digits int  // most digits of a line number
}

// findMarks looks for marks in src.
func findMarks(src string) marks {
	var m marks
	total, plus, minus, quote, numbered, last := 0, 0, 0, 0, 0, 0
	for line := range strings.Lines(src) {
		text := strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		total++
		switch text[0] {
		case '+':
			plus++
		case '-':
			minus++
		case '>':
			quote++
		}
		if n, digits := leadingNumber(text); digits > 0 && n == last+1 {
			numbered++
			last = n
			m.digits = max(m.digits, digits)
		}
	}
	switch {
	case total < 2:
	case numbered == total:
		m.kind = 'n'
	case quote == total:
		m.kind = '>'
	case plus+minus == total, plus > 0 && plus+minus >= 2 && contextual(src):
		m.kind, m.minus = '+', true
	}
	return m
}

// contextual reports whether each line of src begins with +, - or a space, as in a diff.
func contextual(src string) bool {
	for line := range strings.Lines(src) {
		if text := strings.TrimRight(line, "\r\n"); text != "" && strings.IndexByte("+- \t@", text[0]) < 0 {
			return false
		}
	}
	return true
}

// leadingNumber returns the number that a line begins with, and the length of it and the space
// in front.
func leadingNumber(text string) (n, length int) {
	rest := strings.TrimLeft(text, " \t")
	digits := 0
	for digits < len(rest) && digits < 6 && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0, 0
	}
	n, _ = strconv.Atoi(rest[:digits]) // at most six digits
	return n, len(text) - len(rest) + digits
}

// at returns the length of the mark at the start of a line.
func (m marks) at(line string) int {
	switch {
	case m.kind == '+' && line[0] == '+', m.kind == '>' && line[0] == '>':
		return 1
	case m.kind == 'n':
		_, n := leadingNumber(line[:lineLen(line)])
		return n
	}
	return 0
}

// removed reports whether a line of a diff is one that was taken away.
func (m marks) removed(line string) bool { return m.minus && line[0] == '-' }

// String says what the marks are.
func (m marks) String() string {
	switch m.kind {
	case '+':
		return "the + and - of a diff"
	case '>':
		return "the > of a quotation"
	case 'n':
		return "line numbers"
	}
	return ""
}
