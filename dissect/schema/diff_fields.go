package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// fieldView is a field as a Diff sees it.
type fieldView struct {
	name, typ, elem              string
	versions                     string // "" of a single version
	nullable, tag, deflt, entity string
	array                        bool
	flexible                     string
	inside                       []*fieldView // of a struct
}

// view returns the fields of a version, or of all.
func (d *differ) view(m *Message, fields []*FieldDef, version int16) []*fieldView {
	var out []*fieldView
	for _, f := range fields {
		if version >= 0 && !f.Versions.Contains(version) {
			continue
		}
		v := &fieldView{name: f.Name, typ: f.Type, elem: f.ElemType(), array: f.IsArray(), deflt: f.Default, entity: f.EntityType}
		if version >= 0 {
			v.nullable = yes(f.Nullable.Contains(version))
			if f.Tagged.Contains(version) {
				v.tag = strconv.Itoa(int(f.Tag))
			}
		} else {
			// A range that goes on to the last version, and one that stays open, are the same.
			v.versions = openRange(f.Versions, m.Versions).String()
			v.nullable = openRange(f.Nullable.Intersect(f.Versions), m.Versions).String()
			if f.Tag >= 0 {
				v.tag = fmt.Sprintf("%d in %s", f.Tag, openRange(f.Tagged, m.Versions))
			}
		}
		if zeroDefault(f) || v.deflt == "null" && v.nullable == "no" {
			v.deflt = ""
		}
		if f.Flexible != nil {
			v.flexible = f.Flexible.String()
		}
		v.inside = d.view(m, m.Struct(f), version)
		out = append(out, v)
	}
	return out
}

// zeroDefault reports whether the default that f gives is that of its type anyway.
func zeroDefault(f *FieldDef) bool {
	v, err := parseDefault(f)
	return err == nil && !v.Null && v.Num == 0 && strings.Trim(v.Str, "\x00") == ""
}

// openRange lets a range that reaches the end of all stay open.
func openRange(v, all Versions) Versions {
	if !v.Empty() && v.Max >= all.Max {
		v.Max = All.Max
	}
	return v
}

// describe says what there is to know of a field that was added or removed.
func (v *fieldView) describe() string {
	words := []string{v.typ}
	if v.versions != "" {
		words = append(words, "versions "+v.versions)
	}
	if v.tag != "" {
		words = append(words, "tag "+v.tag)
	}
	if v.nullable != "no" && v.nullable != "none" {
		words = append(words, strings.TrimSuffix("nullable "+v.nullable, " yes"))
	}
	if v.deflt != "" {
		words = append(words, "default "+v.deflt)
	}
	return strings.Join(words, ", ")
}

// fields compares two lists of fields.
func (d *differ) fields(path string, from, to []*fieldView) {
	pairs := pairFields(from, to)
	order := inOrder(pairs, from, to)
	was := make(map[*fieldView]*fieldView, len(pairs))
	for _, p := range pairs {
		was[p.to] = p.from
	}
	for i, t := range to {
		name := path + t.name
		f := was[t]
		if f == nil {
			d.changes = append(d.changes, Change{Kind: Added, Path: name, Text: t.describe()})
			continue
		}
		if f.name != t.name {
			d.changes = append(d.changes, Change{Kind: Renamed, Path: name, Was: f.name, Is: t.name})
		}
		if !order[t] {
			behind := "to the start"
			if i > 0 {
				behind = "behind " + to[i-1].name
			}
			d.changes = append(d.changes, Change{Kind: Moved, Path: name, Text: behind})
		}
		d.field(name, f, t)
	}
	for _, f := range from {
		if !slices.ContainsFunc(pairs, func(p fieldPair) bool { return p.from == f }) {
			d.changes = append(d.changes, Change{Kind: Removed, Path: path + f.name, Text: f.describe()})
		}
	}
}

// field compares two fields that belong together.
func (d *differ) field(name string, f, t *fieldView) {
	d.property(name, "type", f.typ, t.typ)
	d.property(name, "versions", f.versions, t.versions)
	d.property(name, "nullable", f.nullable, t.nullable)
	d.property(name, "tag", f.tag, t.tag)
	d.property(name, "default", f.deflt, t.deflt)
	d.property(name, "entity type", f.entity, t.entity)
	d.property(name, "flexible versions", f.flexible, t.flexible)
	inner := name + "."
	if t.array {
		inner = name + "[]."
	}
	d.fields(inner, f.inside, t.inside)
}
