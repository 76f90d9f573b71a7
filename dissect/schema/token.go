package schema

import (
	"html"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind sorts the tokens of Kafka's JSON dialect.
type tokenKind uint8

const (
	tokEnd      tokenKind = iota // end of the text
	tokPunct                     // one of { } [ ] : ,
	tokString                    // text is the decoded content
	tokNumber                    // text as written
	tokWord                      // true, false, null, or a bare word such as TBD
	tokEllipsis                  // dots that stand for something left out
	tokBad                       // a character that starts nothing
)

// token is a lexical element with its place, and what had to be assumed to read it and the space
// in front of it.
type token struct {
	kind     tokenKind
	text     string
	off, end int // byte range in the source
	notes    []note
}

// note is a finding about a place in the source, not yet resolved to line and column.
type note struct {
	off      int
	severity Severity
	text     string
}

func (t token) is(punct string) bool { return t.kind == tokPunct && t.text == punct }

// scalar reports whether t is a value by itself.
func (t token) scalar() bool {
	return t.kind == tokString || t.kind == tokNumber || t.kind == tokWord
}

// describe names the token for findings.
func (t token) describe() string {
	switch t.kind {
	case tokEnd:
		return "the end of the text"
	case tokString:
		return "the string " + quoted(t.text)
	}
	return quoted(t.text)
}

// quoted quotes s for a finding, cut where it is long.
func quoted(s string) string { return strconv.Quote(cut(s)) }

// cut shortens a long s.
func cut(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n == most-3 && utf8.RuneCountInString(s[i:]) > 3 {
			return s[:i] + "..."
		}
		if n++; n > most {
			break
		}
	}
	return s
}

// lexer splits JSON with // and /* */ comments into tokens. It reads what people paste, too, and
// notes what it assumed; in strict JSON it assumes nothing.
type lexer struct {
	src   string
	off   int
	notes []note // about the token at off
	marks marks  // at the start of each line
}

func (l *lexer) note(off int, severity Severity, text string) {
	l.notes = append(l.notes, note{off, severity, text})
}

// repaired notes what was assumed at off.
func (l *lexer) repaired(off int, text string) { l.note(off, Repaired, text) }

// next returns the next token; at the end of the text it keeps returning tokEnd.
func (l *lexer) next() token {
	l.notes = nil
	l.skip()
	t := token{off: l.off}
	if l.off >= len(l.src) {
		t.end, t.notes = l.off, l.notes
		return t
	}
	c := l.src[l.off]
	quote := quoteAt(l.src[l.off:])
	switch {
	case strings.IndexByte("{}[]:,", c) >= 0:
		l.off++
		t.kind, t.text = tokPunct, string(c)
	case c == ';':
		l.repaired(l.off, "; read as a comma")
		l.off++
		t.kind, t.text = tokPunct, ","
	case c == '=':
		l.equals(&t)
	case quote.size > 0:
		t.kind, t.text = tokString, l.str(quote)
	case ellipsis(l.src[l.off:]) > 0:
		l.off += ellipsis(l.src[l.off:])
		t.kind, t.text = tokEllipsis, "..."
	default:
		l.word(&t)
	}
	t.end, t.notes = l.off, l.notes
	return t
}

// equals reads = or =>, which stand for a colon.
func (l *lexer) equals(t *token) {
	n := 1
	if strings.HasPrefix(l.src[l.off:], "=>") {
		n = 2
	}
	l.repaired(l.off, l.src[l.off:l.off+n]+" read as a colon")
	l.off += n
	t.kind, t.text = tokPunct, ":"
}

// word reads a word or number, or one character that starts neither.
func (l *lexer) word(t *token) {
	rest := l.src[l.off:]
	n := wordLen(rest)
	if n > 0 {
		t.kind, t.text = tokWord, rest[:n]
		if c := rest[0]; c == '-' || c == '+' || c >= '0' && c <= '9' {
			t.kind = tokNumber
		}
		l.off += n
		l.wordEnd(t)
		return
	}
	if name, size := placeholder(rest); size > 0 {
		t.kind, t.text = tokWord, name
		l.off += size
		return
	}
	_, n = utf8.DecodeRuneInString(rest)
	t.kind, t.text = tokBad, rest[:n]
	l.off += n
}

