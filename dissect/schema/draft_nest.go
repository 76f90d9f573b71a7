package schema

import (
	"slices"
	"strings"
)

// topNames are the members that only a definition has, so that they end whatever is open.
var topNames = set("apiKey", "listeners", "validVersions", "latestVersionUnstable", "deprecatedVersions", "commonStructs")

// lists are the members that hold arrays of objects.
var lists = set("fields", "commonStructs")

// object reads the members of v up to its end. Its opening bracket is taken.
func (p *parser) object(v *jsonValue) {
	comma := false // the last token was one
	for !p.given {
		t := p.tok
		switch {
		case t.is("}"):
			p.trailing(comma)
			p.take()
			return
		case t.is(","), t.is("]"), t.kind == tokEnd, t.kind == tokEllipsis:
			if p.between("}", len(v.members) == 0, &comma) {
				return
			}
			continue
		case t.is("{") && len(v.members) == 0 && !comma:
			p.repaired(t.off, "a second {; left out")
			p.take()
			continue
		case t.is("{") && len(p.open) > 1 && p.open[len(p.open)-2].isArray():
			p.missing("}", "before "+t.describe())
			return
		case p.startsMember(), t.kind == tokString && memberNames[t.text] && p.peek(0).kind == tokWord:
			if topNames[t.text] && len(p.open) > 1 {
				p.missing("}", "before "+t.describe())
				return
			}
			p.missingComma(!comma && len(v.members) > 0)
			p.member(v)
		case t.scalar() && (p.peek(0).is(",") || p.peek(0).is("}")) && memberNames[t.text]:
			p.fault(t.off, "%s has no value", t.describe())
			p.take()
		default:
			p.unexpected("a member's name")
		}
		comma = false
	}
}

// between takes what may stand between the members or items of what closer ends: a comma, the
// bracket that ends another, the end of the text, or dots. It reports whether that is the end
// here, too.
func (p *parser) between(closer string, empty bool, comma *bool) (end bool) {
	switch {
	case p.tok.is(","):
		p.comma(*comma || empty)
		*comma = true
	case p.tok.kind == tokEnd:
		p.atEnd(*comma)
		return true
	case p.tok.kind == tokEllipsis:
		p.leftOut()
		*comma = true // one may stand behind the dots or not
	default:
		return p.closes(closer)
	}
	return false
}

// member reads a name, a colon and a value into v.
func (p *parser) member(v *jsonValue) {
	key := p.tok
	if key.kind != tokString {
		p.repaired(key.off, "%s without quotation marks; read as a member's name", key.describe())
	}
	p.take()
	if p.tok.is(":") {
		p.take()
		for p.tok.is(":") {
			p.repaired(p.tok.off, "a second colon; left out")
			p.take()
		}
	} else {
		p.repaired(p.behind(), "the colon behind %s is missing; assumed", quoted(key.text))
	}
	p.name = key.text
	if lists[key.text] && p.tok.is("{") {
		p.repaired(p.tok.off, "the [ in front of the %s is missing; assumed", key.text)
		v.members = append(v.members, jsonMember{key, p.headlessArray()})
		return
	}
	value := p.value()
	if value == nil && key.text == "apiKey" && (p.tok.is(",") || p.tok.is("}")) {
		return // of which the reader of definitions tells
	}
	if value == nil {
		p.fault(p.tok.off, "%s has no value, but %s", quoted(key.text), p.tok.describe())
		if p.tok.kind == tokEllipsis {
			p.take()
		}
		return
	}
	v.members = append(v.members, jsonMember{key, value})
}

// headlessArray reads an array whose opening bracket is missing.
func (p *parser) headlessArray() *jsonValue {
	v := &jsonValue{tok: token{kind: tokPunct, text: "[", off: p.tok.off, end: p.tok.off}, name: p.name}
	p.open = append(p.open, v)
	p.array(v)
	p.open = p.open[:len(p.open)-1]
	return v
}

