package tree

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Text writes trees as text, one node a line:
//
//	+-- NAME TYPE = VALUE (NOTE) [0xOFF, NB] ABOUT
//
// Offsets are from the buffer's first byte; those in derived sources have the source's number
// in front. The zero value writes without colour and cuts long values.
type Text struct {
	Full    bool // long strings and bytes are not cut
	Secrets bool // secret values are shown
	Values  Values
	Color   bool // ANSI colours
	// UUIDName gives a uuid a name for its note, or "".
	UUIDName func(desc *Desc, id []byte) string
	// Spill is given a text that has grown past a mebibyte, and returns the buffer to go on with. Where
	// it returns false, nothing more is written. Nil keeps the text whole.
	Spill func([]byte) ([]byte, bool)

	dst    []byte
	t      *Tree
	indent []byte
	issue  int // next of t.Issues, which are sorted by node
	byNode []NodeIssue
	next   int // length from which on the text is spilled; 0 where nothing more is written
}

// spillAt is the length of a text from which on it is spilled.
const spillAt = 1 << 20

// room spills a long text, and reports whether more may come.
func (x *Text) room() bool { return len(x.dst) < x.next || x.spilled() }

// spilled is room of a text that is long, or may not be.
func (x *Text) spilled() bool {
	if x.next > 0 {
		var more bool
		if x.dst, more = x.Spill(x.dst); !more {
			x.next = 0 // no text is short enough
		}
	}
	return x.next > 0
}

// Widths at which texts are cut.
const (
	aboutMax  = 78 // characters, the dots included
	stringMax = 120
	bytesMax  = 32
)

// Append appends the lines of t to dst.
func (x *Text) Append(dst []byte, t *Tree) []byte {
	if len(t.Nodes) == 0 {
		return dst
	}
	x.dst, x.t, x.indent, x.issue = dst, t, x.indent[:0], 0
	if x.next = spillAt; x.Spill == nil {
		x.next = math.MaxInt
	}
	x.sortIssues()
	x.line(0)
	x.dst = append(x.dst, '\n')
	x.issues(0, t.Nodes[0].Next > 1)
	x.children(0)
	dst, x.dst, x.t = x.dst, nil, nil
	return dst
}

// sortIssues orders issues by node; those of a node keep their order.
func (x *Text) sortIssues() {
	x.byNode = append(x.byNode[:0], x.t.Issues...)
	for i := 1; i < len(x.byNode); i++ {
		for j := i; j > 0 && x.byNode[j-1].Node > x.byNode[j].Node; j-- {
			x.byNode[j-1], x.byNode[j] = x.byNode[j], x.byNode[j-1]
		}
	}
}

func (x *Text) children(parent int32) {
	nodes := x.t.Nodes
	end := nodes[parent].Next
	last := int32(-1) // the last child that is shown
	for i := parent + 1; i < end; i = nodes[i].Next {
		if nodes[i].Flags&FlagComputed == 0 {
			last = i
		}
	}
	for i := parent + 1; i < end && x.room(); i = nodes[i].Next {
		if nodes[i].Flags&FlagComputed != 0 {
			continue
		}
		x.dst = append(x.dst, x.indent...)
		x.dst = append(x.dst, "+-- "...)
		x.line(i)
		x.dst = append(x.dst, '\n')
		mark := len(x.indent)
		if i == last {
			x.indent = append(x.indent, "    "...)
		} else {
			x.indent = append(x.indent, "|   "...)
		}
		x.issues(i, nodes[i].Next > i+1)
		x.children(i)
		x.indent = x.indent[:mark]
	}
}

// issues writes the issues of a node below it.
func (x *Text) issues(node int32, children bool) {
	for x.issue < len(x.byNode) && x.byNode[x.issue].Node <= node && x.room() {
		i := &x.byNode[x.issue]
		x.issue++
		x.dst = append(x.dst, x.indent...)
		if children {
			x.dst = append(x.dst, "|   "...)
		}
		x.color(issueColor(i.Severity))
		x.dst = append(x.dst, "!! "...)
		x.dst = append(x.dst, i.Code...)
		x.dst = append(x.dst, ": "...)
		x.dst = append(x.dst, i.Text...)
		x.color(colorOff)
		x.dst = append(x.dst, '\n')
	}
}

