package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quote is a quotation mark in the source.
type quote struct {
	family byte // '"' or '\'' for double and single ones, '`'
	size   int  // bytes; 0: there is none
	plain  bool // the " of JSON
}

// quoteFamilies gives the family of the marks that word processors and pages put in place of " and '.
var quoteFamilies = map[string]byte{
	"“": '"', "”": '"', "„": '"', "‟": '"', "″": '"', "«": '"', "»": '"', "＂": '"',
	"'": '\'', "‘": '\'', "’": '\'', "‚": '\'', "‛": '\'', "′": '\'', "`": '`', "´": '\'',
}

// quoteAt returns the quotation mark that s begins with, which may be an HTML entity.
func quoteAt(s string) quote {
	if s == "" {
		return quote{}
	}
	switch c := s[0]; {
	case c == '"':
		return quote{'"', 1, true}
	case c == '&':
		text, n := entityAt(s)
		if text == `"` {
			return quote{'"', n, false}
		}
		return quote{quoteFamilies[text], n * min(1, int(quoteFamilies[text])), false}
	case c == '\'' || c == '`' || c >= utf8.RuneSelf:
		_, n := utf8.DecodeRuneInString(s)
		if f := quoteFamilies[s[:n]]; f != 0 {
			return quote{f, n, false}
		}
	}
	return quote{}
}

// str reads the string whose opening quotation mark is at l.off and returns its content.
func (l *lexer) str(open quote) string {
	if open.plain {
		if rest := l.src[l.off+1:]; len(rest) > 1 && rest[0] == '"' && (rest[1] == '[' || wordLen(rest[1:2]) > 0) {
			l.repaired(l.off, "a second quotation mark; left out")
			l.off++
		}
		if text, ok := l.plainString(); ok {
			return text
		}
	} else {
		l.repaired(l.off, l.src[l.off:l.off+open.size]+` read as "`)
	}
	s := stringReader{l: l, open: open, start: l.off, i: l.off + open.size}
	return s.read()
}