// array reads the items of v up to its end. Its opening bracket is taken.
func (p *parser) array(v *jsonValue) {
	comma := false
	for !p.given {
		t := p.tok
		switch {
		case t.is("]"):
			p.trailing(comma)
			p.take()
			p.dedent = p.dedent || p.dedented(v)
			return
		case t.is(","), t.is("}"), t.kind == tokEnd, t.kind == tokEllipsis:
			if p.between("]", len(v.items) == 0, &comma) {
				return
			}
			continue
		case t.is("[") && len(v.items) == 0 && !comma && lists[v.name]:
			p.repaired(t.off, "a second [; left out")
			p.take()
			continue
		case p.startsMember():
			if p.endsArray(v) {
				if topNames[t.text] && (p.dedent || p.dedented(v)) {
					p.fault(t.off, "brackets are missing before %s, and where cannot be told", t.describe())
				} else {
					p.missing("]", "before the member "+quoted(t.text))
				}
				return
			}
			p.missingComma(!comma && len(v.items) > 0)
			p.headless(v)
		default:
			p.missingComma(!comma && len(v.items) > 0 && (t.scalar() || t.is("{") || t.is("[")))
			if item := p.value(); item != nil {
				v.items = append(v.items, item)
			} else {
				p.unexpected("an item")
			}
		}
		comma = false
	}
}

// endsArray reports whether the member at hand belongs to an object around the array v, the end
// of which is missing.
func (p *parser) endsArray(v *jsonValue) bool {
	if len(p.open) < 2 {
		return false
	}
	if topNames[p.tok.text] || len(v.items) > 0 && !v.items[0].isObject() {
		return true
	}
	return p.tok.text != "name" && !p.open[len(p.open)-2].has(p.tok.text) && p.tok.text != v.name
}

// headless reads an object in the array v whose opening bracket is missing.
func (p *parser) headless(v *jsonValue) {
	off := p.tok.off
	item := &jsonValue{tok: token{kind: tokPunct, text: "{", off: off, end: off}, name: v.name}
	named := p.tok.text == "name"
	if named {
		p.repaired(off, "the { before %s is missing; assumed", p.tok.describe())
	} else {
		p.fault(off, "%s belongs to no field", p.tok.describe())
	}
	p.open = append(p.open, item)
	p.object(item)
	p.open = p.open[:len(p.open)-1]
	if named {
		v.items = append(v.items, item)
	} else {
		p.orphans = append(p.orphans, item)
	}
}

func (p *parser) comma(surplus bool) {
	if surplus {
		p.repaired(p.tok.off, "a comma too many; left out")
	}
	p.take()
}

func (p *parser) trailing(comma bool) {
	if comma && p.last.is(",") {
		p.repaired(p.last.off, "a comma before %s; left out", p.tok.describe())
	}
}

func (p *parser) missingComma(missing bool) {
	if missing && !p.last.is(",") { // one may stand in front of a bracket that was missing
		p.repaired(p.behind(), "a comma is missing behind %s; assumed before %s", p.last.describe(), p.sight())
	}
}

// sight names the current token for findings; of a bracket, with what stands in it.
func (p *parser) sight() string {
	if p.tok.kind != tokPunct {
		return p.tok.describe()
	}
	text, _, _ := strings.Cut(p.src[p.tok.off:], "\n")
	text, _, _ = strings.Cut(text, ",")
	return printable(cut(strings.TrimSpace(text)))
}

// missing notes a bracket that is assumed in front of the current token, which is not taken.
func (p *parser) missing(bracket, before string) {
	p.repaired(p.behind(), "%s is missing %s; assumed", bracket, before)
}

// leftOut notes dots where members or items should be.
func (p *parser) leftOut() {
	p.fault(p.tok.off, "something is left out here")
	p.take()
}

// unexpected notes a token that has no place here, and passes over it.
func (p *parser) unexpected(want string) {
	p.fault(p.tok.off, "want %s, found %s", want, p.tok.describe())
	if p.tok.is("{") || p.tok.is("[") {
		if v := p.value(); v != nil {
			p.orphans = append(p.orphans, v)
		}
		return
	}
	p.take()
}