func (x *Text) line(i int32) {
	n := &x.t.Nodes[i]
	d := n.Desc
	x.name(n)
	x.typ(n)
	if x.hasValue(n) {
		x.dst = append(x.dst, " = "...)
		x.value(n)
		x.note(n)
	}
	x.span(n.Span)
	if d.About != "" {
		x.dst = append(x.dst, ' ')
		x.color(colorAbout)
		x.dst = appendCut(x.dst, d.About, aboutMax)
		x.color(colorOff)
	}
}

func (x *Text) name(n *Node) {
	x.color(colorName)
	x.dst = append(x.dst, n.Desc.Name...)
	x.color(colorOff)
	if n.Flags&FlagElement != 0 {
		x.dst = append(x.dst, '[')
		x.dst = strconv.AppendInt(x.dst, int64(n.Index), 10)
		x.dst = append(x.dst, ']')
	}
}

// typ writes " TYPE", or what groups have in its place.
func (x *Text) typ(n *Node) {
	switch n.Desc.Kind {
	case KindMessage:
		x.dst = append(x.dst, " message"...)
		x.version(n.Aux)
	case KindGroup:
		x.version(n.Aux)
	case KindTag:
		x.dst = append(x.dst, " tag "...)
		x.dst = strconv.AppendInt(x.dst, n.Aux, 10)
	default:
		x.dst = append(x.dst, ' ')
		x.color(colorType)
		x.dst = append(x.dst, n.Desc.Type...)
		x.color(colorOff)
		if n.Desc.Kind == KindPayload {
			x.version(n.Aux)
		}
	}
}

func (x *Text) version(v int64) {
	if v >= 0 {
		x.dst = append(x.dst, " v"...)
		x.dst = strconv.AppendInt(x.dst, v, 10)
	}
}

func (x *Text) span(s Span) {
	x.dst = append(x.dst, " ["...)
	if s.Source != 0 {
		x.dst = append(x.dst, '#')
		x.dst = strconv.AppendInt(x.dst, int64(s.Source), 10)
		x.dst = append(x.dst, ':')
	}
	x.dst = append(x.dst, "0x"...)
	x.dst = appendHex(x.dst, uint64(s.Off), 4)
	x.dst = append(x.dst, ", "...)
	x.dst = strconv.AppendInt(x.dst, int64(s.Len), 10)
	x.dst = append(x.dst, "B]"...)
}

// hasValue reports whether the line of n shows a value.
func (x *Text) hasValue(n *Node) bool {
	switch n.Desc.Kind {
	case KindMessage, KindGroup, KindTag, KindPayload:
		return false
	case KindStruct:
		return n.Flags&FlagBody == 0
	}
	return true
}

func (x *Text) value(n *Node) {
	d := n.Desc
	switch {
	case d.Kind == KindTags && n.Flags&FlagStructural != 0: // the leaf of an empty section
		x.dst = append(x.dst, '0')
	case d.Kind == KindArray || d.Kind == KindTags || d.Kind == KindRecords:
		x.count(n)
	case n.Flags&FlagNull != 0:
		x.dst = append(x.dst, "null"...)
	case d.Secret && !x.Secrets:
		x.dst = append(x.dst, "<hidden, "...)
		x.dst = strconv.AppendInt(x.dst, n.Num, 10)
		x.dst = append(x.dst, " bytes>"...)
	case d.Data && x.Values != ValuesFull:
		if !x.origin(n) {
			x.dst = x.Values.Append(x.dst, x.t.Bytes(n))
		}
	default:
		x.scalar(n)
	}
}

func (x *Text) count(n *Node) {
	unit := " element"
	switch n.Desc.Kind {
	case KindTags: // the number is the value
		x.dst = strconv.AppendInt(x.dst, int64(n.Count), 10)
		return
	case KindRecords:
		unit = " byte"
		if n.Flags&FlagNull == 0 {
			n = &Node{Count: int32(n.Num)}
		}
	}
	switch {
	case n.Flags&FlagNull != 0:
		x.dst = append(x.dst, "null"...)
	case n.Count == 0:
		x.dst = append(x.dst, "empty"...)
	default:
		x.dst = strconv.AppendInt(x.dst, int64(n.Count), 10)
		x.dst = append(x.dst, unit...)
		if n.Count != 1 {
			x.dst = append(x.dst, 's')
		}
	}
}

