package schema

import (
	"fmt"
	"strconv"
)

// ParseDefinition reads one of Kafka's JSON message definitions; file is for errors, which are
// of type *PosError where they have a place.
func ParseDefinition(file, src string) (*Message, error) {
	v, err := parseJSON(file, src)
	if err != nil {
		return nil, err
	}
	d := definitionReader{file: file}
	m := d.message(v)
	if d.err != nil {
		return nil, d.err
	}
	if err := m.check(); err != nil {
		return nil, &PosError{File: file, Pos: v.tok.pos, Text: err.Error()}
	}
	return m, nil
}

// definitionReader turns JSON values into a Message; its first error sticks.
type definitionReader struct {
	file string
	err  error
}

func (d *definitionReader) fail(v *jsonValue, format string, args ...any) {
	if d.err == nil {
		d.err = &PosError{File: d.file, Pos: v.tok.pos, Text: fmt.Sprintf(format, args...)}
	}
}

func (d *definitionReader) message(v *jsonValue) *Message {
	m := &Message{APIKey: -1, Versions: None, Flexible: None, Unstable: None}
	if !v.isObject() {
		d.fail(v, "a definition is an object")
		return m
	}
	var haveVersions, unstable bool
	for _, x := range v.members {
		switch x.key.text {
		case "name":
			m.Name = d.text(x)
		case "type":
			m.Type = Type(d.text(x))
			if !knownType(m.Type) {
				d.fail(x.value, "unknown type %q of definition", m.Type)
			}
		case "apiKey":
			m.APIKey = int16(d.integer(x, 0, 1<<15-1))
		case "listeners":
			for _, item := range d.items(x) {
				m.Listeners = append(m.Listeners, d.text(jsonMember{x.key, item}))
			}
		case "validVersions":
			m.Versions, haveVersions = d.versions(x), true
		case "flexibleVersions":
			m.Flexible = d.versions(x)
		case "latestVersionUnstable":
			unstable = d.boolean(x)
		case "fields":
			m.Fields = d.fields(x)
		case "commonStructs":
			for _, item := range d.items(x) {
				m.Structs = append(m.Structs, d.structDef(item))
			}
		}
	}
	if m.Name == "" {
		d.fail(v, "the definition has no name")
	}
	if !haveVersions {
		d.fail(v, "the definition has no validVersions")
	}
	if unstable && !m.Versions.Empty() {
		m.Unstable = Versions{m.Versions.Max, m.Versions.Max}
	}
	m.deriveHeaders()
	return m
}

func (d *definitionReader) structDef(v *jsonValue) *StructDef {
	s := &StructDef{Versions: All}
	for _, x := range v.members {
		switch x.key.text {
		case "name":
			s.Name = d.text(x)
		case "versions":
			s.Versions = d.versions(x)
		case "fields":
			s.Fields = d.fields(x)
		}
	}
	if s.Name == "" {
		d.fail(v, "the struct has no name")
	}
	return s
}

func (d *definitionReader) fields(x jsonMember) []*FieldDef {
	var fields []*FieldDef
	for _, item := range d.items(x) {
		fields = append(fields, d.field(item))
	}
	return fields
}

func (d *definitionReader) field(v *jsonValue) *FieldDef {
	f := &FieldDef{Versions: None, Nullable: None, Tag: -1, Tagged: None}
	if !v.isObject() {
		d.fail(v, "a field is an object")
		return f
	}
	var haveVersions bool
	for _, x := range v.members {
		switch x.key.text {
		case "name":
			f.Name = d.text(x)
		case "type":
			f.Type = d.text(x)
		case "versions":
			f.Versions, haveVersions = d.versions(x), true
		case "nullableVersions":
			f.Nullable = d.versions(x)
		case "taggedVersions":
			f.Tagged = d.versions(x)
		case "tag":
			f.Tag = int32(d.integer(x, 0, 1<<31-1))
		case "flexibleVersions":
			flexible := d.versions(x)
			f.Flexible = &flexible
		case "default":
			if !x.value.isNull() { // the literal null is no default; the string "null" is one
				f.Default = d.text(x)
			}
		case "entityType":
			f.EntityType = d.text(x)
		case "mapKey":
			f.MapKey = d.boolean(x)
		case "ignorable":
			f.Ignorable = d.boolean(x)
		case "zeroCopy":
			f.ZeroCopy = d.boolean(x)
		case "about":
			f.About = d.text(x)
		case "fields":
			f.Fields = d.fields(x)
		}
	}
	switch {
	case f.Name == "":
		d.fail(v, "the field has no name")
	case f.Type == "":
		d.fail(v, "field %s has no type", f.Name)
	case !haveVersions && f.Tagged.Empty():
		d.fail(v, "field %s has no versions", f.Name)
	case !haveVersions: // some releases leave them out where taggedVersions says the same
		f.Versions = f.Tagged
	}
	if f.Tag >= 0 && f.Tagged.Empty() {
		d.fail(v, "field %s has a tag but no taggedVersions", f.Name)
	}
	if f.Tag < 0 && !f.Tagged.Empty() {
		d.fail(v, "field %s has taggedVersions but no tag", f.Name)
	}
	if _, err := parseDefault(f); err != nil {
		d.fail(v, "field %s: %v", f.Name, err)
	}
	return f
}

func (d *definitionReader) items(x jsonMember) []*jsonValue {
	if !x.value.isArray() {
		d.fail(x.value, "%s is not an array", x.key.text)
	}
	return x.value.items
}

// text accepts a number and a bool for a string, as Kafka's own reader does.
func (d *definitionReader) text(x jsonMember) string {
	if x.value.isObject() || x.value.isArray() || x.value.isNull() {
		d.fail(x.value, "%s is not a string", x.key.text)
		return ""
	}
	return x.value.tok.text
}

func (d *definitionReader) integer(x jsonMember, low, high int64) int64 {
	n, err := strconv.ParseInt(d.text(x), 0, 64)
	if err != nil || n < low || n > high {
		d.fail(x.value, "%s is not a number from %d to %d", x.key.text, low, high)
		return low
	}
	return n
}

func (d *definitionReader) boolean(x jsonMember) bool {
	switch d.text(x) {
	case "true":
		return true
	case "false":
	default:
		d.fail(x.value, "%s is neither true nor false", x.key.text)
	}
	return false
}

func (d *definitionReader) versions(x jsonMember) Versions {
	v, err := ParseVersions(d.text(x))
	if err != nil {
		d.fail(x.value, "%s: %v", x.key.text, err)
	}
	return v
}
