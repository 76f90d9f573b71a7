package schema

import (
	"regexp"
	"strings"
)

// Draft is what a text of definitions held: a file of Kafka's, or what was copied from a page.
type Draft struct {
	File     string
	Messages []*Message // those of which anything is sound
	Findings []Finding  // in the order of their places
}

// Faults returns the number of findings that could not be repaired. Where there are any, fields
// may be missing from the messages.
func (d *Draft) Faults() int {
	n := 0
	for _, f := range d.Findings {
		if f.Severity == Fault {
			n++
		}
	}
	return n
}

// maxDraft bounds the size of a text; the largest of Kafka's definitions has 20 KiB.
const maxDraft = 1 << 20

// ReadDraft reads the message definitions in a text. It takes Kafka's JSON with its comments, and
// what people make of that on pages: missing and surplus commas and brackets, raw newlines and
// tabs in strings, typographic quotation marks and spaces, text around the definitions, an apiKey
// that is not assigned yet. What it assumes is in the findings, and what it cannot make sense of.
// Names of members are as Kafka has them; file is for the findings.
func ReadDraft(file, src string) *Draft {
	d := &Draft{File: file}
	if len(src) > maxDraft {
		d.Findings = []Finding{{File: file, Pos: Pos{1, 1}, Severity: Fault, Text: "the text is larger than 1 MiB"}}
		return d
	}
	p := newParser(src)
	if p.lex.marks != (marks{}) && p.lex.marks.kind != 0 {
		p.repaired(0, "%s at the start of the lines; left out", p.lex.marks)
	}
	found := false
	for off, end := 0, false; !end && !p.given; {
		var v *jsonValue
		v, off, end = p.definition(off, found)
		if v == nil {
			continue
		}
		found = true
		r := definitionReader{}
		m := r.message(v)
		for _, o := range p.orphans { // behind message, which knows the definition
			r.orphan(o)
		}
		p.orphans = nil
		if m = r.sound(m); m != nil {
			d.Messages = append(d.Messages, m)
		}
		for _, n := range r.found {
			p.add(n)
		}
	}
	if !found && p.faults == 0 {
		p.fault(0, "no definition is found: an object with name, type and validVersions")
	}
	d.resolve(src, p.found)
	return d
}

// resolve turns notes into findings.
func (d *Draft) resolve(src string, notes []note) {
	l := newLines(src)
	for _, n := range notes {
		f := Finding{File: d.File, Pos: l.pos(n.off), Severity: n.severity, Text: n.text}
		if n.severity == Fault {
			f.Excerpt = excerpt(src, n.off)
		}
		d.Findings = append(d.Findings, f)
	}
	sortFindings(d.Findings)
}

// The start of a definition: a bracket and a member's name, with comments between, or, where the
// bracket was not copied, a line that begins with the name of a member.
var (
	spaces        = `(?:[\s\x{a0}\x{200b}\x{feff}\x{202f}]|&nbsp;|//[^\n]*|/\*(?:[^*]|\*[^/])*\*/)*`
	anyQuote      = `(?:["“”„«»'‘’` + "`" + `]|&quot;|&#34;)`
	definitionKey = `(?:apiKey|type|name|listeners|validVersions|deprecatedVersions|flexibleVersions|latestVersionUnstable|fields|commonStructs)`
	startPattern  = regexp.MustCompile(`\{` + spaces + anyQuote + `?` + definitionKey + anyQuote + `?[\s\x{a0}]*[:=]`)
	barePattern   = regexp.MustCompile(`(?m)^[ \t]*(?:` + anyQuote + definitionKey + anyQuote + `|apiKey|validVersions|flexibleVersions)[ \t]*:`)
)

// definition reads the next definition from off on; v is nil where the text holds none. The text
// that it passes over is noted. With more, one was found before, and an object only counts when
// it says that it is one.
func (p *parser) definition(off int, more bool) (v *jsonValue, next int, end bool) {
	p.tok = token{}
	p.start(off)
	first := p.tok
	if first.kind == tokEnd {
		return nil, off, true
	}
	start, bare := first.off, false
	if more || !first.is("{") {
		rest := p.src[start:]
		at, alone := startPattern.FindStringIndex(rest), barePattern.FindStringIndex(rest)
		switch {
		case at == nil && (alone == nil || more):
			if more {
				p.passedOver(rest, start, "behind the definition")
			}
			return nil, off, true
		case !more && alone != nil && (at == nil || alone[0] < at[0]):
			bare = true
			start += alone[0] + len(rest[alone[0]:alone[1]]) - len(strings.TrimLeft(rest[alone[0]:alone[1]], " \t"))
		default:
			start += at[0]
		}
	}
	if start > first.off {
		if more {
			p.passedOver(p.src[first.off:start], first.off, "between the definitions")
		} else {
			p.repaired(first.off, "text in front of the definition; left out")
			if bare && strings.ContainsAny(lastLine(p.src[first.off:start]), `":`) {
				p.fault(start, "the definition may begin in front of this")
			}
		}
		p.start(start)
	}
	v = &jsonValue{tok: p.tok}
	if bare {
		p.repaired(start, "the { before the definition is missing; assumed")
		v.tok = token{kind: tokPunct, text: "{", off: start, end: start}
	} else {
		p.take()
	}
	faults, noted := p.faults, len(p.found)
	p.open, p.dedent = append(p.open[:0], v), false
	for {
		p.object(v)
		if p.given || !p.continues() {
			break
		}
	}
	p.open = p.open[:0]
	next = p.tok.off
	for (p.tok.is("}") || p.tok.is("]") || p.tok.is(",")) && !p.given {
		p.repaired(p.tok.off, "%s behind the end of the definition; left out", p.tok.describe())
		next = p.tok.end
		p.take()
	}
	if more && !v.has("validVersions") && !v.has("flexibleVersions") && !v.has("apiKey") {
		p.faults, p.found = faults, p.found[:noted]
		if start == first.off { // nothing stands between it and the definition
			p.fault(v.tok.off, "the object stands outside of the definition")
		} else {
			p.add(note{v.tok.off, Warning, "the object is no definition; left out"})
		}
		v = nil
	}
	return v, max(next, off+1), p.tok.kind == tokEnd
}

// lastLine returns the last line of s that is not blank.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// passedOver notes text behind a definition. What looks like a part of one is a fault.
func (p *parser) passedOver(text string, off int, where string) {
	if at := barePattern.FindStringIndex(text); at != nil {
		p.fault(off+at[1]-1, "a member stands outside of the definition")
		return
	}
	p.repaired(off, "text %s; left out", where)
}

// continues reports whether a definition goes on behind its last bracket, which then is one too
// many.
func (p *parser) continues() bool {
	key := p.tok
	if key.is(",") {
		key = p.peek(0)
	}
	if !key.scalar() || !topNames[key.text] && key.text != "fields" && key.text != "flexibleVersions" {
		return false
	}
	if p.tok.is(",") && !p.peek(1).is(":") || !p.tok.is(",") && !p.peek(0).is(":") {
		return false
	}
	p.repaired(p.last.off, "} before %s closes the definition too early; left out", key.describe())
	if p.tok.is(",") {
		p.take()
	}
	return true
}
