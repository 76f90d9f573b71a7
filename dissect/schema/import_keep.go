package schema

import (
	"fmt"
	"slices"
)

// keepTagged adds to m the tagged fields that an older release had in the same version.
func (im *importer) keepTagged(m *Message, defs []definition) {
	for i := len(defs) - 1; i >= 0; i-- {
		old := defs[i].m
		for v := old.Versions.Min; v <= old.Versions.Max; v++ {
			if old.wireForm(v) != m.wireForm(v) {
				continue // another layout, see keepOlder
			}
			k := tagKeeper{merged: flatten(m), old: flatten(old), version: v}
			k.old.restrict(Versions{v, openEnd(m, v)})
			k.pair(&k.merged.m.Fields, k.old.m.Fields)
			if len(k.kept) == 0 {
				continue
			}
			*m = *k.merged.unflatten()
			for _, name := range k.kept {
				im.report = append(im.report, fmt.Sprintf("%s version %d: tagged field %s is kept from %s", m.Name, v, name, defs[i].release))
			}
		}
	}
}

// tagKeeper compares two definitions of one wire form, struct by struct.
type tagKeeper struct {
	merged, old *flat
	version     int16
	kept        []string // names of the fields added to merged
}

// pair adds to list the tagged fields of old that list has not.
func (k *tagKeeper) pair(list *[]*FieldDef, old []*FieldDef) {
	plain := slices.DeleteFunc(slices.Clone(*list), func(f *FieldDef) bool {
		return !f.Versions.Contains(k.version) || f.Tagged.Contains(k.version)
	})
	for _, f := range old {
		var same *FieldDef
		if f.Tag < 0 {
			same, plain = plain[0], plain[1:]
		} else if i := slices.IndexFunc(*list, func(g *FieldDef) bool { return g.Tag == f.Tag && g.Tagged.Contains(k.version) }); i >= 0 {
			same = (*list)[i]
		}
		if same == nil {
			k.kept = append(k.kept, f.Name)
			k.keep(list, f)
			continue
		}
		x, y := k.merged.find(same.ElemType()), k.old.find(f.ElemType())
		if x != nil && y != nil {
			k.pair(&x.Fields, y.Fields)
		}
	}
}

// keep adds f and the structs it needs.
func (k *tagKeeper) keep(list *[]*FieldDef, f *FieldDef) {
	if i := slices.IndexFunc(*list, func(g *FieldDef) bool { return joinable(g, f) }); i >= 0 {
		(*list)[i] = joinField((*list)[i], f)
	} else {
		*list = append(*list, f)
	}
	k.keepStruct(f)
}

// keepStruct adds the struct of f, where it has no fields in this version yet, and those inside it.
func (k *tagKeeper) keepStruct(f *FieldDef) {
	s := k.old.find(f.ElemType())
	if s == nil {
		return
	}
	have := k.merged.find(s.Name)
	switch {
	case have == nil:
		k.merged.structs = append(k.merged.structs, s)
	case slices.ContainsFunc(have.Fields, func(g *FieldDef) bool { return g.Versions.Contains(k.version) }):
		return
	default:
		have.Fields = joinFields(have.Fields, s.Fields)
	}
	for _, inner := range s.Fields {
		k.keepStruct(inner)
	}
}

// openEnd returns v, or the end of an open range where v is m's last version.
func openEnd(m *Message, v int16) int16 {
	if v == m.Versions.Max {
		return All.Max
	}
	return v
}

// keepOlder adds to m the layouts of older releases that a newer one replaced.
func (im *importer) keepOlder(m *Message, defs []definition) {
	for v := m.Versions.Min; v <= m.Versions.Max; v++ {
		seen := []string{m.wireForm(v)}
		for i := len(defs) - 1; i >= 0; i-- {
			d := defs[i]
			form := d.m.wireForm(v)
			if !d.m.Versions.Contains(v) || slices.Contains(seen, form) {
				continue
			}
			seen = append(seen, form)
			old := flatten(d.m)
			old.restrict(Versions{v, All.Max})
			old.narrow()
			o := old.unflatten()
			o.Name, o.Type, o.APIKey, o.Listeners = m.Name, m.Type, m.APIKey, m.Listeners
			o.Versions, o.Unstable, o.Older = Versions{v, v}, None, nil
			if !o.Flexible.Contains(v) {
				o.Flexible = None
			}
			o.deriveHeaders()
			if o.Type != TypeRequest && o.Type != TypeResponse {
				o.Group = groupOf(m)
			}
			m.Older = append(m.Older, &Older{d.release, o})
			im.report = append(im.report, fmt.Sprintf("%s version %d: the layout of %s is kept beside the newer one", m.Name, v, d.release))
		}
	}
}
