package walk

import (
	"unicode/utf8"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// Visitor receives the fields that were selected of one frame, in the order of the bytes; null
// ones are left out. Bytes alias the frame.
type Visitor interface {
	// Enter begins a struct that holds something selected; the body is the first.
	Enter()
	// Leave ends it, also where an error ended decoding inside.
	Leave()
	// Number gives a field that holds an integer; element is set for one of an array.
	Number(d *tree.Desc, v int64, element bool)
	// Bytes gives a string, bytes or a uuid.
	Bytes(d *tree.Desc, b []byte, element bool)
	// Records gives the captured bytes of a record set of size bytes.
	Records(b []byte, size int)
	// Issue reports trouble, as it would a tree.Sink.
	Issue(tree.Issue)
}

// Visit decodes a frame for v like Frame, but gives selected fields only. header and body may be
// nil where the layout is unknown. Below structs and arrays that hold nothing selected it only
// checks that the layout fits.
func (d *Decoder) Visit(b []byte, size int32, header, body *Selection, v Visitor) (res Result) {
	end := 4 + max(int(size), 0)
	captured := min(len(b), end)
	b = b[:captured]
	d.r.Reset(b, 0, end)
	d.sink, d.path = nil, d.path[:0]
	d.reported, d.contained = false, false
	d.visitor.v = v
	d.r.Int32()
	if header != nil && !d.r.Failed() {
		d.visitFields(header.root)
	}
	if body != nil && !d.r.Failed() {
		d.visitStruct(body.root)
	}
	d.tellVisitor()
	res.End, res.Contained = d.r.Off(), d.contained
	switch err := d.r.Err(); {
	case err != nil:
		res.Err, res.Failed = *err, true
	case res.End < captured && body != nil:
		v.Issue(trailing(tree.Span{Off: int32(res.End), Len: int32(captured - res.End)}))
	}
	d.visitor.v = nil
	return res
}

// visitor makes a Visitor a sink, for issues alone.
type visitor struct {
	tree.Discard
	v Visitor
}

// Issue implements tree.Sink.
func (s *visitor) Issue(i tree.Issue) { s.v.Issue(i) }

// tellVisitor reports the error that sticks, once.
func (d *Decoder) tellVisitor() {
	if d.r.Failed() && !d.reported {
		d.sink = &d.visitor
		d.report()
		d.sink = nil
	}
}

// visitFields decodes the fields of a struct and its tag section from where the reader stands.
func (d *Decoder) visitFields(p *picks) {
	if end := d.visitAt(p, d.r.Window(), d.r.Off()); end >= 0 {
		d.r.Seek(end)
	}
}

// visitAt decodes the fields of a struct and its tag section at off in b, the reader's window, and
// returns the offset behind it; -1 where the reader has failed. It looks straight at the bytes
// while all is well; what is not is left to the reader, which says why.
func (d *Decoder) visitAt(p *picks, b []byte, off int) int {
	v := d.visitor.v
	for i := range p.list {
		k := &p.list[i]
		switch k.form {
		case pickFixed:
			if int(k.size) > len(b)-off {
				break
			}
			if len(k.loads) > 0 {
				k.give(v, b[off:])
			}
			off += int(k.size)
			continue
		case pickArray:
			end := d.visitAtOnce(k, b, off)
			if end >= 0 {
				off = end
				continue
			}
			if d.r.Failed() {
				return -1
			}
		case pickString, pickBytes, pickRecords:
			if end := k.counted(v, b, off); end >= 0 {
				off = end
				continue
			}
		}
		d.r.Seek(off)
		d.visitAlone(k)
		if d.r.Failed() {
			return -1
		}
		off = d.r.Off()
	}
	switch {
	case !p.flexible:
		return off
	case off < len(b) && b[off] == 0: // no tags
		return off + 1
	}
	d.r.Seek(off)
	d.visitTags(p)
	if d.r.Failed() {
		return -1
	}
	return d.r.Off()
}

// visitAtOnce decodes an array at off in b, and returns the offset behind it; -1 where the reader
// has failed, something is wrong with its count, or nobody wants its elements.
func (d *Decoder) visitAtOnce(k *pick, b []byte, off int) int {
	n, next := k.length(b, off)
	switch {
	case n == 0 || n == -1 && k.field.Nullable:
		return next
	case n < 0 || !k.want || int64(n)*int64(k.least) > int64(d.r.End()-next):
		return -1
	}
	elem := k.field.Elem
	d.path = append(d.path, step{k.field.Desc, -1})
	if elem.Op == schema.OpStruct {
		at := len(d.path)
		d.path = append(d.path, step{elem.Desc, 0})
		for i := 0; i < n && next >= 0; i++ {
			d.path[at].index = int32(i)
			next = d.visitStructAt(k.inner, b, next)
		}
		d.path = d.path[:at]
	} else {
		d.r.Seek(next)
		d.visitElements(k, n)
		if next = d.r.Off(); d.r.Failed() {
			next = -1
		}
	}
	d.path = d.path[:len(d.path)-1]
	return next
}

// give gives what is wanted of a run, whose bytes b begins with.
func (k *pick) give(v Visitor, b []byte) {
	for i := range k.loads {
		l := &k.loads[i]
		if l.op == schema.OpUUID {
			v.Bytes(l.desc, b[l.at:l.at+16:l.at+16], false)
		} else {
			v.Number(l.desc, l.number(b[l.at:]), false)
		}
	}
}

// counted decodes text, bytes or a record set at off in b, and returns the offset behind it; -1
// where something is wrong.
func (k *pick) counted(v Visitor, b []byte, off int) int {
	n, next := k.length(b, off)
	if n == -1 && k.field.Nullable {
		return next
	}
	if n < 0 || n > len(b)-next {
		return -1
	}
	end := next + n
	c := b[next:end:end]
	switch {
	case k.form == pickString && !utf8.Valid(c):
		return -1
	case !k.want:
	case k.form == pickRecords:
		v.Records(c, n)
	default:
		v.Bytes(k.field.Desc, c, false)
	}
	return end
}

// visitAlone decodes a field, or those of a run one by one, so that trouble has its path.
func (d *Decoder) visitAlone(k *pick) {
	if k.form != pickFixed {
		d.visitField(k, false)
		return
	}
	for i := 0; i < len(k.inner.list) && !d.r.Failed(); i++ {
		d.visitField(&k.inner.list[i], false)
	}
}

// visitField decodes one field.
func (d *Decoder) visitField(k *pick, tagged bool) {
	d.path = append(d.path, step{k.field.Desc, -1})
	d.visitValue(k, tagged)
	d.tellVisitor()
	d.path = d.path[:len(d.path)-1]
}

func (d *Decoder) visitValue(k *pick, tagged bool) {
	f, off := k.field, d.r.Off()
	switch f.Op {
	case schema.OpStruct:
		if k.want {
			d.visitNested(k, tagged, off)
			return
		}
	case schema.OpArray:
		if k.want {
			d.visitArray(k, off)
			return
		}
	case schema.OpRecords:
		d.visitRecords(k, off)
		return
	case schema.OpString:
		d.visitString(k, off)
		return
	default:
		d.visitLeaf(k, off)
		return
	}
	var flags tree.Flags
	if tagged {
		flags = tree.FlagTagged
	}
	d.value(f, flags, -1)
}

// visitLeaf decodes a number, a uuid or bytes.
func (d *Decoder) visitLeaf(k *pick, off int) {
	f := k.field
	var n int64
	var b []byte
	switch f.Op {
	case schema.OpBool:
		n = b2i(d.r.Int8() != 0)
	case schema.OpInt8:
		n = int64(d.r.Int8())
	case schema.OpInt16:
		n = int64(d.r.Int16())
	case schema.OpUint16:
		n = int64(uint16(d.r.Int16()))
	case schema.OpInt32:
		n = int64(d.r.Int32())
	case schema.OpUint32:
		n = int64(uint32(d.r.Int32()))
	case schema.OpInt64, schema.OpFloat64:
		n = d.r.Int64()
	case schema.OpUUID:
		b = d.r.Bytes(16)
	case schema.OpBytes:
		_, size := d.longLength(f.Compact, off)
		if size < 0 {
			d.visitNull(f, off)
			return
		}
		b = d.r.Bytes(size)
	}
	switch {
	case d.r.Failed():
		d.r.Rewind(off)
	case !k.want:
	case b != nil:
		d.visitor.v.Bytes(f.Desc, b, k.element)
	default:
		d.visitor.v.Number(f.Desc, n, k.element)
	}
}

// visitNull takes a negative length: of a null, or one that cannot be.
func (d *Decoder) visitNull(f *schema.Field, off int) {
	if d.r.Failed() {
		d.r.Rewind(off)
	} else if !f.Nullable {
		d.visitIssue(tree.CodeNull, off, "null where the schema allows none")
	}
}

// visitIssue warns of the bytes from off on.
func (d *Decoder) visitIssue(c tree.Code, off int, text string) {
	d.sink = &d.visitor
	d.issue(tree.Warning, c, off, d.r.Off()-off, text)
	d.sink = nil
}

// visitString decodes a string, which must be text also where nobody wants it.
func (d *Decoder) visitString(k *pick, off int) {
	f := k.field
	_, n := d.stringLength(f.Compact, off)
	if n < 0 {
		d.visitNull(f, off)
	} else if b := d.r.Bytes(n); !d.r.Failed() {
		if k.want {
			d.visitor.v.Bytes(f.Desc, b, k.element)
		}
		if !utf8.Valid(b) {
			d.visitIssue(tree.CodeMalformed, off, "not UTF-8")
		}
	}
	if d.r.Failed() {
		d.r.Rewind(off)
	}
}

// visitNested decodes a struct, with its marker where it is nullable.
func (d *Decoder) visitNested(k *pick, tagged bool, off int) {
	if k.field.Nullable {
		mark := d.marker(tagged)
		if d.r.Failed() {
			d.r.Rewind(off)
			return
		}
		if mark < 0 {
			return
		}
	}
	d.visitStruct(k.inner)
}

// visitStruct decodes a struct that holds something wanted, from where the reader stands.
func (d *Decoder) visitStruct(p *picks) {
	if end := d.visitStructAt(p, d.r.Window(), d.r.Off()); end >= 0 {
		d.r.Seek(end)
	}
}

// visitStructAt is visitAt for a struct that holds something wanted.
func (d *Decoder) visitStructAt(p *picks, b []byte, off int) int {
	d.visitor.v.Enter()
	end := d.visitAt(p, b, off)
	if end < 0 {
		d.tellVisitor()
	}
	d.visitor.v.Leave()
	return end
}

// visitArray decodes a count and that many elements.
func (d *Decoder) visitArray(k *pick, off int) {
	_, n := d.longLength(k.field.Compact, off)
	if n >= 0 {
		d.r.Count(int64(n), k.field.Elem.MinSize, off)
	}
	if d.r.Failed() {
		d.r.Rewind(off)
		return
	}
	if n < 0 {
		d.visitNull(k.field, off)
		return
	}
	d.visitElements(k, n)
}

// visitElements decodes n elements of an array.
func (d *Decoder) visitElements(k *pick, n int) {
	elem := k.field.Elem
	d.path = append(d.path, step{elem.Desc, 0})
	at := len(d.path) - 1
	for i := 0; i < n && !d.r.Failed(); i++ {
		d.path[at].index = int32(i)
		switch elem.Op {
		case schema.OpStruct:
			d.visitStruct(k.inner)
		case schema.OpString:
			d.visitString(&k.inner.list[0], d.r.Off())
		default:
			d.visitLeaf(&k.inner.list[0], d.r.Off())
		}
		if d.r.Failed() {
			d.tellVisitor()
		}
	}
	d.path = d.path[:at]
}

// visitRecords gives a record set.
func (d *Decoder) visitRecords(k *pick, off int) {
	f := k.field
	_, n := d.longLength(f.Compact, off)
	switch {
	case d.r.Failed():
		d.r.Rewind(off)
	case n < 0:
		d.visitNull(f, off)
	case n > d.r.Left():
		d.r.Bytes(n)
		d.r.Rewind(off)
	default:
		start := d.r.Off()
		have := min(n, d.r.Captured())
		if k.want {
			d.visitor.v.Records(d.r.Buf()[start:start+have:start+have], n)
		}
		d.r.Skip(have)
		d.r.Skip(n - have) // fails where bytes were not captured
	}
}

// visitTags decodes a tag section.
func (d *Decoder) visitTags(p *picks) {
	off := d.r.Off()
	n := int64(d.r.Uvarint())
	if n == 0 && !d.r.Failed() {
		return
	}
	if d.r.Count(n, 2, off) == 0 {
		d.r.Rewind(off)
		return
	}
	last := int64(-1)
	for i := int64(0); i < n && !d.r.Failed(); i++ {
		last = d.visitTag(p, last)
	}
}

// visitTag decodes one tagged field; last is the tag before it.
func (d *Decoder) visitTag(p *picks, last int64) int64 {
	off := d.r.Off()
	tag := int64(d.r.Uvarint())
	size := int(d.r.Uvarint())
	if d.r.Failed() {
		d.r.Rewind(off)
		return last
	}
	if tag <= last {
		d.visitIssue(tree.CodeTagOrder, off, tagOrder(tag, last))
	}
	outer := d.r.Narrow(size)
	if d.r.Failed() {
		return last
	}
	known := false
	for i := range p.tags {
		if k := &p.tags[i]; int64(k.field.Tag) == tag {
			known = true
			d.visitField(k, true)
			break
		}
	}
	if !known {
		d.r.Skip(size)
		d.tellVisitor()
	}
	d.sink = &d.visitor
	d.leave(outer)
	d.sink = nil
	return max(tag, last)
}
