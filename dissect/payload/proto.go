package payload

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/tree"
)

// protoKind is the form of a field's value in the wire format of Protocol Buffers.
type protoKind uint8

const (
	protoVarint protoKind = iota
	protoZigzag
	protoBool
	protoFixed64
	protoDouble
	protoString
	protoBytes
	protoNested
)

// Wire types, the low three bits of a field's tag.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// protoMessage is the layout of a message: its fields by number.
type protoMessage struct{ byNumber []*protoField }

// protoField is a field of a message.
type protoField struct {
	num     uint64
	kind    protoKind
	message *protoMessage // of protoNested
	desc    *tree.Desc    // of the value, or of an element
	list    *tree.Desc    // of a repeated field, else nil
}

func (m *protoMessage) fields(list ...protoField) {
	for i := range list {
		f := &list[i]
		for int(f.num) >= len(m.byNumber) {
			m.byNumber = append(m.byNumber, nil)
		}
		m.byNumber[f.num] = f
	}
}

func (m *protoMessage) field(num uint64) *protoField {
	if num < uint64(len(m.byNumber)) {
		return m.byNumber[num]
	}
	return nil
}

var protoTypes = [...]struct {
	name string
	kind tree.Kind
}{
	protoVarint: {"varint", tree.KindInt64}, protoZigzag: {"sint32", tree.KindInt64}, protoBool: {"bool", tree.KindBool},
	protoFixed64: {"fixed64", tree.KindInt64}, protoDouble: {"double", tree.KindFloat64},
	protoString: {"string", tree.KindString}, protoBytes: {"bytes", tree.KindBytes},
}

func scalar(num uint64, name string, kind protoKind, about string) protoField {
	t := protoTypes[kind]
	return protoField{num: num, kind: kind, desc: &tree.Desc{Name: name, Key: name, Type: t.name, Kind: t.kind, About: about}}
}

// packed is a repeated field of numbers, which are written behind one tag.
func packed(num uint64, name string, kind protoKind, about string) protoField {
	t := protoTypes[kind]
	return protoField{num: num, kind: kind,
		desc: &tree.Desc{Name: t.name, Type: t.name, Kind: t.kind},
		list: &tree.Desc{Name: name, Key: name, Type: "[]" + t.name, Kind: tree.KindArray, About: about}}
}

func one(num uint64, name, typ string, m *protoMessage, about string) protoField {
	return protoField{num: num, kind: protoNested, message: m, desc: &tree.Desc{Name: name, Key: name, Type: typ, Kind: tree.KindStruct, About: about}}
}

func many(num uint64, name, typ string, m *protoMessage, about string) protoField {
	return protoField{num: num, kind: protoNested, message: m,
		desc: &tree.Desc{Name: typ, Type: typ, Kind: tree.KindStruct, About: about},
		list: &tree.Desc{Name: name, Key: name, Type: "[]" + typ, Kind: tree.KindArray, About: about}}
}

// protoItem is a field as it stands in a message.
type protoItem struct {
	num     uint64
	wire    uint64
	value   uint64 // of a number
	off     int    // of the tag
	content int    // where the bytes of a wireBytes begin, or the number
	end     int
}

// protoNext reads the field at off.
func protoNext(b []byte, off int) (it protoItem, ok bool) {
	tag, n := binary.Uvarint(b[off:])
	if n <= 0 || tag>>3 == 0 {
		return it, false
	}
	it = protoItem{num: tag >> 3, wire: tag & 7, off: off, content: off + n}
	rest := b[it.content:]
	switch it.wire {
	case wireVarint:
		it.value, n = binary.Uvarint(rest)
	case wireFixed64:
		if n = 8; len(rest) >= 8 {
			it.value = binary.LittleEndian.Uint64(rest)
		}
	case wireFixed32:
		if n = 4; len(rest) >= 4 {
			it.value = uint64(binary.LittleEndian.Uint32(rest))
		}
	case wireBytes:
		size, k := binary.Uvarint(rest)
		if k <= 0 || size > uint64(len(rest)-k) {
			return it, false
		}
		it.content += k
		n = int(size)
	default:
		return it, false
	}
	if n <= 0 && it.wire != wireBytes || n > len(b)-it.content {
		return it, false
	}
	it.end = it.content + n
	return it, true
}

// wire returns the wire type of a kind's values outside of a packed list.
func (k protoKind) wire() uint64 {
	switch k {
	case protoVarint, protoZigzag, protoBool:
		return wireVarint
	case protoFixed64, protoDouble:
		return wireFixed64
	}
	return wireBytes
}

// protoDepth is the most messages within messages.
const protoDepth = 32

// valid reports whether b is a message of this layout; fields that it does not know may be
// anything.
func (m *protoMessage) valid(b []byte, depth int) bool {
	if depth > protoDepth {
		return false
	}
	for off := 0; off < len(b); {
		it, ok := protoNext(b, off)
		if !ok {
			return false
		}
		f := m.field(it.num)
		switch {
		case f == nil:
		case f.kind == protoNested:
			if it.wire != wireBytes || !f.message.valid(b[it.content:it.end], depth+1) {
				return false
			}
		case f.list != nil && it.wire == wireBytes:
			if !f.validPacked(b[it.content:it.end]) {
				return false
			}
		case it.wire != f.kind.wire():
			return false
		}
		off = it.end
	}
	return true
}