// wordEnd makes a string of a word that only its opening quotation mark keeps from being one.
func (l *lexer) wordEnd(t *token) {
	if q := quoteAt(l.src[l.off:]); q.size > 0 && l.endsString(l.off+q.size, t.text) {
		l.repaired(t.off, "the opening quotation mark is missing; assumed here")
		l.off += q.size
		t.kind = tokString
	}
}

// wordLen returns the length of the word or number that s begins with.
func wordLen(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		if c < utf8.RuneSelf {
			if c != '-' && c != '+' && c != '.' && c != '_' && c != '?' && c != '$' && c != '/' &&
				(c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
				break
			}
			if c == '/' && (strings.HasPrefix(s[n:], "//") || strings.HasPrefix(s[n:], "/*")) {
				break
			}
			if c == '.' && ellipsis(s[n:]) > 0 {
				break
			}
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '–' && r != '—' { // dashes of ranges
			break
		}
		n += size
	}
	return n
}

// ellipsis returns the length of the dots that s begins with, where they stand for something.
func ellipsis(s string) int {
	n := 0
	for n < len(s) && s[n] == '.' {
		n++
	}
	if n >= 3 {
		return n
	}
	if strings.HasPrefix(s, "…") {
		return len("…")
	}
	return 0
}

// placeholder reads a word in angle brackets, as in <TBD>.
func placeholder(s string) (name string, size int) {
	if s[0] != '<' {
		return "", 0
	}
	n := wordLen(s[1:])
	if n == 0 || 1+n >= len(s) || s[1+n] != '>' {
		return "", 0
	}
	return s[1 : 1+n], n + 2
}

// skip passes over white space, comments, and what only a page puts between the tokens.
func (l *lexer) skip() {
	for l.off < len(l.src) {
		rest := l.src[l.off:]
		if l.off == 0 || l.src[l.off-1] == '\n' {
			if n := l.marks.at(rest); n > 0 {
				l.off += n
				continue
			}
			if l.marks.removed(rest) {
				l.repaired(l.off, "the line is marked as removed (-); left out")
				l.toLineEnd()
				continue
			}
		}
		switch c := rest[0]; {
		case c == '\n' || c == ' ' || c == '\t' || c == '\r':
			l.off++
		case strings.HasPrefix(rest, "//"):
			l.comment(rest[2:lineLen(rest)])
			l.toLineEnd()
		case strings.HasPrefix(rest, "/*"):
			l.block("/*", "*/")
		case strings.HasPrefix(rest, "<!--"):
			l.repaired(l.off, "a comment of HTML; left out")
			l.block("<!--", "-->")
		case c == '#', arrow(rest):
			l.repaired(l.off, "a remark without //; left out")
			l.toLineEnd()
		case c == '*' || c == '\\':
			l.repaired(l.off, string(c)+" left out")
			l.off++
		default:
			if !l.skipOdd(rest) {
				return
			}
		}
	}
}

// skipOdd passes over spaces that JSON does not know, and HTML, of which rest may begin with one.
func (l *lexer) skipOdd(rest string) bool {
	if name, n := oddSpace(rest); n > 0 {
		start := l.off
		for n > 0 {
			l.off += n
			_, n = oddSpace(strings.TrimLeft(l.src[l.off:], " \t"))
			if n > 0 {
				l.off += len(l.src[l.off:]) - len(strings.TrimLeft(l.src[l.off:], " \t"))
			}
		}
		if start > 0 { // a byte order mark at the start is no concern
			l.repaired(start, name+" between tokens; read as a space")
		}
		return true
	}
	if n := htmlTag(rest); n > 0 {
		l.repaired(l.off, "the HTML tag "+rest[:n]+" left out")
		l.off += n
		return true
	}
	return false
}