// plainString reads a string as JSON has it; it reports false, and moves nothing, where there is none.
func (l *lexer) plainString() (string, bool) {
	i := l.off + 1
	for i < len(l.src) && l.src[i] != '"' && l.src[i] != '\n' {
		if l.src[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(l.src) || l.src[i] != '"' {
		return "", false
	}
	raw, end := l.src[l.off+1:i], i+1
	if raw != "" && strings.HasPrefix(l.src[end:], `"`) && punctuated(trimSpaces(l.src[end+1:])) {
		l.repaired(end, "a second quotation mark; left out")
		end++
	} else if !l.endsString(end, raw) || onlyName(raw) {
		return "", false
	}
	if strings.IndexByte(raw, '\\') >= 0 || strings.IndexFunc(raw, isControl) >= 0 {
		var b strings.Builder
		for j := l.off + 1; j < i; {
			j += l.character(&b, j)
		}
		raw = b.String()
	}
	l.off = end
	return raw, true
}

// punctuated reports whether s begins with punctuation that stands behind a string.
func punctuated(s string) bool { return s != "" && strings.IndexByte(":,]}", s[0]) >= 0 }

// onlyName reports whether text is the name of a member and a colon, which a quotation mark
// should part.
func onlyName(text string) bool {
	n := memberName(text, false)
	return n > 0 && strings.Trim(text[n:], " \t:=") == ""
}

func isControl(r rune) bool { return r < ' ' }

// character appends the character or escape at off, which is no newline, and returns its length.
func (l *lexer) character(b *strings.Builder, off int) int {
	c := l.src[off]
	switch {
	case c == '\\':
		return l.escape(b, off)
	case c == '\t':
		l.repaired(off, "a tab inside a string; read as a space")
		b.WriteByte(' ')
	case c == '\r':
	case c < ' ':
		l.repaired(off, "a control character inside a string; left out")
	default:
		b.WriteByte(c)
	}
	return 1
}

// escape appends what the escape at off stands for and returns its length.
func (l *lexer) escape(b *strings.Builder, off int) int {
	rest := l.src[off:]
	if len(rest) >= 2 {
		const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		if i := strings.IndexByte(from, rest[1]); i >= 0 {
			b.WriteByte(to[i])
			return 2
		}
		if rest[1] == 'u' && len(rest) >= 6 {
			if r, err := strconv.ParseUint(rest[2:6], 16, 16); err == nil {
				b.WriteRune(rune(r))
				return 6
			}
		}
	}
	l.repaired(off, `\ in front of what needs none; left out`)
	return 1
}

// Bounds of a string that is not as JSON has it, so that a missing quotation mark costs little.
const (
	maxStringLines = 16
	maxString      = 16 << 10
)

// stringReader reads a string that is not as JSON has it: in other quotation marks, over several
// lines, with quotation marks inside, or without its end.
type stringReader struct {
	l     *lexer
	open  quote
	start int
	i     int
	lines int
	b     strings.Builder
}

func (s *stringReader) read() string {
	l := s.l
	for s.i < len(l.src) && s.i-s.start < maxString && s.lines < maxStringLines {
		rest := l.src[s.i:]
		if rest[0] == '\n' || strings.HasPrefix(rest, "\r\n") {
			if structural(rest[strings.IndexByte(rest, '\n')+1:]) {
				return s.unclosed(s.i)
			}
			s.newline()
			continue
		}
		if q := quoteAt(rest); q.family == s.open.family {
			switch text := s.b.String(); {
			case onlyName(text):
				return s.unclosed(s.i)
			case l.endsString(s.i+q.size, text):
				if s.open.plain && !q.plain {
					l.repaired(s.i, rest[:q.size]+` read as "`)
				}
				l.off = s.i + q.size
				return text
			case memberName(rest[q.size:], true) > 0, memberName(text, false) > 0, opensItem(text, rest[q.size:]):
				return s.unclosed(s.i)
			}
			if !q.plain && s.open.plain || q.family == '\'' { // an apostrophe, or typographic marks in a plain string
				s.b.WriteString(rest[:q.size])
			} else {
				l.repaired(s.i, "a quotation mark inside a string; read as part of it")
				s.b.WriteByte(s.open.family)
			}
			s.i += q.size
			continue
		}
		s.i += l.character(&s.b, s.i)
	}
	end := s.start + lineLen(l.src[s.start:])
	l.note(s.start, Fault, "the string is not closed")
	l.off = end
	return l.src[s.start+s.open.size : max(end, s.start+s.open.size)]
}

// opensItem reports whether the quotation mark between text and rest opens an item of a list, so
// that the item before lacks its closing mark: ["broker, "controller"].
func opensItem(text, rest string) bool {
	item, ok := strings.CutSuffix(strings.TrimRight(text, " "), ",")
	if n := wordLen(rest); !ok || item == "" || wordLen(item) != len(item) || quoteAt(rest[n:]).size == 0 {
		return false
	}
	return true
}

// newline passes over a newline inside the string and the space around it.
func (s *stringReader) newline() {
	l := s.l
	l.repaired(s.i, "a newline inside a string; read as a space")
	text := strings.TrimRight(s.b.String(), " ")
	s.b.Reset()
	s.b.WriteString(text + " ")
	for s.i < len(l.src) && (strings.IndexByte(" \t\r\n", l.src[s.i]) >= 0) {
		if l.src[s.i] == '\n' {
			s.lines++
		}
		s.i++
	}
}

// unclosed ends a string that lacks its closing mark before off: in front of the punctuation that
// stands there.
func (s *stringReader) unclosed(off int) string {
	l := s.l
	from := s.start + s.open.size
	text := strings.TrimRight(l.src[from:off], " \t\r\n,{}[]")
	if key := memberName(text, false); key > 0 { // "name: without its second mark
		text = text[:key]
	}
	l.repaired(from+len(text), "the closing quotation mark is missing; assumed here")
	l.off = from + len(text)
	return text
}

// endsString reports whether a quotation mark that ends at off can be the end of a string with
// the given content: whether what follows can follow a string.
func (l *lexer) endsString(off int, text string) bool {
	rest := trimSpaces(l.src[off:])
	if rest == "" || rest[0] == '\n' || rest[0] == '\r' || remark(rest) {
		return true
	}
	switch rest[0] {
	case ':', '}', ']', '{', '[', ';':
		return true
	case '=':
		return memberNames[text]
	case ',':
		return endsItem(trimSpaces(rest[1:]))
	}
	if q := quoteAt(rest); q.size > 0 {
		inner := rest[q.size:]
		n := wordLen(inner)
		if n == 0 || memberNames[text] {
			return memberNames[text]
		}
		behind := inner[n:]
		if q := quoteAt(behind); q.size > 0 {
			behind = trimSpaces(behind[q.size:])
		}
		return punctuated(behind)
	}
	return memberName(rest, false) > 0 || memberNames[text] && wordLen(rest) > 0
}

// endsItem reports whether rest, behind a comma, can be the next member or item.
func endsItem(rest string) bool {
	if rest == "" || rest[0] == '\n' || rest[0] == '\r' || remark(rest) || quoteAt(rest).size > 0 || strings.IndexByte("{}[],", rest[0]) >= 0 {
		return true
	}
	n := wordLen(rest)
	if n == 0 {
		return false
	}
	rest = trimSpaces(rest[n:])
	return rest == "" || strings.IndexByte("\r\n:,]}=", rest[0]) >= 0 || quoteAt(rest).plain
}

// remark reports whether s begins with a comment or with dots.
func remark(s string) bool {
	return strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*") || s[0] == '#' || strings.HasPrefix(s, "<!--") ||
		arrow(s) || ellipsis(s) > 0
}

// trimSpaces cuts the spaces that s begins with, up to the end of the line.
func trimSpaces(s string) string {
	for s != "" {
		n := 0
		if s[0] == ' ' || s[0] == '\t' {
			n = 1
		} else if _, n = oddSpace(s); n == 0 {
			n = htmlTag(s)
		}
		if n == 0 {
			break
		}
		s = s[n:]
	}
	return s
}

// structural reports whether a line begins as lines between strings do: with a member's name and
// a colon, or with a bracket.
func structural(line string) bool {
	line = trimSpaces(line)
	if line == "" {
		return false
	}
	if strings.IndexByte("{}[]", line[0]) >= 0 {
		return true
	}
	line = line[quoteAt(line).size:]
	return memberName(line, true) > 0 || memberName(line, false) > 0
}

// memberName returns the length of the member's name that s begins with, when a colon follows
// it; with closed, a quotation mark stands between.
func memberName(s string, closed bool) int {
	n := wordLen(s)
	if !memberNames[s[:n]] {
		return 0
	}
	rest := s[n:]
	if closed {
		q := quoteAt(rest)
		if q.size == 0 {
			return 0
		}
		rest = rest[q.size:]
	}
	rest = trimSpaces(rest)
	if rest != "" && (rest[0] == ':' || rest[0] == '=') {
		return n
	}
	return 0
}

// memberNames are the members of definitions, structs and fields.
var memberNames = set("apiKey", "type", "name", "listeners", "validVersions", "deprecatedVersions", "flexibleVersions",
	"latestVersionUnstable", "fields", "commonStructs", "versions", "nullableVersions", "taggedVersions", "tag", "default",
	"entityType", "mapKey", "ignorable", "zeroCopy", "about")
