package walk

import (
	"unicode/utf8"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

func (d *Decoder) value(f *schema.Field, flags tree.Flags, index int32) {
	off := d.r.Off()
	switch f.Op {
	case schema.OpStruct:
		d.nested(f, flags, index, off)
		return
	case schema.OpArray:
		d.array(f, flags, index, off)
		return
	case schema.OpRecords:
		d.records(f, flags, index, off)
		return
	case schema.OpBool:
		v := d.r.Int8()
		d.number(f.Desc, flags, index, b2i(v != 0), off)
	case schema.OpInt8:
		d.number(f.Desc, flags, index, int64(d.r.Int8()), off)
	case schema.OpInt16:
		d.number(f.Desc, flags, index, int64(d.r.Int16()), off)
	case schema.OpUint16:
		d.number(f.Desc, flags, index, int64(uint16(d.r.Int16())), off)
	case schema.OpInt32:
		d.number(f.Desc, flags, index, int64(d.r.Int32()), off)
	case schema.OpUint32:
		d.number(f.Desc, flags, index, int64(uint32(d.r.Int32())), off)
	case schema.OpInt64, schema.OpFloat64:
		d.number(f.Desc, flags, index, d.r.Int64(), off)
	case schema.OpUUID:
		b := d.r.Bytes(16)
		d.bytes(f.Desc, flags, index, b, 0, off)
	case schema.OpString:
		d.text(f, flags, index, off)
	case schema.OpBytes:
		d.blob(f, flags, index, off)
	}
	if d.r.Failed() {
		d.r.Rewind(off)
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// number gives a leaf that holds an integer.
func (d *Decoder) number(desc *tree.Desc, flags tree.Flags, index int32, v int64, off int) {
	if d.sink == nil || d.r.Failed() {
		return
	}
	d.sink.Leaf(tree.Event{Desc: desc, Span: d.since(off), Value: tree.Value{Num: v}, Index: index, Flags: flags})
	d.tell(desc, tree.Value{Num: v})
}

// bytes gives a leaf that holds bytes.
func (d *Decoder) bytes(desc *tree.Desc, flags tree.Flags, index int32, b []byte, sent int64, off int) {
	if d.sink == nil || d.r.Failed() {
		return
	}
	d.sink.Leaf(tree.Event{Desc: desc, Span: d.since(off), Value: tree.Value{Bytes: b}, Aux: sent, Index: index, Flags: flags})
	d.tell(desc, tree.Value{Bytes: b})
}

// since returns the span from off to the present offset.
func (d *Decoder) since(off int) tree.Span {
	return tree.Span{Off: int32(off), Len: int32(d.r.Off() - off)}
}

// text decodes a string.
func (d *Decoder) text(f *schema.Field, flags tree.Flags, index int32, off int) {
	sent, n := d.stringLength(f.Compact, off)
	if n < 0 {
		if f.Hidden != nil {
			d.hides(f) // for the synonyms
		}
		d.null(f, flags, index, sent, off)
		return
	}
	b := d.r.Bytes(n)
	if d.r.Failed() {
		return
	}
	desc := f.Desc
	switch {
	case f.Hidden != nil && d.hides(f):
		desc = f.Hidden
	case desc.Role == uint8(schema.RoleConfigName):
		d.config = b
	}
	d.bytes(desc, flags, index, b, sent, off)
	if d.sink != nil && !utf8.Valid(b) {
		d.issue(tree.Warning, tree.CodeMalformed, off, d.r.Off()-off, "not UTF-8")
	}
}

// hides reports whether the value of a config, which ends at the present offset, is secret.
func (d *Decoder) hides(f *schema.Field) bool {
	if f.Mark >= 0 {
		at := d.r.Off() + f.Mark
		d.marked = at < len(d.r.Buf()) && d.r.Buf()[at] != 0
	}
	return d.marked || schema.SecretConfig(d.config)
}

// blob decodes counted bytes.
func (d *Decoder) blob(f *schema.Field, flags tree.Flags, index int32, off int) {
	sent, n := d.longLength(f.Compact, off)
	if n < 0 {
		d.null(f, flags, index, sent, off)
		return
	}
	b := d.r.Bytes(n)
	if n > 0 && f.Desc.Role != 0 && d.Payloads != nil && d.sink != nil && !d.r.Failed() {
		d.claimed(f, flags, index, b, sent, off)
		return
	}
	d.bytes(f.Desc, flags, index, b, sent, off)
}

// stringLength reads the length of a string: a uvarint of n+1 or an int16. It returns the number
// as sent and the length, -1 for null.
func (d *Decoder) stringLength(compact bool, off int) (sent int64, n int) {
	if compact {
		u := d.r.Uvarint()
		return int64(u), int(u) - 1
	}
	s := d.r.Int16()
	if s < -1 {
		d.r.Fail(wire.Malformed, off, wire.NegativeLength, int64(s), 0)
	}
	return int64(s), int(s)
}

// longLength reads the length of bytes and records or the count of an array: a uvarint of n+1
// or an int32. It returns the number as sent and the length, -1 for null.
func (d *Decoder) longLength(compact bool, off int) (sent int64, n int) {
	if compact {
		u := d.r.Uvarint()
		return int64(u), int(u) - 1
	}
	s := d.r.Int32()
	if s < -1 {
		d.r.Fail(wire.Malformed, off, wire.NegativeLength, int64(s), 0)
	}
	return int64(s), int(s)
}

// null gives a null leaf, and an issue where the schema allows none.
func (d *Decoder) null(f *schema.Field, flags tree.Flags, index int32, sent int64, off int) {
	if d.sink == nil || d.r.Failed() {
		return
	}
	d.sink.Leaf(tree.Event{Desc: f.Desc, Span: d.since(off), Aux: sent, Index: index, Count: -1, Flags: flags | tree.FlagNull})
	d.tell(f.Desc, tree.Value{})
	d.checkNull(f, off)
}

func (d *Decoder) checkNull(f *schema.Field, off int) {
	if !f.Nullable && d.sink != nil && !d.r.Failed() {
		d.issue(tree.Warning, tree.CodeNull, off, d.r.Off()-off, "null where the schema allows none")
	}
}
