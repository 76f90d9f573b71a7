package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Merging makes one definition of several that are right for different versions. Structs are
// first taken out of the fields (so that one release may define in place what another shares),
// each definition is restricted to the versions it decides, and the field lists are joined in
// an order that keeps each of them.

// flat is a message with all its structs taken out of the fields.
type flat struct {
	m       *Message
	structs []*StructDef // in order of first use
}

// flatten copies m with its structs taken out.
func flatten(m *Message) *flat {
	c := *m
	f := &flat{m: &c}
	byName := make(map[string]*StructDef)
	var hoist func(fields []*FieldDef) []*FieldDef
	hoist = func(fields []*FieldDef) []*FieldDef {
		var out []*FieldDef
		for _, def := range fields {
			d := *def
			d.Fields = nil
			out = append(out, &d)
			name := d.ElemType()
			if _, base := ops[name]; base || byName[name] != nil {
				continue
			}
			s := &StructDef{Name: name, Versions: def.Versions}
			byName[name] = s
			f.structs = append(f.structs, s)
			if common := m.common(name); common != nil {
				s.Versions = common.Versions
			}
			s.Fields = hoist(m.Struct(def))
		}
		return out
	}
	c.Fields, c.Structs = hoist(m.Fields), nil
	return f
}

func (f *flat) find(name string) *StructDef {
	for _, s := range f.structs {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// unflatten puts each struct that one field uses back into that field.
func (f *flat) unflatten() *Message {
	uses := make(map[string]int)
	count := func(fields []*FieldDef) {
		for _, def := range fields {
			uses[def.ElemType()]++
		}
	}
	count(f.m.Fields)
	for _, s := range f.structs {
		count(s.Fields)
	}
	var inline func(fields []*FieldDef)
	inline = func(fields []*FieldDef) {
		for _, def := range fields {
			s := f.find(def.ElemType())
			if s != nil && uses[s.Name] == 1 && len(s.Fields) > 0 {
				def.Fields = s.Fields
				inline(def.Fields)
			}
		}
	}
	inline(f.m.Fields)
	m := *f.m
	m.Structs = nil
	for _, s := range f.structs {
		if uses[s.Name] > 1 || uses[s.Name] == 1 && len(s.Fields) == 0 {
			inline(s.Fields)
			m.Structs = append(m.Structs, s)
		}
	}
	slices.SortFunc(m.Structs, func(a, b *StructDef) int { return strings.Compare(a.Name, b.Name) })
	return &m
}

// restrict cuts every field of f to the versions in v; fields without any are left out.
func (f *flat) restrict(v Versions) {
	f.m.Fields = restrictFields(f.m.Fields, v)
	var kept []*StructDef
	for _, s := range f.structs {
		s.Versions, s.Fields = s.Versions.Intersect(v), restrictFields(s.Fields, v)
		if !s.Versions.Empty() {
			kept = append(kept, s)
		}
	}
	f.structs = kept
}

func restrictFields(fields []*FieldDef, v Versions) []*FieldDef {
	var kept []*FieldDef
	for _, f := range fields {
		f.Versions = f.Versions.Intersect(v)
		if f.Versions.Empty() {
			continue
		}
		f.Nullable = f.Nullable.Intersect(f.Versions)
		if f.Tagged = f.Tagged.Intersect(f.Versions); f.Tagged.Empty() {
			f.Tag = -1
		}
		if f.Default == "null" && f.Nullable.Empty() {
			f.Default = ""
		}
		if f.Flexible != nil {
			x := f.Flexible.Intersect(v)
			f.Flexible = &x
		}
		kept = append(kept, f)
	}
	return kept
}

// narrow cuts the fields of each struct to the versions in which something uses the struct.
func (f *flat) narrow() {
	used := make(map[string]Versions)
	var walk func(fields []*FieldDef, in Versions)
	walk = func(fields []*FieldDef, in Versions) {
		for _, def := range fields {
			s, v := f.find(def.ElemType()), def.Versions.Intersect(in)
			if s == nil || v.Empty() {
				continue
			}
			if u, ok := used[s.Name]; ok {
				used[s.Name] = Versions{min(u.Min, v.Min), max(u.Max, v.Max)}
			} else {
				used[s.Name] = v
			}
			walk(s.Fields, v)
		}
	}
	walk(f.m.Fields, All)
	var kept []*StructDef
	for _, s := range f.structs {
		if v, ok := used[s.Name]; ok {
			s.Versions, s.Fields = v, restrictFields(s.Fields, v)
			kept = append(kept, s)
		}
	}
	f.structs = kept
}

// join adds g, whose versions all lie above those of f, to f.
func (f *flat) join(g *flat) {
	f.m.Fields = joinFields(f.m.Fields, g.m.Fields)
	for _, s := range g.structs {
		if old := f.find(s.Name); old != nil {
			old.Fields = joinFields(old.Fields, s.Fields)
			old.Versions.Max = s.Versions.Max
		} else {
			f.structs = append(f.structs, s)
		}
	}
}

// joinFields joins two lists of fields along their longest common subsequence.
func joinFields(low, high []*FieldDef) []*FieldDef {
	// best[i][j] is the length of the common subsequence of low[i:] and high[j:].
	best := make([][]int, len(low)+1)
	for i := range best {
		best[i] = make([]int, len(high)+1)
	}
	for i := len(low) - 1; i >= 0; i-- {
		for j := len(high) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if joinable(low[i], high[j]) {
				best[i][j] = max(best[i][j], best[i+1][j+1]+1)
			}
		}
	}
	var out []*FieldDef
	i, j := 0, 0
	for i < len(low) && j < len(high) {
		switch {
		case joinable(low[i], high[j]) && best[i][j] == best[i+1][j+1]+1:
			out = append(out, joinField(low[i], high[j]))
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			out = append(out, low[i])
			i++
		default:
			out = append(out, high[j])
			j++
		}
	}
	return append(append(out, low[i:]...), high[j:]...)
}

// joinable reports whether one field can stand for both.
func joinable(a, b *FieldDef) bool {
	if a.Name != b.Name || a.Type != b.Type || a.Default != b.Default {
		return false
	}
	if a.Tag >= 0 && b.Tag >= 0 && a.Tag != b.Tag {
		return false
	}
	if (a.Flexible == nil) != (b.Flexible == nil) {
		return false
	}
	if a.Versions.Max+1 != b.Versions.Min {
		return false
	}
	for _, pair := range [...][2]Versions{{a.Nullable, b.Nullable}, {a.Tagged, b.Tagged}} {
		if x, y := pair[0], pair[1]; !x.Empty() && !y.Empty() && x.Max+1 != y.Min {
			return false
		}
	}
	return true
}

func joinField(a, b *FieldDef) *FieldDef {
	f := *b
	f.About = cmp.Or(b.About, a.About) // a user's, where one of them is
	f.Versions.Min = a.Versions.Min
	f.Nullable = span(a.Nullable, b.Nullable)
	f.Tagged = span(a.Tagged, b.Tagged)
	f.Tag = max(a.Tag, b.Tag)
	if a.Flexible != nil {
		x := span(*a.Flexible, *b.Flexible)
		f.Flexible = &x
	}
	return &f
}

// span returns the versions from a's first to b's last, a lying below b.
func span(a, b Versions) Versions {
	switch {
	case a.Empty():
		return b
	case b.Empty():
		return a
	}
	return Versions{a.Min, b.Max}
}

// part is a definition that decides a range of versions.
type part struct {
	versions Versions
	m        *Message
}

// merge makes one message of parts with ascending versions. Name, key, type and listeners are
// those of newest.
func merge(newest *Message, parts []part) (*Message, error) {
	var all *flat
	for i, p := range parts {
		f := flatten(p.m)
		cut := p.versions
		if i == len(parts)-1 {
			cut.Max = All.Max // so that open ranges stay open
		}
		f.restrict(cut)
		if all == nil {
			all = f
		} else {
			all.join(f)
		}
	}
	all.narrow()
	m := all.unflatten()
	m.Name, m.Type, m.APIKey, m.Listeners = newest.Name, newest.Type, newest.APIKey, newest.Listeners
	m.Versions = Versions{parts[0].versions.Min, parts[len(parts)-1].versions.Max}
	m.Flexible, m.Unstable, m.Older = None, None, nil
	for _, p := range parts {
		if x := p.m.Flexible.Intersect(p.versions); !x.Empty() && m.Flexible.Empty() {
			m.Flexible = Versions{x.Min, All.Max}
		}
		if x := p.m.Unstable.Intersect(p.versions); !x.Empty() {
			if !m.Unstable.Empty() && m.Unstable.Max+1 != x.Min {
				return nil, fmt.Errorf("%s: unstable versions %s and %s form no range", m.Name, m.Unstable, x)
			}
			m.Unstable = span(m.Unstable, x)
		}
	}
	m.deriveHeaders()
	for _, p := range parts {
		for v := p.versions.Min; v <= p.versions.Max; v++ {
			if got, want := m.Layout(v), p.m.Layout(v); got != want {
				return nil, fmt.Errorf("%s version %d: merging changed the layout %q to %q", m.Name, v, want, got)
			}
		}
	}
	return m, nil
}

// Layout returns what a version of m looks like, in one line: "F " in front where it is
// flexible, fields as "Name:type" with "?" where nullable, "@N" where tagged and "=DEFAULT"
// where there is one, structs as "struct{...}".
func (m *Message) Layout(version int16) string {
	var b strings.Builder
	if m.Flexible.Contains(version) {
		b.WriteString("F ")
	}
	m.layout(&b, m.Fields, version)
	return b.String()
}

func (m *Message) layout(b *strings.Builder, fields []*FieldDef, version int16) {
	first := true
	for _, f := range fields {
		if !f.Versions.Contains(version) {
			continue
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		b.WriteString(f.Name + ":")
		kind := f.ElemType()
		_, base := ops[kind]
		if !base {
			kind = "struct"
		}
		if f.IsArray() {
			b.WriteString("[]")
		}
		b.WriteString(kind)
		if f.Nullable.Contains(version) {
			b.WriteByte('?')
		}
		if f.Tagged.Contains(version) {
			b.WriteString("@" + strconv.Itoa(int(f.Tag)))
		}
		if f.Default != "" && (f.Default != "null" || f.Nullable.Contains(version)) {
			b.WriteString("=" + f.Default)
		}
		if f.Flexible != nil && m.Flexible.Contains(version) != f.Flexible.Contains(version) {
			b.WriteString("~")
		}
		if !base {
			b.WriteByte('{')
			m.layout(b, m.Struct(f), version)
			b.WriteByte('}')
		}
	}
}

// wireForm returns what decides the bytes of a version: the types of its untagged fields,
// without names, and with what is written alike taken as one.
func (m *Message) wireForm(version int16) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%t", m.Flexible.Contains(version))
	var walk func(fields []*FieldDef)
	walk = func(fields []*FieldDef) {
		for _, f := range fields {
			if !f.Versions.Contains(version) || f.Tagged.Contains(version) {
				continue
			}
			kind := f.ElemType()
			if kind == "records" {
				kind = "bytes"
			}
			b.WriteByte(' ')
			if f.IsArray() {
				b.WriteString("[]")
			}
			if _, base := ops[kind]; base {
				b.WriteString(kind)
				continue
			}
			if f.Nullable.Contains(version) && !f.IsArray() {
				b.WriteByte('?')
			}
			b.WriteByte('{')
			walk(m.Struct(f))
			b.WriteByte('}')
		}
	}
	walk(m.Fields)
	return b.String()
}
