package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kdissect/kdissect/tree"
)

// compiler makes the plan of one message at one version.
type compiler struct {
	cat     *Catalogue
	m       *Message
	version int16
	flex    bool
	header  bool
}

// compile returns the layout of m at a version that m.Versions contains. m has passed check.
func (c *Catalogue) compile(api *API, m *Message, version int16) *Plan {
	k := compiler{cat: c, m: m, version: version, flex: m.Flexible.Contains(version), header: m.Type == TypeHeader}
	p := &Plan{
		Name: m.Name, API: api, Version: version, Direction: m.Type.direction(),
		HeaderVersion: -1, Flexible: k.flex,
	}
	if m.Type == TypeRequest || m.Type == TypeResponse {
		p.HeaderVersion = m.HeaderVersion(version)
	}
	p.Root = k.layout(m.Name, m.Fields)
	if k.header {
		p.Body = &tree.Desc{Name: m.Name, About: headerAbout[m.Name], Kind: tree.KindGroup, Region: tree.RegionHeader}
		p.Desc = p.Body
		return p
	}
	p.Desc = &tree.Desc{Name: m.Name, Type: "message", Kind: tree.KindMessage}
	p.Body = &tree.Desc{
		Name: m.Name, Type: "struct", Kind: tree.KindStruct, Late: late(m.Fields, version),
		Region: bodyRegions[p.Direction],
		About:  "message body, version " + strconv.Itoa(int(version)),
	}
	return p
}

func (k *compiler) layout(name string, defs []*FieldDef) *Struct {
	s := &Struct{Name: name, Flexible: k.flex, TagsDesc: structTags}
	if k.header {
		s.TagsDesc = headerTags
	}
	s.FixedSize = 0
	if k.flex {
		s.MinSize, s.FixedSize = 1, -1 // the count of tagged fields; unknown ones may follow
	}
	for _, def := range defs {
		if !def.Versions.Contains(k.version) {
			continue
		}
		f := k.field(name, def, s.Members)
		s.Members++
		if f.Tag >= 0 {
			s.Tags = append(s.Tags, f)
			continue
		}
		s.Fields = append(s.Fields, f)
		s.MinSize += f.MinSize
		if s.FixedSize >= 0 {
			if f.FixedSize < 0 {
				s.FixedSize = -1
			} else {
				s.FixedSize += f.FixedSize
			}
		}
	}
	s.hide()
	slices.SortStableFunc(s.Tags, func(a, b Field) int { return int(a.Tag) - int(b.Tag) })
	return s
}

// field compiles def as the member-th field of a struct.
func (k *compiler) field(structName string, def *FieldDef, member int32) Field {
	f := Field{
		Tag: -1, Member: member,
		Nullable: def.Nullable.Contains(k.version),
		Compact:  k.flex,
	}
	if def.Flexible != nil {
		f.Compact = def.Flexible.Contains(k.version)
	}
	if def.Tagged.Contains(k.version) {
		f.Tag = def.Tag
	}
	f.Zero, _ = parseDefault(def) // checked where the definition was read
	text := def.Default
	if f.Zero.Null && !f.Nullable { // in this version, as if there were no default
		f.Zero, text = Value{}, ""
		if def.Type == "uuid" {
			f.Zero.Str = zeroUUID
		}
	}
	f.Desc = &tree.Desc{
		Name: def.Name, Key: jsonKey(def.Name), Type: def.Type,
		About: k.cat.about(k.m, structName, def), Nullable: f.Nullable, Default: text, Order: member,
	}
	if k.header {
		k.headerField(&f)
	}
	if def.IsArray() {
		k.array(&f, structName, def)
	} else {
		k.value(&f, structName, def)
	}
	if f.Tag >= 0 {
		f.TagDesc = &tree.Desc{Name: f.Desc.Name, Type: f.Desc.Type, Kind: tree.KindTag, About: f.Desc.About, Order: member}
	}
	return f
}

func (k *compiler) array(f *Field, structName string, def *FieldDef) {
	elem := &Field{Tag: -1, Compact: f.Compact}
	elem.Desc = &tree.Desc{Name: def.ElemType(), Type: def.ElemType()}
	k.value(elem, structName, def)
	f.Op, f.Elem, f.FixedSize = OpArray, elem, -1
	f.Desc.Kind = tree.KindArray
	if f.Compact {
		f.Desc.Enc, f.Length, f.MinSize = tree.EncCompact, lengthCompact, 1
	} else {
		f.Desc.Enc, f.Length, f.MinSize = tree.EncInt32, lengthInt32, 4
	}
}

// value completes f, a scalar or struct of def's element type.
func (k *compiler) value(f *Field, structName string, def *FieldDef) {
	name := def.ElemType()
	op, base := ops[name]
	if !base {
		op = OpStruct
	}
	f.Op = op
	f.Desc.Kind = opKinds[op]
	meaning(f.Desc, k.m, structName, def, op)
	if f.Desc.Role == uint8(RoleAPIKey) {
		f.Desc.Names = k.cat.apiNames
	}
	switch op {
	case OpStruct:
		inner := k.m.Struct(def)
		f.Struct = k.layout(name, inner)
		f.Desc.Late = late(inner, k.version)
		f.MinSize, f.FixedSize = f.Struct.MinSize, f.Struct.FixedSize
		if f.Nullable {
			f.Marker, f.MinSize, f.FixedSize = markerInt8, 1, -1
			if f.Tag >= 0 {
				f.Marker = markerUvarint
			}
		}
	case OpString, OpBytes, OpRecords:
		f.FixedSize = -1
		switch {
		case f.Compact:
			f.Desc.Enc, f.MinSize = tree.EncCompact, 1
		case op == OpString:
			f.Desc.Enc, f.MinSize = tree.EncInt16, 2
		default:
			f.Desc.Enc, f.MinSize = tree.EncInt32, 4
		}
		if op == OpRecords {
			f.Length = sizeInt32
			if f.Compact {
				f.Length = sizeCompact
			}
		}
	default:
		f.MinSize, f.FixedSize = opSizes[op], opSizes[op]
	}
}

// headerField gives a header's field the form that headers have in trees.
func (k *compiler) headerField(f *Field) {
	d := f.Desc
	if d.About = headerAbout[k.m.Name+"."+d.Name]; d.About == "" {
		d.About = headerAbout[d.Name]
	}
	d.Name = strings.ToLower(upperSnake(d.Name))
	if f.Nullable {
		d.Type = "nullable_" + d.Type
	}
}

// late reports whether a tagged field stands before an untagged one.
func late(defs []*FieldDef, version int16) bool {
	tagged := false
	for _, f := range defs {
		switch {
		case !f.Versions.Contains(version):
		case f.Tagged.Contains(version):
			tagged = true
		case tagged:
			return true
		}
	}
	return false
}

// jsonKey returns the member name that Kafka's JsonConverter gives a field.
func jsonKey(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// upperSnake turns "ListOffsets" into "LIST_OFFSETS".
func upperSnake(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteByte(c)
	}
	return strings.ToUpper(b.String())
}
