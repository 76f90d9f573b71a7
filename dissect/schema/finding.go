package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pos is a place in a text: line and column count from 1, the column in characters.
type Pos struct{ Line, Col int }

// String returns "LINE:COL".
func (p Pos) String() string { return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col) }

// PosError is trouble at a place in a file.
type PosError struct {
	File string // as the caller named it; may be empty
	Pos  Pos
	Text string
}

// Error returns "FILE:LINE:COL: text".
func (e *PosError) Error() string {
	if e.File == "" {
		return e.Pos.String() + ": " + e.Text
	}
	return e.File + ":" + e.Pos.String() + ": " + e.Text
}

// Severity sorts findings.
type Severity uint8

// Severities.
const (
	Repaired Severity = iota // not as it should be, and read as the text says
	Warning                  // odd, and without effect on how bytes are read
	Breach                   // breaks a rule of Kafka's generator, and yet tells how bytes are read
	Fault                    // could not be repaired: fields may be missing from what was read
)

// String returns the word that stands in front of a finding's text.
func (s Severity) String() string {
	switch s {
	case Repaired:
		return "repaired"
	case Warning:
		return "warning"
	case Breach:
		return "rule"
	}
	return "error"
}

// Finding is what a reader of drafts has to say about a place in a file.
type Finding struct {
	File     string
	Pos      Pos
	Severity Severity
	Text     string
	Excerpt  string // what stands there, without control characters; faults have one
}

// String returns "FILE:LINE:COL: severity: text", with the excerpt behind it.
func (f Finding) String() string {
	s := (&PosError{f.File, f.Pos, f.Severity.String() + ": " + f.Text}).Error()
	if f.Excerpt != "" {
		s += "; there: " + f.Excerpt
	}
	return s
}

// sortFindings puts findings in the order of their places.
func sortFindings(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
}

// The characters of an excerpt in front of its place and from there on.
const (
	excerptBefore = 24
	excerptBehind = 48
)

// excerpt returns the part of the line around off, which a terminal can show.
func excerpt(src string, off int) string {
	start := strings.LastIndexByte(src[:off], '\n') + 1
	end := len(src)
	if n := strings.IndexByte(src[off:], '\n'); n >= 0 {
		end = off + n
	}
	from, to := off, off
	for n := 0; n < excerptBefore && from > start; n++ {
		_, size := utf8.DecodeLastRuneInString(src[start:from])
		from -= size
	}
	for n := 0; n < excerptBehind && to < end; n++ {
		_, size := utf8.DecodeRuneInString(src[to:end])
		to += size
	}
	before, behind := "", ""
	if strings.TrimSpace(src[start:from]) != "" {
		before = "..."
	}
	if strings.TrimSpace(src[to:end]) != "" {
		behind = "..."
	}
	return before + strings.TrimSpace(printable(src[from:to])) + behind
}

// printable replaces what a terminal would not show as it is.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
}
