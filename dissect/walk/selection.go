package walk

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// Selection is a plan with the fields that a Visitor wants picked out, so that runs of others are
// passed over at once. It is made once for a plan and read by many.
type Selection struct {
	plan *schema.Plan
	root picks
}

// Select picks the fields of p of which wanted holds. It is asked about the leaves and about
// fields that hold record sets; structs and arrays are picked for what is in them.
func Select(p *schema.Plan, wanted func(*tree.Desc) bool) *Selection {
	s := &Selection{plan: p}
	s.root, _ = selectStruct(p.Root, wanted)
	return s
}

// picks is a struct with its fields picked.
type picks struct {
	layout *schema.Struct
	list   []pick
	tags   []pick // of layout.Tags, one for each
}

// pick is what is done at one field, or at a run of fixed-size fields that nobody wants.
type pick struct {
	field *schema.Field // nil for a run that nobody wants
	run   []schema.Field
	size  int  // bytes of the run, or of a leaf that always has as many; else 0
	want  bool // it, or something in it
	// element is set for those of an array, which have no pick of their own.
	element bool
	inner   picks // of a struct, or of the elements of an array that are structs
}

func selectStruct(layout *schema.Struct, wanted func(*tree.Desc) bool) (p picks, any bool) {
	p.layout = layout
	from := 0 // of the run that the last pick is
	for i := range layout.Fields {
		k := selectField(&layout.Fields[i], wanted)
		any = any || k.want
		if size := k.field.FixedSize; !k.want && size >= 0 {
			if n := len(p.list); n > 0 && p.list[n-1].field == nil {
				last := &p.list[n-1]
				last.size, last.run = last.size+size, layout.Fields[from:i+1]
				continue
			}
			from = i
			k = pick{run: layout.Fields[i : i+1], size: size}
		} else if size > 0 && k.field.Op != schema.OpStruct {
			k.run, k.size = layout.Fields[i:i+1], size
		}
		p.list = append(p.list, k)
	}
	for i := range layout.Tags {
		k := selectField(&layout.Tags[i], wanted)
		any = any || k.want
		p.tags = append(p.tags, k)
	}
	return p, any
}

func selectField(f *schema.Field, wanted func(*tree.Desc) bool) pick {
	k := pick{field: f}
	switch f.Op {
	case schema.OpStruct:
		k.inner, k.want = selectStruct(f.Struct, wanted)
	case schema.OpArray:
		if f.Elem.Op == schema.OpStruct {
			k.inner, k.want = selectStruct(f.Elem.Struct, wanted)
		} else {
			k.want = wanted(f.Elem.Desc)
		}
	default:
		k.want = wanted(f.Desc)
	}
	return k
}
