package layout

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kdissect/kdissect/dissect/schema"
)

// Change is a difference between the layouts of two versions.
type Change struct {
	Kind ChangeKind
	Path string // such as "Groups[].Members[].MemberType"; "" is the whole message
	Type string // of the field; "" for the whole message
	Text string // what is different, or what there is to know of an added field
}

// ChangeKind says what became of a field.
type ChangeKind uint8

// Kinds of changes.
const (
	Added ChangeKind = iota
	Removed
	Changed
)

// String returns the lower-case word.
func (k ChangeKind) String() string {
	return [...]string{Added: "added", Removed: "removed", Changed: "changed"}[k]
}

// Diff returns what is different in the layout to, in the order of its fields. No changes means
// that the bytes of both are the same but for the version in the header.
func Diff(from, to *schema.Plan) []Change {
	d := &differ{}
	if from.HeaderVersion != to.HeaderVersion {
		d.add(Changed, "", "", fmt.Sprintf("header version %d instead of %d", to.HeaderVersion, from.HeaderVersion))
	}
	switch {
	case !from.Flexible && to.Flexible:
		d.add(Changed, "", "", "flexible: lengths and counts are uvarints, and each struct ends in tagged fields")
	case from.Flexible && !to.Flexible:
		d.add(Changed, "", "", "not flexible: lengths and counts have a fixed size, and there are no tagged fields")
	}
	d.structs("", from.Root, to.Root)
	return d.changes
}

// differ collects changes.
type differ struct {
	changes []Change
}

func (d *differ) add(k ChangeKind, path, typ, text string) {
	d.changes = append(d.changes, Change{k, path, typ, text})
}

// members returns the fields of a struct, the tagged ones last.
func members(s *schema.Struct) []*schema.Field {
	all := make([]*schema.Field, 0, len(s.Fields)+len(s.Tags))
	for i := range s.Fields {
		all = append(all, &s.Fields[i])
	}
	for i := range s.Tags {
		all = append(all, &s.Tags[i])
	}
	return all
}

func find(s *schema.Struct, name string) *schema.Field {
	for _, f := range members(s) {
		if f.Desc.Name == name {
			return f
		}
	}
	return nil
}

func (d *differ) structs(path string, from, to *schema.Struct) {
	for _, f := range members(to) {
		old := find(from, f.Desc.Name)
		if old == nil {
			d.add(Added, path+f.Desc.Name, f.Desc.Type, traits(f))
			continue
		}
		if text := difference(old, f); text != "" {
			d.add(Changed, path+f.Desc.Name, f.Desc.Type, text)
		}
		d.inside(path+f.Desc.Name, old, f)
	}
	for _, f := range members(from) {
		if find(to, f.Desc.Name) == nil {
			d.add(Removed, path+f.Desc.Name, f.Desc.Type, "")
		}
	}
}

// inside compares the structs that two fields hold.
func (d *differ) inside(path string, from, to *schema.Field) {
	for from.Op == schema.OpArray && to.Op == schema.OpArray {
		from, to, path = from.Elem, to.Elem, path+"[]"
	}
	if from.Op == schema.OpStruct && to.Op == schema.OpStruct {
		d.structs(path+".", from.Struct, to.Struct)
	}
}

// traits says of a new field what its type does not.
func traits(f *schema.Field) string {
	var words []string
	if f.Tag >= 0 {
		words = append(words, "tag "+strconv.Itoa(int(f.Tag)))
	}
	if f.Nullable {
		words = append(words, "nullable")
	}
	if f.Desc.Default != "" {
		words = append(words, "default "+f.Desc.Default)
	}
	return strings.Join(words, ", ")
}

// difference says how the bytes of two fields of one name differ, apart from what they hold.
func difference(from, to *schema.Field) string {
	var words []string
	if from.Desc.Type != to.Desc.Type {
		words = append(words, to.Desc.Type+" instead of "+from.Desc.Type)
	}
	switch {
	case from.Tag < 0 && to.Tag >= 0:
		words = append(words, "now tag "+strconv.Itoa(int(to.Tag)))
	case from.Tag >= 0 && to.Tag < 0:
		words = append(words, "no longer tagged")
	case from.Tag != to.Tag:
		words = append(words, fmt.Sprintf("tag %d instead of %d", to.Tag, from.Tag))
	}
	switch {
	case !from.Nullable && to.Nullable:
		words = append(words, "now nullable")
	case from.Nullable && !to.Nullable:
		words = append(words, "no longer nullable")
	}
	if from.Desc.Default != to.Desc.Default {
		words = append(words, fmt.Sprintf("default %s instead of %s", orZero(to), orZero(from)))
	}
	return strings.Join(words, ", ")
}

// orZero returns a default as the schema writes it.
func orZero(f *schema.Field) string {
	if f.Desc.Default == "" {
		return "that of its type"
	}
	return f.Desc.Default
}
