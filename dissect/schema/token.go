package schema

import (
	"fmt"
	"strconv"
	"strings"
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

// tokenKind sorts the tokens of Kafka's JSON dialect.
type tokenKind uint8

const (
	tokEnd    tokenKind = iota // end of the text
	tokPunct                   // one of { } [ ] : ,
	tokString                  // text is the decoded content
	tokNumber                  // text as written
	tokWord                    // true, false, null, or a bare word such as TBD
	tokBad                     // a character that starts nothing
)

// token is a lexical element with its place. A token that strict JSON forbids is still
// delivered, with what is wrong in problem, so that a lenient reader can go on.
type token struct {
	kind     tokenKind
	text     string
	pos      Pos
	off, end int // byte range in the source
	problem  string
}

func (t token) is(punct string) bool { return t.kind == tokPunct && t.text == punct }

// describe names the token for error messages.
func (t token) describe() string {
	switch t.kind {
	case tokEnd:
		return "end of file"
	case tokString:
		return "string " + strconv.Quote(t.text)
	}
	return strconv.Quote(t.text)
}

// tokenizer splits JSON with // and /* */ comments into tokens.
type tokenizer struct {
	src  string
	off  int
	line int
	bol  int // offset of the first byte of the line
}

func newTokenizer(src string) *tokenizer {
	t := &tokenizer{src: strings.TrimPrefix(src, "\ufeff"), line: 1}
	return t
}

func (t *tokenizer) pos(off int) Pos {
	return Pos{t.line, utf8.RuneCountInString(t.src[t.bol:off]) + 1}
}

func (t *tokenizer) newline(off int) { t.line, t.bol = t.line+1, off+1 }

// skip passes over white space and comments; it returns what is wrong with them, if anything.
func (t *tokenizer) skip() string {
	for t.off < len(t.src) {
		switch c := t.src[t.off]; {
		case c == '\n':
			t.newline(t.off)
			t.off++
		case c == ' ' || c == '\t' || c == '\r':
			t.off++
		case strings.HasPrefix(t.src[t.off:], "//"):
			n := strings.IndexByte(t.src[t.off:], '\n')
			if n < 0 {
				n = len(t.src) - t.off
			}
			t.off += n
		case strings.HasPrefix(t.src[t.off:], "/*"):
			n := strings.Index(t.src[t.off+2:], "*/")
			if n < 0 {
				return "comment is not closed"
			}
			end := t.off + 2 + n + 2
			for ; t.off < end; t.off++ {
				if t.src[t.off] == '\n' {
					t.newline(t.off)
				}
			}
		default:
			return ""
		}
	}
	return ""
}

// next returns the next token; at the end of the text it keeps returning tokEnd.
func (t *tokenizer) next() token {
	problem := t.skip()
	tok := token{off: t.off, end: t.off, pos: t.pos(t.off), problem: problem}
	if problem != "" {
		t.off = len(t.src)
		tok.kind, tok.end = tokBad, t.off
		return tok
	}
	if t.off >= len(t.src) {
		return tok
	}
	switch c := t.src[t.off]; {
	case strings.IndexByte("{}[]:,", c) >= 0:
		t.off++
		tok.kind, tok.text = tokPunct, string(c)
	case c == '"':
		tok.kind = tokString
		tok.text, tok.problem = t.str()
	case wordByte(c):
		start := t.off
		for t.off < len(t.src) && wordByte(t.src[t.off]) {
			t.off++
		}
		tok.text = t.src[start:t.off]
		tok.kind = tokWord
		if c == '-' || c == '+' || c >= '0' && c <= '9' {
			tok.kind = tokNumber
		}
	default:
		_, n := utf8.DecodeRuneInString(t.src[t.off:])
		tok.kind, tok.text = tokBad, t.src[t.off:t.off+n]
		tok.problem = "unexpected character " + strconv.Quote(tok.text)
		t.off += n
	}
	tok.end = t.off
	return tok
}

func wordByte(c byte) bool {
	return c == '-' || c == '+' || c == '.' || c == '_' ||
		c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// str reads a string whose opening quote is at t.off and returns its content. A raw newline
// inside is kept and reported.
func (t *tokenizer) str() (text, problem string) {
	t.off++
	var b strings.Builder
	for t.off < len(t.src) {
		c := t.src[t.off]
		switch {
		case c == '"':
			t.off++
			return b.String(), problem
		case c == '\n':
			problem = "newline inside a string"
			t.newline(t.off)
			b.WriteByte(c)
			t.off++
		case c == '\\':
			n, ok := t.escape(&b)
			if !ok {
				problem = "unknown escape in a string"
			}
			t.off += n
		default:
			b.WriteByte(c)
			t.off++
		}
	}
	return b.String(), "string is not closed"
}

// escape decodes the escape at t.off into b and returns its length.
func (t *tokenizer) escape(b *strings.Builder) (n int, ok bool) {
	rest := t.src[t.off:]
	if len(rest) < 2 {
		return len(rest), false
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(from, rest[1]); i >= 0 {
		b.WriteByte(to[i])
		return 2, true
	}
	if rest[1] == 'u' && len(rest) >= 6 {
		if r, err := strconv.ParseUint(rest[2:6], 16, 16); err == nil {
			b.WriteRune(rune(r))
			return 6, true
		}
	}
	b.WriteByte(rest[1])
	return 2, false
}

// jsonValue is a parsed JSON value with its place.
type jsonValue struct {
	tok     token        // of a scalar; the opening bracket of an object or array
	members []jsonMember // of an object
	items   []*jsonValue // of an array
}

type jsonMember struct {
	key   token
	value *jsonValue
}

func (v *jsonValue) isObject() bool { return v.tok.is("{") }
func (v *jsonValue) isArray() bool  { return v.tok.is("[") }
func (v *jsonValue) isNull() bool   { return v.tok.kind == tokWord && v.tok.text == "null" }

// maxNesting bounds the depth of brackets, far above what a definition needs.
const maxNesting = 100

// parseJSON reads one JSON value with comments and nothing behind it; file is for errors only.
func parseJSON(file, src string) (*jsonValue, error) {
	p := &jsonParser{file: file, lex: newTokenizer(src)}
	p.advance()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd || p.tok.problem != "" {
		return nil, p.fail("%s behind the end of the definition", p.tok.describe())
	}
	return v, nil
}

type jsonParser struct {
	file string
	lex  *tokenizer
	tok  token
}

func (p *jsonParser) advance() { p.tok = p.lex.next() }

func (p *jsonParser) fail(format string, args ...any) error {
	text := p.tok.problem
	if text == "" {
		text = fmt.Sprintf(format, args...)
	}
	return &PosError{File: p.file, Pos: p.tok.pos, Text: text}
}

func (p *jsonParser) value(depth int) (*jsonValue, error) {
	v := &jsonValue{tok: p.tok}
	switch t := p.tok; {
	case t.problem != "":
		return nil, p.fail("")
	case depth > maxNesting:
		return nil, p.fail("nested more than %d deep", maxNesting)
	case t.is("{"):
		return v, p.object(v, depth)
	case t.is("["):
		return v, p.array(v, depth)
	case t.kind == tokString, t.kind == tokNumber:
	case t.kind == tokWord && (t.text == "true" || t.text == "false" || t.text == "null"):
	default:
		return nil, p.fail("want a value, found %s", t.describe())
	}
	p.advance()
	return v, nil
}

func (p *jsonParser) object(v *jsonValue, depth int) error {
	p.advance()
	for first := true; !p.tok.is("}"); first = false {
		if !first {
			if !p.tok.is(",") {
				return p.fail("want , or }, found %s", p.tok.describe())
			}
			p.advance()
		}
		key := p.tok
		if key.kind != tokString || key.problem != "" {
			return p.fail("want a member's name, found %s", key.describe())
		}
		p.advance()
		if !p.tok.is(":") {
			return p.fail("want : behind %s, found %s", key.describe(), p.tok.describe())
		}
		p.advance()
		m, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.members = append(v.members, jsonMember{key, m})
	}
	p.advance()
	return nil
}

func (p *jsonParser) array(v *jsonValue, depth int) error {
	p.advance()
	for first := true; !p.tok.is("]"); first = false {
		if !first {
			if !p.tok.is(",") {
				return p.fail("want , or ], found %s", p.tok.describe())
			}
			p.advance()
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	p.advance()
	return nil
}