// atEnd notes that the text ends inside of brackets.
func (p *parser) atEnd(comma bool) {
	if p.given {
		return
	}
	for _, n := range p.tok.notes {
		p.add(n)
	}
	want := p.closers()
	switch {
	case comma || !closesValue(p.last):
		p.fault(p.tok.off, "the text ends in the middle of the definition")
	case p.dedent || slices.ContainsFunc(p.open, p.dedented):
		p.fault(p.tok.off, "%s is missing, and where cannot be told", want)
	default:
		p.repaired(p.tok.off, "%s is missing at the end of the text; assumed", want)
	}
	p.given = true // of the brackets around, nothing is to be said any more
}

// dedented reports whether an item of the array v is indented less than the first, as if it
// belonged to an array around, the brackets between being missing.
func (p *parser) dedented(v *jsonValue) bool {
	if !v.isArray() || len(v.items) < 2 {
		return false
	}
	first, ok := p.indent(v.items[0])
	if !ok {
		return false
	}
	return slices.ContainsFunc(v.items[1:], func(item *jsonValue) bool {
		in, ok := p.indent(item)
		return ok && in != first && strings.HasPrefix(first, in)
	})
}

// indent returns the white space in front of a value that begins a line.
func (p *parser) indent(v *jsonValue) (string, bool) {
	line := p.src[:v.tok.off]
	line = strings.ReplaceAll(line[strings.LastIndexByte(line, '\n')+1:], "\u00a0", " ")
	return line, strings.Trim(line, " \t") == ""
}

// closesValue reports whether t can be the last token of a value.
func closesValue(t token) bool { return t.scalar() || t.is("}") || t.is("]") }

// closers returns the brackets that close what is open.
func (p *parser) closers() string {
	var b strings.Builder
	for i := len(p.open) - 1; i >= 0; i-- {
		b.WriteString(closer(p.open[i]))
	}
	return b.String()
}

func closer(v *jsonValue) string {
	if v.isObject() {
		return "}"
	}
	return "]"
}

// closes decides what a closing bracket of the wrong kind means: that the one which was wanted
// is missing in front of it, which it reports as true, or that it is one too many and is passed
// over. It takes what the rest of the text fits better.
func (p *parser) closes(want string) bool {
	t := p.tok
	stack := p.closers()
	missing := p.fits(stack[1:], -1)
	surplus := p.fits(stack, 0)
	switch {
	case missing == surplus && missing != fitsAll:
		p.fault(t.off, "want %s, found %s", want, t.describe())
	case missing > surplus, missing == surplus:
		p.missing(want, "before "+t.describe())
	default:
		p.repaired(t.off, "%s closes nothing; left out", t.describe())
		p.take()
		return false
	}
	if strings.Contains(stack[1:], t.text) {
		return true
	}
	p.take()
	return false
}

// maxLookahead bounds the tokens that fits looks at; the largest of Kafka's definitions has 5,000.
const maxLookahead = 20_000

// fitsAll is what fits returns where all brackets fit.
const fitsAll = int(^uint(0) >> 1)

// fits tells how many tokens fit, from the n-th behind the current one on (-1 is the current
// one), when the given brackets are still to be closed.
func (p *parser) fits(closers string, n int) int {
	stack := []byte(closers)
	slices.Reverse(stack)
	for count := 0; ; count, n = count+1, n+1 {
		if count == maxLookahead {
			return count
		}
		t := p.tok
		if n >= 0 {
			t = p.peek(n)
		}
		switch {
		case t.is("{"):
			stack = append(stack, '}')
		case t.is("["):
			stack = append(stack, ']')
		case t.is("}"), t.is("]"):
			if len(stack) == 0 || stack[len(stack)-1] != t.text[0] {
				return count
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				if next := p.peek(n + 1); next.is(",") || next.is("}") || next.is("]") {
					return count
				}
				return fitsAll
			}
		case t.kind == tokEnd:
			return count
		}
	}
}
