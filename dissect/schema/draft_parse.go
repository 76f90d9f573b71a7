package schema

import (
	"fmt"
	"strings"
)

// jsonValue is a parsed JSON value with its place.
type jsonValue struct {
	tok     token        // of a scalar; the opening bracket of an object or array
	name    string       // of the member that it is the value of, directly or in an array
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

// has reports whether an object has a member.
func (v *jsonValue) has(name string) bool { return v.member(name) != nil }

// member returns the value of a member, or nil.
func (v *jsonValue) member(name string) *jsonValue {
	for _, m := range v.members {
		if m.key.text == name {
			return m.value
		}
	}
	return nil
}

// Bounds of a draft: the depth of brackets, far above what a definition needs, and the findings
// after which reading ends.
const (
	maxNesting  = 100
	maxFindings = 1000
	maxFaults   = 100
)

// parser reads definitions of Kafka's JSON dialect out of a text. Where the text is not as it
// should be, it assumes what the rest of the text bears out, and says so; what it cannot make
// sense of is a fault, behind which it goes on.
type parser struct {
	src    string
	lex    lexer
	ahead  []token      // looked at, and not yet taken
	tok    token        // the current one
	last   token        // the one before
	name   string       // of the member whose value is read
	open   []*jsonValue // objects and arrays around the current token
	found  []note
	faults int
	given  bool // up: too many faults
	dedent bool // an array had items that are indented like those of an array around

	// orphans are objects that belong nowhere, kept to be looked at.
	orphans []*jsonValue
}

func newParser(src string) *parser {
	p := &parser{src: src}
	p.lex = lexer{src: src, marks: findMarks(src)}
	return p
}

// start makes the token at off the current one, without taking the one before.
func (p *parser) start(off int) {
	p.lex.off, p.ahead = off, nil
	p.last = p.tok
	p.tok = p.peek(0)
	p.ahead = p.ahead[1:]
}

// take makes the next token the current one, and keeps what is to say about the one before.
func (p *parser) take() {
	for _, n := range p.tok.notes {
		p.add(n)
	}
	p.last = p.tok
	p.tok = p.peek(0)
	p.ahead = p.ahead[1:]
}

// peek returns the n-th token behind the current one.
func (p *parser) peek(n int) token {
	for len(p.ahead) <= n {
		p.ahead = append(p.ahead, p.lex.next())
	}
	return p.ahead[n]
}

func (p *parser) add(n note) {
	if n.severity == Fault {
		p.faults++
	}
	if p.faults > maxFaults || len(p.found) >= maxFindings {
		if !p.given {
			p.given = true
			p.found = append(p.found, note{n.off, Fault, "too many findings; the rest is not read"})
		}
		return
	}
	p.found = append(p.found, n)
}

func (p *parser) repaired(off int, format string, args ...any) {
	p.add(note{off, Repaired, fmt.Sprintf(format, args...)})
}

func (p *parser) fault(off int, format string, args ...any) {
	p.add(note{off, Fault, fmt.Sprintf(format, args...)})
}

// behind is the place behind the last token, where what is missing is missed.
func (p *parser) behind() int { return p.last.end }

// value reads a value; nil where there is none.
func (p *parser) value() *jsonValue {
	v := &jsonValue{tok: p.tok, name: p.name}
	switch t := p.tok; {
	case t.is("{"), t.is("["):
		if t.is("[") && p.arrayType(v) {
			return v
		}
		if len(p.open) >= maxNesting {
			p.fault(t.off, "nested more than %d deep", maxNesting)
			p.given = true
			return nil
		}
		p.open = append(p.open, v)
		p.take()
		if v.isObject() {
			p.object(v)
		} else {
			p.array(v)
		}
		p.open = p.open[:len(p.open)-1]
	case t.kind == tokString:
		p.take()
		for p.tok.kind == tokString && !p.startsMember() && p.name == "about" { // parts of one text
			p.repaired(p.tok.off, "two strings behind one another; read as one")
			v.tok.text = strings.TrimSpace(v.tok.text) + " " + strings.TrimSpace(p.tok.text)
			p.take()
		}
	case t.scalar():
		p.bare(v)
	default:
		return nil
	}
	return v
}

// startsMember reports whether the current token is the name of a member: a colon follows.
func (p *parser) startsMember() bool {
	return p.tok.scalar() && (p.peek(0).is(":") || memberNames[p.tok.text] && p.startsValue(p.peek(0)))
}

func (p *parser) startsValue(t token) bool {
	return t.scalar() && t.kind != tokWord || t.is("{") || t.is("[")
}

// arrayType reads the type of an array without its quotation marks, []string.
func (p *parser) arrayType(v *jsonValue) bool {
	end, word := p.peek(0), p.peek(1)
	if !end.is("]") || word.kind != tokWord && word.kind != tokString || word.off != end.end || quoteAt(p.src[word.off:]).size > 0 {
		return false
	}
	v.tok = token{kind: tokString, text: "[]" + word.text, off: p.tok.off, end: word.end}
	p.repaired(p.tok.off, "%s without quotation marks; read as a string", quoted(v.tok.text))
	end = word
	p.take()
	p.take()
	p.tok = v.tok
	if strings.HasPrefix(p.src[end.end:], `"`) { // only the first mark was missing
		p.start(end.end + 1)
	} else {
		p.take()
	}
	return true
}

// bare reads a number or word, which may be the start of a text without quotation marks.
func (p *parser) bare(v *jsonValue) {
	t := p.tok
	next := p.peek(0)
	line := p.src[t.end : t.end+lineLen(p.src[t.end:])]
	if (next.scalar() || next.kind == tokBad) && next.off < t.end+len(line) && quoteAt(p.src[next.off:]).size == 0 && !memberNames[next.text] {
		p.text(v, line)
		return
	}
	switch lower := strings.ToLower(t.text); {
	case t.text == "true", t.text == "false", t.text == "null", jsonNumber(t.text):
	case lower == "true", lower == "false", lower == "null":
		p.repaired(t.off, "%s read as %s", t.text, lower)
		v.tok.text = lower
	case lower == "none" && !p.inVersions():
		p.repaired(t.off, "%s read as null", t.text)
		v.tok.text = "null"
	default:
		if p.name != "apiKey" { // of which there is more to say
			p.repaired(t.off, "%s without quotation marks; read as a string", quoted(t.text))
		}
		v.tok.kind = tokString
	}
	p.take()
}

// inVersions reports whether the value at hand is a range of versions, where none is a word.
func (p *parser) inVersions() bool {
	return strings.HasSuffix(p.name, "ersions")
}

// text reads a value of several words without quotation marks, up to the next member or the end
// of the line.
func (p *parser) text(v *jsonValue, line string) {
	t := p.tok
	for i := range line {
		if q := quoteAt(line[i:]); q.size > 0 && memberName(line[i+q.size:], true) > 0 {
			line = line[:i]
			break
		}
	}
	end := t.end + len(strings.TrimRight(line, " \t\r,{}[]\""))
	v.tok = token{kind: tokString, text: p.src[t.off:end], off: t.off, end: end}
	p.repaired(t.off, "text without quotation marks; read as the string %s", quoted(v.tok.text))
	for _, n := range t.notes {
		p.add(n)
	}
	p.tok = v.tok
	if strings.HasPrefix(p.src[end:], `"`) { // only the first mark was missing
		end++
	}
	p.start(end)
}

// jsonNumber reports whether s is a number of JSON, as far as definitions have them.
func jsonNumber(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return false
	}
	for i := 0; i < len(digits); i++ {
		if c := digits[i]; (c < '0' || c > '9') && (c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' || i == 0 || i == len(digits)-1) {
			return false
		}
		if (digits[i] == '+' || digits[i] == '-') && digits[i-1] != 'e' && digits[i-1] != 'E' {
			return false
		}
	}
	return true
}
