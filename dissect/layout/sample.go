package layout

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
)

// Sample says where the values of a page come from.
type Sample uint8

// Samples.
const (
	Smallest Sample = iota // the smallest legal instance
	Full                   // every field and tagged field with a value that stands out
	Given                  // values that the user gave
	Captured               // a frame that was captured
)

// RuleOf describes how the bytes of a page came about.
func RuleOf(s Sample) string {
	switch s {
	case Smallest:
		return "The bytes are the smallest instance that shows every field. Numbers are zero, even where the " +
			"schema's default is another one. Strings and bytes are empty rather than null. Each array has one " +
			"element, so that the layout of its elements is seen. Structs that may be null are there. No tagged " +
			"field is sent. A record set is one empty record batch of 61 bytes with a valid checksum; in the " +
			"versions of Produce and Fetch before it, one message with an empty key and value."
	case Full:
		return "The bytes are an instance in which every field has a value that stands out, and every tagged field " +
			"of the version is sent. Arrays have two elements, those inside of other arrays' elements one. A " +
			"record set is one batch with one record. The values are made up."
	case Given:
		return "The bytes are the encoding of values that were given as JSON. Fields without a value have the " +
			"schema's default, and tagged fields with their default are not sent."
	}
	return "The bytes were captured: a request, and the response to it, as they were sent. Values that are " +
		"secret are hidden, in the tree and among the bytes."
}

// SmallestValue returns the JSON form of the smallest legal instance of p.
func SmallestValue(p *schema.Plan) map[string]any {
	g := smallest{records: base64.StdEncoding.EncodeToString(emptyRecords(p))}
	return g.object(p.Root)
}

// zero is the JSON form of the number.
const zero = json.Number("0")

// zeroUUID is the zero id in the form that Kafka writes.
var zeroUUID = base64.RawURLEncoding.EncodeToString(make([]byte, 16))

// smallest makes values by the rule of RuleOf(Smallest).
type smallest struct{ records string }

func (g *smallest) object(s *schema.Struct) map[string]any {
	v := make(map[string]any, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		v[f.Desc.Key] = g.value(f)
	}
	return v
}

func (g *smallest) value(f *schema.Field) any {
	switch f.Op {
	case schema.OpBool:
		return false
	case schema.OpUUID:
		return zeroUUID
	case schema.OpString, schema.OpBytes:
		return ""
	case schema.OpRecords:
		return g.records
	case schema.OpArray:
		return []any{g.value(f.Elem)}
	case schema.OpStruct:
		return g.object(f.Struct)
	}
	return zero
}

// headerValue returns the JSON form of the header h in front of p.
func headerValue(h, p *schema.Plan, correlationID int32, clientID any) map[string]any {
	v := make(map[string]any, len(h.Root.Fields))
	for i := range h.Root.Fields {
		key := h.Root.Fields[i].Desc.Key
		switch schema.Role(h.Root.Fields[i].Desc.Role) {
		case schema.RoleAPIKey:
			v[key] = number(int64(p.API.Key))
		case schema.RoleAPIVersion:
			v[key] = number(int64(p.Version))
		case schema.RoleCorrelationID:
			v[key] = number(int64(correlationID))
		case schema.RoleClientID:
			v[key] = clientID
		}
	}
	return v
}

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