func (f *protoField) validPacked(b []byte) bool {
	if f.kind.wire() == wireFixed64 {
		return len(b)%8 == 0
	}
	for len(b) > 0 {
		_, n := binary.Uvarint(b)
		if n <= 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// protoWalk gives the events of a message that is valid.
type protoWalk struct {
	sink tree.Sink
	buf  []byte
	at   tree.Span // where buf lies
}

var (
	protoHead    = &tree.Desc{Name: "tag, length", Type: "uvarints", Kind: tree.KindUvarint, About: "number and type of the field, and its bytes"}
	protoUnknown = &tree.Desc{Name: "unknown field", Type: "bytes", Kind: tree.KindRest, About: "a field that is not known here"}
)

func (w *protoWalk) span(from, to int) tree.Span { return part(w.at, from, to-from) }

// message gives the fields in [from, to).
func (w *protoWalk) message(m *protoMessage, from, to int) {
	b := w.buf[:to]
	for off := from; off < to; {
		it, _ := protoNext(b, off)
		off = it.end
		f := m.field(it.num)
		switch {
		case f == nil:
			w.sink.Leaf(tree.Event{Desc: protoUnknown, Span: w.span(it.off, it.end), Value: tree.Value{Bytes: b[it.off:it.end]}, Flags: tree.FlagStructural})
		case f.list != nil:
			off = w.list(f, it, to)
		case f.kind == protoNested:
			w.nested(f, it, 0, 0)
		default:
			w.scalar(f, it.off, it, 0, 0)
		}
	}
}

// list gives a repeated field, whose elements mostly stand one behind the other, and returns
// where the run ends.
func (w *protoWalk) list(f *protoField, first protoItem, to int) int {
	if f.kind != protoNested && first.wire == wireBytes {
		w.packed(f, first)
		return first.end
	}
	b := w.buf[:to]
	count, end := int32(0), first.off
	for end < to {
		it, _ := protoNext(b, end)
		if it.num != f.num || it.wire != first.wire {
			break
		}
		count++
		end = it.end
	}
	e := tree.Event{Desc: f.list, Span: w.span(first.off, end), Count: count}
	if w.sink.Begin(e) {
		for i, off := int32(0), first.off; i < count; i++ {
			it, _ := protoNext(b, off)
			if f.kind == protoNested {
				w.nested(f, it, tree.FlagElement, i)
			} else {
				w.scalar(f, it.off, it, tree.FlagElement, i)
			}
			off = it.end
		}
	}
	w.sink.End(e)
	return end
}

// nested gives a message within the message.
func (w *protoWalk) nested(f *protoField, it protoItem, flags tree.Flags, index int32) {
	e := tree.Event{Desc: f.desc, Span: w.span(it.off, it.end), Aux: -1, Flags: flags, Index: index}
	if w.sink.Begin(e) {
		w.head(it)
		w.message(f.message, it.content, it.end)
	}
	w.sink.End(e)
}

func (w *protoWalk) head(it protoItem) {
	w.sink.Leaf(tree.Event{
		Desc: protoHead, Span: w.span(it.off, it.content), Value: tree.Value{Num: int64(it.end - it.content)}, Flags: tree.FlagStructural,
	})
}

// packed gives numbers behind one tag.
func (w *protoWalk) packed(f *protoField, it protoItem) {
	count := int32(0)
	step := func(off int) (protoItem, int) {
		n := 8
		e := protoItem{content: off, end: off + n}
		if f.kind.wire() == wireVarint {
			e.value, n = binary.Uvarint(w.buf[off:it.end])
			e.end = off + n
		} else {
			e.value = binary.LittleEndian.Uint64(w.buf[off:])
		}
		return e, e.end
	}
	for off := it.content; off < it.end; count++ {
		_, off = step(off)
	}
	e := tree.Event{Desc: f.list, Span: w.span(it.off, it.end), Count: count}
	if w.sink.Begin(e) {
		w.head(it)
		for i, off := int32(0), it.content; off < it.end; i++ {
			var x protoItem
			at := off
			x, off = step(off)
			w.scalar(f, at, x, tree.FlagElement, i)
		}
	}
	w.sink.End(e)
}

// scalar gives a leaf that begins at from.
func (w *protoWalk) scalar(f *protoField, from int, it protoItem, flags tree.Flags, index int32) {
	e := tree.Event{Desc: f.desc, Span: w.span(from, it.end), Flags: flags, Index: index}
	switch f.kind {
	case protoString, protoBytes:
		e.Value.Bytes = w.buf[it.content:it.end:it.end]
		e.Aux = int64(len(e.Value.Bytes))
	case protoZigzag:
		e.Value.Num = int64(it.value>>1) ^ -int64(it.value&1)
	case protoBool:
		if it.value != 0 {
			e.Value.Num = 1
		}
	default:
		e.Value.Num = int64(it.value)
	}
	w.sink.Leaf(e)
}
