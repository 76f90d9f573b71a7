package scrub

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/schema"
)

// TestEveryFieldHasAClass goes through all layouts, so that a new field of text or bytes is
// looked at by a person: until then it is replaced.
func TestEveryFieldHasAClass(t *testing.T) {
	listed := map[string]bool{}
	var visit func(message, structName string, s *schema.Struct)
	visit = func(message, structName string, s *schema.Struct) {
		for _, fields := range [][]schema.Field{s.Fields, s.Tags} {
			for i := range fields {
				f := &fields[i]
				e := f
				for e.Elem != nil {
					e = e.Elem
				}
				switch e.Op {
				case schema.OpString, schema.OpBytes:
					if classOf(structName, f.Desc.Name, schema.Role(e.Desc.Role)) == unlisted {
						t.Errorf("%s: %s.%s", message, structName, f.Desc.Name)
					}
					listed[structName+"."+f.Desc.Name], listed[f.Desc.Name] = true, true
				case schema.OpUUID:
					listed[structName+"."+f.Desc.Name], listed[f.Desc.Name] = true, true
				case schema.OpStruct:
					visit(message, e.Desc.Type, e.Struct)
				}
			}
		}
	}
	plan := func(p *schema.Plan) {
		if p != nil {
			visit(p.Name, p.Body.Name, p.Root)
		}
	}
	c := schema.Default()
	for _, api := range c.APIs() {
		for _, d := range []schema.Direction{schema.Request, schema.Response} {
			for v := range int16(64) {
				plan(c.Plan(api.Key, v, d))
				for _, older := range c.Older(api.Key, v, d) {
					plan(older)
				}
			}
		}
	}
	for _, from := range []*schema.Catalogue{c, payload.Layouts()} {
		for _, m := range from.DataMessages() {
			for v := m.Versions.Min; v <= m.Versions.Max; v++ {
				plan(from.Data(m.Name, v))
				for _, older := range from.OlderData(m.Name, v) {
					plan(older)
				}
			}
		}
	}
	elsewhere := map[string]bool{ // around records, in headers, and of OpenTelemetry
		"Record.key": true, "Record.value": true, "Header.headerKey": true, "Header.headerValue": true,
		"Message.key": true, "Message.value": true, "client_id": true, "schemaUrl": true, "spanId": true, "traceId": true,
		"Metric.name": true, "Metric.description": true, "Metric.unit": true, "InstrumentationScope.name": true,
		"InstrumentationScope.version": true, "KeyValue.key": true, "AnyValue.stringValue": true, "AnyValue.bytesValue": true,
	}
	for name := range classes {
		assert.True(t, listed[name] || elsewhere[name], "%s is a field of no layout", name)
	}
}
