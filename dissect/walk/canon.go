package walk

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

// Paths of deviations that are no field of a body.
const (
	HeaderPath   = "header."  // in front of the path in the header
	BodyPath     = "body"     // the body as a whole, where its layout is unknown
	TrailingPath = "trailing" // bytes behind the body
)

// Deviation is a place whose bytes differ from the canonical encoding of the value they stand
// for. Path is as in Encoder.Wire.
type Deviation struct {
	Path string
	Data []byte // aliases the frame
}

// Canon passes events on to Next and notes the deviations of a body or a header from the
// canonical encoding, so that encoding can give the same bytes again.
type Canon struct {
	Next tree.Sink
	// Records reports whether the form in which a record set is shown gives its bytes again; nil
	// takes all to.
	Records func(set []byte) bool

	buf    []byte
	found  []Deviation
	path   []step
	tags   []tagState // open tag sections
	zeros  map[*tree.Desc][]byte
	plans  map[*schema.Plan]bool
	encode Encoder
	header bool // the header is open: its paths begin with "header."
	// records counts the groups open from a record set or a payload on: what is inside stands in
	// JSON as it is on the wire.
	records int
	holder  *tree.Desc // of the bytes whose payload comes next
	set     []byte     // the record set that is open
}

// tagState is an open tag section, and the tag in it that is open.
type tagState struct {
	off   int32
	last  int64
	dirty bool
	value tree.Span // of the open tag's value
	tag   *tree.Desc
}

// Reset starts on a frame whose header or body has the layout p.
func (c *Canon) Reset(buf []byte, p *schema.Plan) {
	c.buf, c.found, c.path, c.tags, c.records = buf, c.found[:0], c.path[:0], c.tags[:0], 0
	c.header = false
	if p == nil || c.plans[p] {
		return
	}
	if c.plans == nil {
		c.plans, c.zeros = map[*schema.Plan]bool{}, map[*tree.Desc][]byte{}
	}
	c.plans[p] = true
	c.defaults(p.Root)
}

// defaults learns the encoded default of every tagged field below s.
func (c *Canon) defaults(s *schema.Struct) {
	inside := func(f *schema.Field) {
		for f.Op == schema.OpArray {
			f = f.Elem
		}
		if f.Op == schema.OpStruct {
			c.defaults(f.Struct)
		}
	}
	for i := range s.Fields {
		inside(&s.Fields[i])
	}
	for i := range s.Tags {
		f := &s.Tags[i]
		c.zeros[f.TagDesc] = c.encode.field(nil, f, missing{}, -1)
		inside(f)
	}
}

// Deviations returns what was found since Reset.
func (c *Canon) Deviations() []Deviation { return c.found }

func (c *Canon) raw(s tree.Span) []byte { return c.buf[s.Off:s.End()] }

func (c *Canon) note(suffix string, s tree.Span) {
	path := strings.TrimPrefix(where(c.path)+suffix, ".")
	if c.header {
		path = HeaderPath + path
	}
	c.found = append(c.found, Deviation{path, c.raw(s)})
}

func (c *Canon) push(e *tree.Event) {
	index := int32(-1)
	if e.Has(tree.FlagElement) {
		index = e.Index
	}
	c.path = append(c.path, step{e.Desc, index})
}

// named reports whether a group is a step of the path.
func named(e *tree.Event) bool {
	switch e.Desc.Kind {
	case tree.KindArray:
		return true
	case tree.KindStruct:
		return !e.Has(tree.FlagBody)
	}
	return false
}

// Begin notes what a group's own bytes show.
func (c *Canon) Begin(e tree.Event) bool {
	switch kind := e.Desc.Kind; {
	case c.records > 0:
		c.records++
	case kind == tree.KindRecords:
		c.records = 1
		c.set = e.Value.Bytes
		c.push(&e)
	case kind == tree.KindPayload:
		c.records = 1
		c.path = append(c.path, step{c.holder, -1})
	case kind == tree.KindTags:
		c.tags = append(c.tags, tagState{off: e.Span.Off, last: -1})
	case kind == tree.KindTag:
		t := &c.tags[len(c.tags)-1]
		t.dirty = t.dirty || e.Aux <= t.last
		t.last, t.tag = e.Aux, e.Desc
	case e.Has(tree.FlagHeader):
		c.header = true
	case named(&e):
		c.push(&e)
	}
	c.Next.Begin(e)
	return true
}

// Leaf compares a leaf with its canonical encoding.
func (c *Canon) Leaf(e tree.Event) {
	c.leaf(&e)
	c.Next.Leaf(e)
}

