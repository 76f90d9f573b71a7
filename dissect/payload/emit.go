package payload

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// emit gives the events of the form's payload, whose bytes lie at at, behind the leaf length
// where there is one.
func (d *Decoder) emit(at tree.Span, length *tree.Event, path string, sink tree.Sink) {
	f := &d.form
	e := tree.Event{Desc: d.descs.group(f.holder, f.name), Span: at, Aux: f.version}
	if length != nil {
		e.Span.Off = length.Span.Off
		e.Span.Len += length.Span.Len
	}
	if sink.Begin(e) {
		if length != nil {
			sink.Leaf(*length)
		}
		sink.Leaf(tree.Event{Desc: nameDesc, Span: empty(at, 0), Value: tree.Value{Bytes: bytesOf(f.name)}, Flags: tree.FlagComputed})
		d.members(at, path+"Decoded", sink)
	}
	sink.End(e)
}

// members gives the events of the fields that lead, the header and the body.
func (d *Decoder) members(at tree.Span, path string, sink tree.Sink) {
	f, data := d.form, d.data // decoding what is inside may not change them
	off := 0
	versioned := false
	for _, l := range f.leads[:f.n] {
		e := tree.Event{Desc: l.desc, Span: part(at, off, l.size), Value: tree.Value{Num: l.num}}
		if l.desc.Key == "" {
			e.Flags = tree.FlagStructural
		}
		versioned = versioned || l.desc.Key == versionDesc.Key
		sink.Leaf(e)
		off += l.size
	}
	if !versioned && f.version >= 0 {
		sink.Leaf(tree.Event{Desc: versionDesc, Span: empty(at, off), Value: tree.Value{Num: f.version}, Flags: tree.FlagComputed})
	}
	if f.header != nil {
		d.nested(f.header, "header", data, f.headerAt, at, path, sink)
	}
	if f.sasl != nil {
		f.sasl.Walk(data, at, d.records.NextSource, sink)
		return
	}
	if f.body == nil {
		d.walkMetrics(data, at, path, sink)
		return
	}
	d.nested(f.body, "body", data, f.bodyAt, at, path, sink)
	if f.note != "" {
		sink.Issue(tree.Issue{Severity: tree.Info, Code: tree.CodePayload, Span: part(at, f.bodyAt, f.end-f.bodyAt), Path: path, Text: f.note})
	}
	d.trailing(&f, data, at, path, sink)
}

// trailing gives the bytes behind a body.
func (d *Decoder) trailing(f *form, data []byte, at tree.Span, path string, sink tree.Sink) {
	n := len(data) - f.end
	if n == 0 {
		return
	}
	desc := trailingDesc
	if f.hide {
		desc = secretRestDesc
	}
	span := part(at, f.end, n)
	sink.Leaf(tree.Event{Desc: desc, Span: span, Value: tree.Value{Bytes: data[f.end:]}, Flags: tree.FlagStructural})
	sink.Issue(tree.Issue{Severity: tree.Info, Code: tree.CodeTrailing, Span: span, Path: path, Text: strconv.Itoa(n) + " bytes behind the end of " + f.name})
}

// part returns n bytes of a span from off on.
func part(at tree.Span, off, n int) tree.Span {
	return tree.Span{Source: at.Source, Off: at.Off + int32(off), Len: int32(n)}
}

func empty(at tree.Span, off int) tree.Span { return part(at, off, 0) }

// inner decodes the bodies of payloads, and the payloads in these.
type inner struct {
	walk    walk.Decoder
	payload Decoder
	shift   shift
}

// nested gives the events of a header or a body, which JSON shows as the member key.
func (d *Decoder) nested(p *schema.Plan, key string, data []byte, off int, at tree.Span, path string, sink tree.Sink) {
	if d.inside == nil {
		d.inside = &inner{}
		d.inside.payload = Decoder{
			catalogue: d.catalogue, records: d.records, index: d.index, descs: d.descs, depth: d.depth + 1,
		}
		d.inside.walk.Payloads = &d.inside.payload
	}
	in := d.inside
	in.payload.outer = d.now.group
	in.walk.Context = walk.Context{Topics: d.ctx.Topics}
	in.shift = shift{to: sink, source: at.Source, base: at.Off, path: path + "." + key, root: d.descs.body(p.Body, key)}
	if d.form.bare {
		in.shift.path = path
	}
	in.walk.Body(data, off, p, &in.shift)
	in.shift.to = nil
}

// shift is a sink that moves the events of a buffer to where it lies in another.
type shift struct {
	to     tree.Sink
	source int32
	base   int32
	path   string     // in front of those of issues
	root   *tree.Desc // in place of the outermost group's
	depth  int
}

func (s *shift) move(span *tree.Span) {
	if span.Source == 0 {
		span.Source = s.source
		span.Off += s.base
	}
}

// Begin implements tree.Sink.
func (s *shift) Begin(e tree.Event) bool {
	s.outermost(&e)
	s.depth++
	s.move(&e.Span)
	return s.to.Begin(e)
}

// End implements tree.Sink.
func (s *shift) End(e tree.Event) {
	s.depth--
	s.outermost(&e)
	s.move(&e.Span)
	s.to.End(e)
}

func (s *shift) outermost(e *tree.Event) {
	if s.depth == 0 {
		e.Desc = s.root
	}
}

// Leaf implements tree.Sink.
func (s *shift) Leaf(e tree.Event) {
	s.move(&e.Span)
	s.to.Leaf(e)
}

// Issue implements tree.Sink.
func (s *shift) Issue(i tree.Issue) {
	s.move(&i.Span)
	switch {
	case i.Path == "":
		i.Path = s.path
	case i.Path[0] == '[':
		i.Path = s.path + i.Path
	default:
		i.Path = s.path + "." + i.Path
	}
	s.to.Issue(i)
}

// Source implements tree.Sink.
func (s *shift) Source(id int32, data []byte, origin tree.Span, codec string) {
	s.move(&origin)
	s.to.Source(id, data, origin, codec)
}