func (x *Text) scalar(n *Node) {
	switch n.Desc.Kind {
	case KindStruct:
		x.dst = append(x.dst, "struct"...)
	case KindBool:
		x.dst = strconv.AppendBool(x.dst, n.Num != 0)
	case KindFloat64:
		x.dst = strconv.AppendFloat(x.dst, math.Float64frombits(uint64(n.Num)), 'g', -1, 64)
	case KindUUID:
		x.dst = AppendUUID(x.dst, x.t.Bytes(n))
	case KindString:
		x.text(x.t.Bytes(n))
	case KindBytes, KindRest:
		x.blob(n)
	default:
		if n.Flags&FlagChecked != 0 {
			x.dst = append(x.dst, "0x"...)
			x.dst = appendHex(x.dst, uint64(n.Num), 8)
			return
		}
		x.dst = strconv.AppendInt(x.dst, n.Num, 10)
	}
}

func (x *Text) text(b []byte) {
	if x.Full || len(b) <= stringMax {
		x.quoted(b)
		return
	}
	cut := stringMax
	for cut > 0 && !utf8.RuneStart(b[cut]) {
		cut--
	}
	x.dst = appendQuoted(x.dst, b[:cut])
	x.dst = append(x.dst, "... "...)
	x.dst = strconv.AppendInt(x.dst, int64(len(b)), 10)
	x.dst = append(x.dst, 'B')
}

// longValue is the length from which on values are written in pieces.
const longValue = 64 << 10

// quoted writes b as a Go string, in pieces if it is long.
func (x *Text) quoted(b []byte) {
	if x.Spill == nil || len(b) <= longValue {
		x.dst = appendQuoted(x.dst, b)
		return
	}
	x.dst = append(x.dst, '"')
	for len(b) > 0 && x.room() {
		n := min(longValue, len(b))
		for back := 1; n < len(b) && back < utf8.UTFMax && !utf8.RuneStart(b[n]); back++ {
			n--
		}
		from := len(x.dst)
		x.dst = appendQuoted(x.dst, b[:n])
		x.dst = append(x.dst[:from], x.dst[from+1:len(x.dst)-1]...) // without its quotes
		b = b[n:]
	}
	x.dst = append(x.dst, '"')
}

// hex writes b as hex digits, in pieces if it is long.
func (x *Text) hex(b []byte) {
	for len(b) > 0 && x.room() {
		n := min(longValue, len(b))
		x.dst = hex.AppendEncode(x.dst, b[:n])
		b = b[n:]
	}
}

// appendQuoted appends b as a Go string, most of which stand for themselves.
func appendQuoted(dst, b []byte) []byte {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.AppendQuote(dst, string(b))
		}
	}
	dst = append(dst, '"')
	dst = append(dst, b...)
	return append(dst, '"')
}

func (x *Text) blob(n *Node) {
	if x.origin(n) {
		return
	}
	b := x.t.Bytes(n)
	if len(b) == 0 {
		x.dst = append(x.dst, "empty"...)
		return
	}
	if printable(b) {
		x.text(b)
		return
	}
	if x.Full || len(b) <= bytesMax {
		x.dst = append(x.dst, "0x"...)
		x.hex(b)
		return
	}
	x.dst = append(x.dst, "0x"...)
	x.dst = hex.AppendEncode(x.dst, b[:bytesMax])
	x.dst = append(x.dst, "... "...)
	x.dst = strconv.AppendInt(x.dst, int64(len(b)), 10)
	x.dst = append(x.dst, 'B')
}

// origin writes which source was made from the bytes of n. It reports whether there is one.
func (x *Text) origin(n *Node) bool {
	for i := range x.t.Origins {
		if o := &x.t.Origins[i]; o.From.Source == n.Span.Source && o.From.End() == n.Span.End() && int64(o.From.Len) == n.Num && n.Num > 0 {
			x.dst = append(x.dst, o.Codec...)
			x.dst = append(x.dst, ", "...)
			x.dst = strconv.AppendInt(x.dst, n.Num, 10)
			x.dst = append(x.dst, "B -> "...)
			x.dst = strconv.AppendInt(x.dst, int64(len(x.t.Sources[o.Source])), 10)
			x.dst = append(x.dst, "B as #"...)
			x.dst = strconv.AppendInt(x.dst, int64(o.Source), 10)
			return true
		}
	}
	return false
}

