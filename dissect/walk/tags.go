package walk

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

// tags decodes a tag section (KIP-482): a count, then for each field its tag, its size and its
// bytes. A field that does not fit its size is contained in it.
func (d *Decoder) tags(s *schema.Struct) {
	off := d.r.Off()
	n := int64(d.r.Uvarint())
	if d.r.Failed() {
		d.r.Rewind(off)
		return
	}
	if n == 0 {
		if d.sink != nil {
			d.sink.Leaf(tree.Event{Desc: s.TagsDesc, Span: d.since(off), Flags: tree.FlagStructural})
		}
		return
	}
	end := d.r.Off()
	if d.r.Count(n, 2, off) == 0 { // a tag and a size take a byte each
		d.r.Rewind(off)
		return
	}
	e := tree.Event{Desc: s.TagsDesc, Span: tree.Span{Off: int32(off), Len: -1}, Count: int32(n), Aux: n}
	sink := d.sink
	if sink != nil && !sink.Begin(e) {
		d.sink = nil
	}
	if d.sink != nil {
		d.sink.Leaf(tree.Event{Desc: tagCountDesc, Span: tree.Span{Off: int32(off), Len: int32(end - off)}, Value: tree.Value{Num: n}, Flags: tree.FlagStructural})
	}
	last, next := int64(-1), 0
	for i := int64(0); i < n && !d.r.Failed(); i++ {
		last, next = d.tag(s, last, next)
	}
	d.close(e, off, sink)
}

// tag decodes one tagged field. last is the tag before it, next the place in s.Tags to look at
// first: tags are sent in ascending order.
func (d *Decoder) tag(s *schema.Struct, last int64, next int) (int64, int) {
	off := d.r.Off()
	tag := int64(d.r.Uvarint())
	sizeOff := d.r.Off()
	size := int(d.r.Uvarint())
	if d.r.Failed() {
		d.r.Rewind(off)
		return last, next
	}
	start := d.r.Off()
	var f *schema.Field
	for i := range s.Tags {
		if at := (next + i) % len(s.Tags); int64(s.Tags[at].Tag) == tag {
			f, next = &s.Tags[at], at
			break
		}
	}
	e := tree.Event{Desc: unknownTagDesc, Span: tree.Span{Off: int32(off), Len: -1}, Aux: tag, Flags: tree.FlagTagged}
	if f != nil {
		e.Desc = f.TagDesc
	} else {
		e.Flags |= tree.FlagUnknownTag
	}
	sink := d.sink
	if sink != nil && !sink.Begin(e) {
		d.sink = nil
	}
	if d.sink != nil {
		d.sink.Leaf(tree.Event{Desc: tagDesc, Span: tree.Span{Off: int32(off), Len: int32(sizeOff - off)}, Value: tree.Value{Num: tag}, Flags: tree.FlagStructural})
		d.sink.Leaf(tree.Event{Desc: tagSizeDesc, Span: tree.Span{Off: int32(sizeOff), Len: int32(start - sizeOff)}, Value: tree.Value{Num: int64(size)}, Flags: tree.FlagStructural})
		if tag <= last {
			d.issue(tree.Warning, tree.CodeTagOrder, off, start-off, tagOrder(tag, last))
		}
	}
	outer := d.r.Narrow(size)
	if !d.r.Failed() {
		if f != nil {
			d.field(f, tree.FlagTagged, -1)
		} else {
			d.unknown(tag, off, size)
		}
		d.leave(outer)
	}
	d.close(e, off, sink)
	return max(tag, last), next
}

func tagOrder(tag, last int64) string {
	return "tag " + strconv.FormatInt(tag, 10) + " behind tag " + strconv.FormatInt(last, 10)
}

// unknown gives the bytes of a tagged field that the schema does not know.
func (d *Decoder) unknown(tag int64, off, size int) {
	start := d.r.Off()
	b := d.r.Bytes(size)
	d.report()
	if d.sink == nil || d.r.Failed() {
		return
	}
	if size > 0 {
		d.bytes(tagDataDesc, tree.FlagUnknownTag, -1, b, int64(size), start)
	}
	d.issue(tree.Info, tree.CodeUnknownTag, off, d.r.Off()-off, "tag "+strconv.FormatInt(tag, 10)+" is not in the schema of this version")
}

// leave ends the region of a tagged field and covers what was not decoded of it.
func (d *Decoder) leave(outer int) {
	at, end := d.r.Off(), d.r.End()
	err, failed := d.r.Widen(outer)
	if captured := d.r.Off(); d.sink != nil && at < captured {
		b := d.r.Buf()[at:captured]
		span := tree.Span{Off: int32(at), Len: int32(len(b))}
		d.sink.Leaf(tree.Event{Desc: restDesc, Span: span, Value: tree.Value{Bytes: b}, Flags: tree.FlagStructural})
		if !failed {
			d.issue(tree.Warning, tree.CodeTrailing, at, end-at, "bytes behind a tagged field")
		}
	}
	if failed && err.Class == wire.Malformed {
		d.contained = true
		d.reported = d.r.Failed()
	}
}