func lineLen(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

func (l *lexer) toLineEnd() { l.off += lineLen(l.src[l.off:]) }

// comment looks at what a comment says: dots may stand for fields.
func (l *lexer) comment(text string) {
	text = strings.TrimSpace(text)
	if ellipsis(text) > 0 {
		l.note(l.off, Warning, "the comment may stand for fields that are left out")
	}
}

// block passes over a comment with an end.
func (l *lexer) block(open, end string) {
	n := strings.Index(l.src[l.off+len(open):], end)
	if n < 0 {
		l.note(l.off, Fault, "the comment is not closed")
		l.off = len(l.src)
		return
	}
	l.off += len(open) + n + len(end)
}

// arrow reports whether s begins with an arrow, as remarks beside a line do.
func arrow(s string) bool {
	for _, a := range [...]string{"<-", "<=", "←", "⇐", "⬅"} {
		if strings.HasPrefix(s, a) {
			return true
		}
	}
	return false
}

// oddSpaces are characters that look like a space or like nothing.
var oddSpaces = map[rune]string{
	'\u00a0': "a non-breaking space", '\u202f': "a narrow non-breaking space", '\u2007': "a figure space",
	'\u200b': "a zero-width space", '\u200c': "a zero-width character", '\u200d': "a zero-width character",
	'\u2060': "a zero-width character", '\ufeff': "a byte order mark", '\u00ad': "a soft hyphen",
	'\u2028': "a line separator", '\u2029': "a paragraph separator", '\u3000': "a wide space",
	'\u200e': "a direction mark", '\u200f': "a direction mark", '\v': "a vertical tab", '\f': "a form feed",
	'\u2002': "a wide space", '\u2003': "a wide space", '\u2009': "a thin space", '\u200a': "a thin space",
}

// oddSpace returns the name and length of the odd space that s begins with, which may be an
// HTML entity.
func oddSpace(s string) (name string, size int) {
	if s == "" || s[0] >= ' ' && s[0] < utf8.RuneSelf && s[0] != '&' {
		return "", 0
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == '&' {
		var entity string
		if entity, size = entityAt(s); size == 0 {
			return "", 0
		}
		if r, _ = utf8.DecodeRuneInString(entity); r == ' ' {
			return s[:size], size
		}
	}
	if name = oddSpaces[r]; name == "" {
		return "", 0
	}
	return name, size
}

// maxEntity bounds the length of an HTML entity.
const maxEntity = 10

// entityAt decodes the HTML entity that s begins with.
func entityAt(s string) (text string, size int) {
	if len(s) < 3 || s[0] != '&' {
		return "", 0
	}
	n := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if n < 2 {
		return "", 0
	}
	text = html.UnescapeString(s[:n+1])
	if text == s[:n+1] {
		return "", 0
	}
	return text, n + 1
}

// htmlTags are the tags that pages have around and in code.
var htmlTags = []string{"a", "b", "br", "code", "del", "div", "em", "font", "i", "ins", "li", "ol", "p", "pre", "s",
	"span", "strong", "table", "tbody", "td", "th", "tr", "u", "ul"}

// htmlTag returns the length of the tag of HTML that s begins with.
func htmlTag(s string) int {
	if s[0] != '<' {
		return 0
	}
	end := strings.IndexByte(s[:lineLen(s)], '>')
	if end < 0 {
		return 0
	}
	name := strings.TrimPrefix(s[1:end], "/")
	name, _, _ = strings.Cut(name, " ")
	if !slices.Contains(htmlTags, strings.ToLower(strings.TrimSuffix(name, "/"))) {
		return 0
	}
	return end + 1
}

// lines finds the places of offsets.
type lines struct {
	src    string
	starts []int
}

func newLines(src string) *lines {
	l := &lines{src: src, starts: []int{0}}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

func (l *lines) pos(off int) Pos {
	n := sort.SearchInts(l.starts, off+1)
	start := l.starts[n-1]
	text := l.src[start:off]
	if n == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return Pos{n, utf8.RuneCountInString(text) + 1}
}
