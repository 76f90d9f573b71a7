package walk

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// Selection is a plan with the fields that a Visitor wants picked out, so that runs of others are
// passed over at once. It is made once for a plan and read by many.
type Selection struct{ root *picks }

// Select picks the fields of p of which wanted holds. It is asked about the leaves and about
// fields that hold record sets; structs and arrays are picked for what is in them.
func Select(p *schema.Plan, wanted func(*tree.Desc) bool) *Selection {
	s := &Selection{}
	s.root, _ = selectStruct(p.Root, wanted)
	var all packed
	all.count(s.root)
	all.picks, all.loads = make([]pick, 0, all.nPicks), make([]load, 0, all.nLoads)
	all.pack(s.root)
	return s
}

// packed has the picks of a selection one behind the other, as they are read.
type packed struct {
	picks          []pick
	loads          []load
	nPicks, nLoads int
}

func (a *packed) count(p *picks) {
	a.nPicks += len(p.list)
	for i := range p.list {
		a.nLoads += len(p.list[i].loads)
		if k := &p.list[i]; k.form != pickFixed && k.inner != nil {
			a.count(k.inner)
		}
	}
}

func (a *packed) pack(p *picks) {
	n := len(a.picks)
	a.picks = append(a.picks, p.list...)
	p.list = a.picks[n:len(a.picks):len(a.picks)]
	for i := range p.list {
		k := &p.list[i]
		n := len(a.loads)
		a.loads = append(a.loads, k.loads...)
		k.loads = a.loads[n:len(a.loads):len(a.loads)]
		if k.form != pickFixed && k.inner != nil {
			a.pack(k.inner)
		}
	}
}

// picks is a struct with its fields picked.
type picks struct {
	flexible bool
	list     []pick
	tags     []pick // one for each that the layout has
}

// pickForm is how a pick is decoded where nothing is wrong.
type pickForm uint8

const (
	pickOther   pickForm = iota // as a field alone
	pickFixed                   // a run of fields of fixed size
	pickString                  // a length and text
	pickBytes                   // a length and bytes
	pickRecords                 // a length and a record set
	pickArray                   // a count and elements
)

// pick is what is done at one field, or at a run of fixed-size fields.
type pick struct {
	field *schema.Field // nil for a run
	form  pickForm
	head  uint8 // bytes of the length or the count; 0 for a uvarint
	want  bool  // it, or something in it
	// element is set for the elements of an array.
	element bool
	size    int32  // bytes of a run
	least   int32  // bytes that an element of an array takes, by which its count is judged
	loads   []load // of a run: what is wanted of it
	// inner are the fields of a struct, or of the elements of an array that are structs; of
	// elements that are leaves it is these alone. A run has its fields there, for where not all of
	// it is there.
	inner *picks
}

// load is a wanted leaf in a run.
type load struct {
	desc *tree.Desc
	op   schema.Op
	at   int32 // in the run
}

func selectStruct(layout *schema.Struct, wanted func(*tree.Desc) bool) (p *picks, any bool) {
	p = &picks{flexible: layout.Flexible}
	for i := range layout.Fields {
		k := selectField(&layout.Fields[i], wanted)
		any = any || k.want
		if !fixed(&k) {
			p.list = append(p.list, k)
			continue
		}
		n := len(p.list)
		if n == 0 || p.list[n-1].form != pickFixed {
			p.list = append(p.list, pick{form: pickFixed, inner: &picks{}})
			n++
		}
		p.list[n-1].extend(k)
	}
	for i := range layout.Tags {
		k := selectField(&layout.Tags[i], wanted)
		any = any || k.want
		p.tags = append(p.tags, k)
	}
	return p, any
}

// fixed reports whether k can be part of a run. A struct that holds something wanted cannot: it
// is entered.
func fixed(k *pick) bool {
	return k.field.FixedSize >= 0 && (!k.want || k.field.Op != schema.OpStruct)
}

// extend adds a field to a run.
func (k *pick) extend(f pick) {
	if f.want {
		k.want = true
		k.loads = append(k.loads, load{f.field.Desc, f.field.Op, k.size})
	}
	k.inner.list = append(k.inner.list, f)
	k.size += int32(f.field.FixedSize)
}

func selectField(f *schema.Field, wanted func(*tree.Desc) bool) pick {
	k := pick{field: f}
	switch f.Op {
	case schema.OpStruct:
		k.inner, k.want = selectStruct(f.Struct, wanted)
		return k
	case schema.OpArray:
		k.form, k.head, k.least = pickArray, 4, int32(max(f.Elem.MinSize, 1))
		if f.Elem.Op == schema.OpStruct {
			k.inner, k.want = selectStruct(f.Elem.Struct, wanted)
		} else {
			k.want = wanted(f.Elem.Desc)
			k.inner = &picks{list: []pick{{field: f.Elem, want: k.want, element: true}}}
		}
	case schema.OpString:
		k.form, k.head = pickString, 2
	case schema.OpBytes:
		k.form, k.head = pickBytes, 4
	case schema.OpRecords:
		k.form, k.head = pickRecords, 4
	}
	if f.Compact {
		k.head = 0
	}
	if k.form != pickArray {
		k.want = wanted(f.Desc)
	}
	return k
}

// length reads the length or the count at off in b: -1 is null, and what is less is not to be read
// in haste, being wrong, not there, or a longer uvarint. It returns the offset behind it.
func (k *pick) length(b []byte, off int) (n, next int) {
	switch left := len(b) - off; {
	case k.head == 0 && left >= 1 && b[off] < 0x80:
		return int(b[off]) - 1, off + 1
	case k.head == 0 && left >= 2 && b[off+1] < 0x80:
		return int(b[off])&0x7f | int(b[off+1])<<7 - 1, off + 2
	case k.head == 2 && left >= 2:
		return int(int16(binary.BigEndian.Uint16(b[off:]))), off + 2
	case k.head == 4 && left >= 4:
		return int(int32(binary.BigEndian.Uint32(b[off:]))), off + 4
	}
	return -2, off
}

// number reads a leaf of a run, whose bytes b begins with.
func (l *load) number(b []byte) int64 {
	switch l.op {
	case schema.OpBool:
		return b2i(b[0] != 0)
	case schema.OpInt8:
		return int64(int8(b[0]))
	case schema.OpInt16:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case schema.OpUint16:
		return int64(binary.BigEndian.Uint16(b))
	case schema.OpInt32:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case schema.OpUint32:
		return int64(binary.BigEndian.Uint32(b))
	}
	return int64(binary.BigEndian.Uint64(b)) // OpInt64, OpFloat64
}