func (c *Canon) leaf(e *tree.Event) {
	switch {
	case c.records > 1 || e.Desc.Kind == tree.KindRest && c.records > 0:
		return
	case e.Desc == trailingDesc:
		c.note(TrailingPath, e.Span)
		return
	case e.Desc == rawDesc:
		c.note(BodyPath, e.Span)
		return
	case e.Desc.Kind == tree.KindRest && !c.inTag():
		return
	}
	if e.Has(tree.FlagStructural) {
		c.structural(e)
		return
	}
	if e.Has(tree.FlagUnknownTag) || c.records > 0 {
		return
	}
	if e.Has(tree.FlagComputed) { // bytes, whose length and inside follow
		c.holder = e.Desc
		return
	}
	c.push(e)
	if !canonical(e, c.raw(e.Span)) {
		c.note("", e.Span)
	}
	c.path = c.path[:len(c.path)-1]
}

// canonical reports whether raw is how Kafka's classes write the value of e.
func canonical(e *tree.Event, raw []byte) bool {
	if e.Has(tree.FlagNull) {
		return e.Desc.Nullable && (len(raw) == 1 && (raw[0] == 0 || raw[0] == 0xff) || e.Desc.Enc == tree.EncInt16 || e.Desc.Enc == tree.EncInt32)
	}
	switch e.Desc.Kind {
	case tree.KindBool:
		return raw[0] <= 1
	case tree.KindString:
		return len(raw)-len(e.Value.Bytes) == prefixLen(e) && utf8.Valid(e.Value.Bytes)
	case tree.KindBytes:
		return len(raw)-len(e.Value.Bytes) == prefixLen(e)
	}
	return true
}

// prefixLen returns the bytes that the length prefix of e takes.
func prefixLen(e *tree.Event) int {
	switch e.Desc.Enc {
	case tree.EncCompact:
		return wire.UvarintLen(uint32(e.Aux))
	case tree.EncInt16:
		return 2
	case tree.EncInt32:
		return 4
	}
	return 0
}

func (c *Canon) inTag() bool { return len(c.tags) > 0 }

// structural compares a length, a count, a marker, a tag or a size.
func (c *Canon) structural(e *tree.Event) {
	minimal := e.Desc.Type != "uvarint" || int(e.Span.Len) == wire.UvarintLen(uint32(e.Value.Num))
	switch {
	case e.Desc.Kind == tree.KindRest: // bytes behind a tagged field
		c.tags[len(c.tags)-1].dirty = true
	case e.Desc == tagDesc, e.Desc == tagCountDesc, e.Desc == tagSizeDesc:
		t := &c.tags[len(c.tags)-1]
		t.dirty = t.dirty || !minimal
		if e.Desc == tagSizeDesc {
			t.value = tree.Span{Off: e.Span.End(), Len: int32(e.Value.Num)}
		}
	case e.Desc.Name == tagSection: // an empty one
		if !minimal {
			c.note(".taggedFields", e.Span)
		}
	case len(c.path) == 0 || e.Desc == sizeDesc:
	default:
		c.prefix(e, minimal)
	}
}

// tagSection is the name of the leaf or group that a struct's tagged fields are in.
const tagSection = "tagged_fields"

// prefix compares the length or the marker of the group that is open.
func (c *Canon) prefix(e *tree.Event, minimal bool) {
	group := c.path[len(c.path)-1].desc
	switch {
	case group.Kind == tree.KindStruct:
		if e.Value.Num != 1 || !minimal {
			c.note(".marker", e.Span)
		}
	case group.Kind == tree.KindArray && isNull(e) && (!group.Nullable || !minimal):
		c.note("", e.Span)
	case !minimal:
		c.note(".length", e.Span)
	}
}

// isNull reports whether the length leaf e stands for null.
func isNull(e *tree.Event) bool {
	return e.Desc.Enc == tree.EncCompact && e.Value.Num == 0 || e.Value.Num < 0
}

// End completes a group.
func (c *Canon) End(e tree.Event) {
	switch kind := e.Desc.Kind; {
	case c.records > 0:
		c.records--
		if c.records == 0 {
			if c.Records != nil && kind == tree.KindRecords && !c.Records(c.set) {
				c.note("", e.Span)
			}
			c.path = c.path[:len(c.path)-1]
		}
	case kind == tree.KindTag:
		t := &c.tags[len(c.tags)-1]
		if zero, known := c.zeros[t.tag]; known && t.value.End() == e.Span.End() && bytes.Equal(zero, c.raw(t.value)) {
			t.dirty = true
		}
	case kind == tree.KindTags:
		t := c.tags[len(c.tags)-1]
		c.tags = c.tags[:len(c.tags)-1]
		if t.dirty {
			c.note(".taggedFields", e.Span)
		}
	case e.Has(tree.FlagHeader):
		c.header = false
	case named(&e):
		c.path = c.path[:len(c.path)-1]
	}
	c.Next.End(e)
}

// Issue passes an issue on.
func (c *Canon) Issue(i tree.Issue) { c.Next.Issue(i) }

// Source passes a derived buffer on.
func (c *Canon) Source(id int32, data []byte, origin tree.Span, codec string) {
	c.Next.Source(id, data, origin, codec)
}

// Trailing notes bytes behind a body that was decoded without its frame.
func (c *Canon) Trailing(b []byte) { c.found = append(c.found, Deviation{TrailingPath, b}) }