// printable reports whether b is text that a line can show as it is.
func printable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return true
}

// note writes " (NOTE)": an encoding, a word of an enumeration, a time, a verdict.
func (x *Text) note(n *Node) {
	mark := len(x.dst)
	x.dst = append(x.dst, " ("...)
	begin := len(x.dst)
	x.remark(n)
	if len(x.dst) == begin {
		x.dst = x.dst[:mark]
		return
	}
	x.dst = append(x.dst, ')')
}

// remark writes the NOTE alone.
func (x *Text) remark(n *Node) {
	d := n.Desc
	switch {
	case d.Kind == KindArray || d.Kind == KindTags || d.Kind == KindRecords:
	case n.Flags&FlagChecked != 0:
		if n.Num == n.Aux {
			x.dst = append(x.dst, "ok"...)
			break
		}
		x.dst = append(x.dst, "BAD, computed 0x"...)
		x.dst = appendHex(x.dst, uint64(n.Aux), 8)
	case d.Kind == KindString || d.Kind == KindBytes:
		x.length(n)
	case d.Kind == KindUUID:
		if x.UUIDName != nil {
			x.dst = append(x.dst, x.UUIDName(d, x.t.Bytes(n))...)
		}
	case d.Kind == KindStruct || d.Kind == KindRest:
	case n.Flags&FlagStructural != 0 && d.Enc == EncCompact:
		x.dst = append(x.dst, "compact, n+1"...)
	case n.Flags&FlagStructural != 0 && d.Enc == EncInt32:
		x.dst = append(x.dst, "int32, n"...)
	case d.Names != nil:
		x.dst = append(x.dst, d.Names.Name(n.Num)...)
	case d.Derived:
		x.dst = append(x.dst, "= "...)
		x.dst = strconv.AppendInt(x.dst, n.Aux, 10)
		if d.Time && n.Aux >= 0 {
			x.dst = append(x.dst, ", "...)
			x.dst = appendTime(x.dst, n.Aux)
		}
	case d.Time && n.Num >= 0:
		x.dst = appendTime(x.dst, n.Num)
	}
}

// length notes how the length of a string or of bytes was sent.
func (x *Text) length(n *Node) {
	switch n.Desc.Enc {
	case EncCompact:
		x.dst = append(x.dst, "compact, len+1="...)
	case EncInt16:
		x.dst = append(x.dst, "int16 len="...)
	case EncInt32:
		x.dst = append(x.dst, "int32 len="...)
	case EncVarint:
		x.dst = append(x.dst, "varint len="...)
	default:
		return
	}
	x.dst = strconv.AppendInt(x.dst, n.Aux, 10)
}

// AppendUUID appends the hyphenated form of 16 bytes.
func AppendUUID(dst, id []byte) []byte {
	if len(id) != 16 {
		return hex.AppendEncode(dst, id)
	}
	for i, n := range [...]int{4, 6, 8, 10, 16} {
		from := 0
		if i > 0 {
			dst = append(dst, '-')
			from = [...]int{4, 6, 8, 10}[i-1]
		}
		dst = hex.AppendEncode(dst, id[from:n])
	}
	return dst
}

// appendTime appends milliseconds since 1970 as UTC.
func appendTime(dst []byte, ms int64) []byte {
	return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.999Z")
}

// appendHex appends v in lower-case hex with at least width digits.
func appendHex(dst []byte, v uint64, width int) []byte {
	n := max(width, 1)
	for n < 16 && v>>(4*n) != 0 {
		n++
	}
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, "0123456789abcdef"[v>>(4*i)&0xf])
	}
	return dst
}

// appendCut appends s, cut to at most n characters that end in dots.
func appendCut(dst []byte, s string, n int) []byte {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return append(dst, s...)
	}
	at, left := 0, n-3
	for at = range s {
		if left == 0 {
			break
		}
		left--
	}
	return append(append(dst, s[:at]...), "..."...)
}
