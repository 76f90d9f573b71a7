package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// AllVersions asks ShowJSON for the fields of every version.
const AllVersions = -1

// ShowJSON writes a definition in Kafka's JSON form with our descriptions, with the fields of a
// version, or of all versions. ParseDefinition reads it back.
func (c *Catalogue) ShowJSON(w io.Writer, m *Message, version int16) error {
	s := shower{c: c, m: m, version: version}
	s.b.WriteString("{\n")
	if m.APIKey >= 0 {
		s.member("apiKey", m.APIKey)
	}
	s.member("type", m.Type)
	if len(m.Listeners) > 0 {
		s.member("listeners", m.Listeners)
	}
	s.member("name", m.Name)
	s.member("validVersions", m.Versions.String())
	s.member("flexibleVersions", m.Flexible.String())
	if !m.Unstable.Empty() && m.Unstable.Max == m.Versions.Max {
		s.member("latestVersionUnstable", true)
	}
	s.b.WriteString(`  "fields": [`)
	s.fields(m.Name, m.Fields, 2)
	s.b.WriteString("]")
	structs := s.structs()
	if len(structs) > 0 {
		s.b.WriteString(",\n  \"commonStructs\": [")
		for i, def := range structs {
			s.next(i, 2)
			s.b.WriteString("{ ")
			s.pair("name", def.Name)
			s.pair("versions", def.Versions.String())
			s.b.WriteString(`"fields": [`)
			s.fields(def.Name, def.Fields, 3)
			s.b.WriteString("]}")
		}
		s.b.WriteString("\n  ]")
	}
	s.b.WriteString("\n}\n")
	_, err := w.Write(s.b.Bytes())
	return err
}

// shower writes one definition at one version, or at all.
type shower struct {
	c       *Catalogue
	m       *Message
	version int16
	b       bytes.Buffer
}

func (s *shower) shows(v Versions) bool { return s.version < 0 || v.Contains(s.version) }

// structs returns the shared structs that the shown fields use.
func (s *shower) structs() []*StructDef {
	used := make(map[string]bool)
	var walk func(fields []*FieldDef)
	walk = func(fields []*FieldDef) {
		for _, f := range fields {
			if s.shows(f.Versions) {
				used[f.ElemType()] = true
				walk(s.m.Struct(f))
			}
		}
	}
	walk(s.m.Fields)
	var list []*StructDef
	for _, def := range s.m.Structs {
		if used[def.Name] {
			list = append(list, def)
		}
	}
	return list
}

func (s *shower) fields(structName string, fields []*FieldDef, depth int) {
	n := 0
	for _, f := range fields {
		if !s.shows(f.Versions) {
			continue
		}
		s.next(n, depth)
		n++
		s.field(structName, f, depth)
	}
	if n > 0 {
		s.b.WriteString("\n" + strings.Repeat("  ", depth-1))
	}
}

func (s *shower) field(structName string, f *FieldDef, depth int) {
	s.b.WriteString("{ ")
	s.pair("name", f.Name)
	s.pair("type", f.Type)
	s.pair("versions", f.Versions.String())
	if !f.Nullable.Empty() {
		s.pair("nullableVersions", f.Nullable.String())
	}
	if f.Tag >= 0 {
		s.pair("taggedVersions", f.Tagged.String())
		s.pair("tag", f.Tag)
	}
	if f.Flexible != nil {
		s.pair("flexibleVersions", f.Flexible.String())
	}
	if f.MapKey {
		s.pair("mapKey", true)
	}
	if f.Default != "" {
		s.pair("default", f.Default)
	}
	if f.EntityType != "" {
		s.pair("entityType", f.EntityType)
	}
	if f.Ignorable {
		s.pair("ignorable", true)
	}
	if f.ZeroCopy {
		s.pair("zeroCopy", true)
	}
	if about := s.c.about(s.m, structName, f); about != "" {
		s.pair("about", about)
	}
	s.b.Truncate(s.b.Len() - len(", "))
	if len(f.Fields) > 0 {
		s.b.WriteString(`, "fields": [`)
		s.fields(f.ElemType(), f.Fields, depth+1)
		s.b.WriteString("]}")
		return
	}
	s.b.WriteString(" }")
}

// next starts the i-th item of a list.
func (s *shower) next(i, depth int) {
	if i > 0 {
		s.b.WriteByte(',')
	}
	s.b.WriteString("\n" + strings.Repeat("  ", depth))
}

// member writes a member of the definition on a line of its own.
func (s *shower) member(key string, value any) {
	s.b.WriteString("  ")
	s.pair(key, value)
	s.b.Truncate(s.b.Len() - 1)
	s.b.WriteByte('\n')
}

// pair writes a member, a comma and a space.
func (s *shower) pair(key string, value any) {
	e := json.NewEncoder(&s.b)
	e.SetEscapeHTML(false)
	fmt.Fprintf(&s.b, "%q: ", key)
	_ = e.Encode(value) // strings, numbers and bools
	s.b.Truncate(s.b.Len() - 1)
	s.b.WriteString(", ")
}
