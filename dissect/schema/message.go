package schema

import (
	"fmt"
	"strings"
)

// Type sorts definitions, in Kafka's words.
type Type string

// Types.
const (
	TypeRequest          Type = "request"
	TypeResponse         Type = "response"
	TypeHeader           Type = "header"
	TypeData             Type = "data"
	TypeCoordinatorKey   Type = "coordinator-key"   // of a record of a coordinator's topic
	TypeCoordinatorValue Type = "coordinator-value" // likewise
	TypeMetadata         Type = "metadata"          // a record of the metadata log
)

func knownType(t Type) bool {
	switch t {
	case TypeRequest, TypeResponse, TypeHeader, TypeData, TypeCoordinatorKey, TypeCoordinatorValue, TypeMetadata:
		return true
	}
	return false
}

// direction returns the direction of plans made from definitions of type t.
func (t Type) direction() Direction {
	switch t {
	case TypeRequest:
		return Request
	case TypeResponse:
		return Response
	}
	return Data
}

// Message is a definition over all its versions: a request, a response, a header or a piece of data.
type Message struct {
	Name     string // such as "FetchRequest"
	Type     Type
	Group    string // the catalogue file of a definition that is no API, such as "group"; else ""
	APIKey   int16  // the API's key or the record type; -1 where there is none
	Versions Versions
	Flexible Versions // from its Min on; None where there is no flexible version
	Unstable Versions // versions that a release accepts only when told to
	// Listeners names the listeners that take the request; only requests have them.
	Listeners []string
	Headers   []HeaderRange // header versions of a request or response
	Fields    []*FieldDef
	Structs   []*StructDef // structs used by more than one field
	Older     []*Older     // layouts that a newer release replaced under the same version, newest first
}

// HeaderRange gives the header version of a range of versions.
type HeaderRange struct {
	Versions Versions
	Header   int16
}

// Older is a layout that a newer release replaced without changing the version.
type Older struct {
	Release string // the last release that had it
	Message *Message
}

// StructDef is a struct that fields refer to by name.
type StructDef struct {
	Name     string
	Versions Versions
	Fields   []*FieldDef
}

// FieldDef is a field over all versions of its message.
type FieldDef struct {
	Name       string
	Type       string // as Kafka writes it: "int32", "[]string", "[]FetchTopic", "records"
	Versions   Versions
	Nullable   Versions
	Tag        int32    // -1 where the field has none
	Tagged     Versions // versions in which it is a tagged field
	Flexible   *Versions
	Default    string // as Kafka writes it; "" is the type's zero
	EntityType string
	MapKey     bool
	Ignorable  bool
	ZeroCopy   bool
	About      string      // of a definition that a user supplied; the catalogue's are in the glossary
	Fields     []*FieldDef // of a struct that only this field uses
}

// ElemType returns the element type of an array and the type itself of anything else.
func (f *FieldDef) ElemType() string { return strings.TrimPrefix(f.Type, "[]") }

// IsArray reports whether f is an array.
func (f *FieldDef) IsArray() bool { return strings.HasPrefix(f.Type, "[]") }

// ops are Kafka's base types.
var ops = map[string]Op{
	"bool": OpBool, "int8": OpInt8, "int16": OpInt16, "int32": OpInt32, "int64": OpInt64,
	"uint16": OpUint16, "uint32": OpUint32, "float64": OpFloat64, "uuid": OpUUID,
	"string": OpString, "bytes": OpBytes, "records": OpRecords,
}

// Struct returns the fields of the struct type that f has, or nil for a base type.
func (m *Message) Struct(f *FieldDef) []*FieldDef {
	if len(f.Fields) > 0 {
		return f.Fields
	}
	name := f.ElemType()
	if _, base := ops[name]; base {
		return nil
	}
	if s := m.common(name); s != nil {
		return s.Fields
	}
	return nil
}

func (m *Message) common(name string) *StructDef {
	for _, s := range m.Structs {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// HeaderVersion returns the version of the header in front of a body. Versions above the
// known ones follow from Flexible.
func (m *Message) HeaderVersion(version int16) int16 {
	for i := range m.Headers {
		if m.Headers[i].Versions.Contains(version) {
			return m.Headers[i].Header
		}
	}
	return -1
}

// apiName returns the name of the API of a request or response, else the message's own.
func (m *Message) apiName() string {
	switch m.Type {
	case TypeRequest:
		return strings.TrimSuffix(m.Name, "Request")
	case TypeResponse:
		return strings.TrimSuffix(m.Name, "Response")
	}
	return m.Name
}

// maxFields bounds the fields of a definition with its structs written out wherever they are
// used; the largest of Kafka's has about 200. Structs in structs could multiply without end.
const maxFields = 100_000

// check reports what would keep m from being compiled: types that are not defined, structs
// that contain themselves, too many fields.
func (m *Message) check() error {
	count := 0
	var walk func(fields []*FieldDef, path []string) error
	walk = func(fields []*FieldDef, path []string) error {
		if count += len(fields); count > maxFields {
			return fmt.Errorf("%s: more than %d fields", m.Name, maxFields)
		}
		for _, f := range fields {
			name := f.ElemType()
			if op, base := ops[name]; base {
				if len(f.Fields) > 0 {
					return fmt.Errorf("%s: field %s: type %s has no fields", m.Name, f.Name, f.Type)
				}
				if op == OpRecords && f.IsArray() {
					return fmt.Errorf("%s: field %s: records form no array", m.Name, f.Name)
				}
				continue
			}
			for _, p := range path {
				if p == name {
					return fmt.Errorf("%s: field %s: struct %s contains itself", m.Name, f.Name, name)
				}
			}
			inner := m.Struct(f)
			if inner == nil && m.common(name) == nil {
				return fmt.Errorf("%s: field %s: type %s is not defined", m.Name, f.Name, f.Type)
			}
			if err := walk(inner, append(path[:len(path):len(path)], name)); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(m.Fields, nil)
}

// deriveHeaders sets the header versions by Kafka's rule: flexible requests have header 2 and
// responses 1, others 1 and 0.
func (m *Message) deriveHeaders() {
	m.Headers = nil
	if m.Type != TypeRequest && m.Type != TypeResponse {
		return
	}
	plain := int16(0)
	if m.Type == TypeRequest {
		plain = 1
	}
	switch m.Name {
	case "ApiVersionsResponse": // a client that does not know the broker must be able to read it
		m.Headers = []HeaderRange{{All, 0}}
		return
	case "ControlledShutdownRequest": // version 0 is older than the client id
		m.Headers = []HeaderRange{{Versions{0, 0}, 0}}
	}
	start := int16(len(m.Headers))
	if m.Flexible.Empty() {
		m.Headers = append(m.Headers, HeaderRange{Versions{start, All.Max}, plain})
		return
	}
	if m.Flexible.Min > start {
		m.Headers = append(m.Headers, HeaderRange{Versions{start, m.Flexible.Min - 1}, plain})
	}
	m.Headers = append(m.Headers, HeaderRange{Versions{max(start, m.Flexible.Min), All.Max}, plain + 1})
}
