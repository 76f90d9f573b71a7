package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/schema"
)

var schemaShowVerb = verb{
	name:     "schema show",
	operands: "NAME[:VERSION]...",
	brief:    "Show definitions of the catalogue",
	about: `
Shows the definition of an API (its request and response), of one message such as FetchRequest, or of a
record or embedded protocol such as OffsetCommitValue: over all versions in the notation of the catalogue,
or, with a version, the fields of that version in the order of the wire, each with its type and meaning.`,
	examples: []example{
		{"schema show Fetch", "both definitions, over all versions"},
		{"schema show FetchRequest:12", "one message at one version"},
		{"schema show OffsetCommitValue:3", "a record of an internal topic"},
	},
	define: func(fs *pflag.FlagSet) action {
		var own schemaFlags
		own.define(fs)
		return func(e *env, operands []string) error {
			if len(operands) == 0 {
				return usagef("no name given; 'kdissect schema list' lists them")
			}
			c, err := own.catalogue(e)
			if err != nil {
				return err
			}
			for i, name := range operands {
				if i > 0 {
					fmt.Fprintln(e.stdout)
				}
				if err := schemaShow(e.stdout, c, name); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

// schemaShow shows what operand, NAME or NAME:VERSION, names.
func schemaShow(w *stdout, c *schema.Catalogue, operand string) error {
	name, versionText, versioned := strings.Cut(operand, ":")
	api, directions, data := findDefinition(c, name)
	if api == nil && data == nil {
		return usagef("unknown definition %q; 'kdissect schema list' lists them", name)
	}
	if !versioned {
		if api != nil {
			return schema.WriteAPI(w, api, c.Releases())
		}
		return schema.WriteData(w, []*schema.Message{data})
	}
	version, err := strconv.ParseInt(versionText, 10, 16)
	if err != nil || version < 0 {
		return usagef("%s: want a version such as %s:1", operand, name)
	}
	if data != nil {
		plan := c.Data(data.Name, int16(version))
		if plan == nil {
			return usagef("%s has the versions %s", data.Name, data.Versions)
		}
		return writePlan(w, plan)
	}
	shown := 0
	for _, d := range directions {
		plan := c.PlanOf(api, int16(version), d)
		if plan == nil { // of an API of one side, or a version that only the other side has
			continue
		}
		if shown++; shown > 1 {
			fmt.Fprintln(w)
		}
		if err := writePlan(w, plan); err != nil {
			return err
		}
	}
	if shown == 0 {
		m := api.Message(directions[0])
		if m == nil {
			m = api.Response
		}
		return usagef("%s has the versions %s", api.Name, versionsOf(m))
	}
	return nil
}

// findDefinition finds an API, with the directions that were meant, or a data definition.
func findDefinition(c *schema.Catalogue, name string) (*schema.API, []schema.Direction, *schema.Message) {
	both := []schema.Direction{schema.Request, schema.Response}
	if api := c.APIByName(name); api != nil {
		return api, both, nil
	}
	for _, d := range both {
		suffix := d.String()
		if len(name) > len(suffix) && strings.EqualFold(name[len(name)-len(suffix):], suffix) {
			if api := c.APIByName(name[:len(name)-len(suffix)]); api != nil {
				return api, []schema.Direction{d}, nil
			}
		}
	}
	if m := c.DataMessage(name); m != nil {
		return nil, nil, m
	}
	for _, m := range c.DataMessages() {
		if strings.EqualFold(m.Name, name) {
			return nil, nil, m
		}
	}
	return nil, nil, nil
}

// writePlan writes the fields of a plan in the order of the wire.
func writePlan(w *stdout, p *schema.Plan) error {
	fmt.Fprintf(w, "%s v%d", p.Name, p.Version)
	if p.API != nil {
		fmt.Fprintf(w, ", key %d, %s header v%d", p.API.Key, p.Direction, p.HeaderVersion)
	}
	if p.Flexible {
		fmt.Fprint(w, ", flexible")
	}
	fmt.Fprintln(w)
	t := &table{}
	writeStruct(t, p.Root, "  ")
	return t.write(w)
}

func writeStruct(t *table, s *schema.Struct, indent string) {
	fields := func(fs []schema.Field) {
		for i := range fs {
			f := &fs[i]
			var notes []string
			if f.Tag >= 0 {
				notes = append(notes, "tag "+strconv.Itoa(int(f.Tag)))
			}
			if f.Compact && lengthPrefixed(f.Op) {
				notes = append(notes, "compact")
			}
			if f.Nullable {
				notes = append(notes, "nullable")
			}
			if f.Desc.Default != "" {
				notes = append(notes, "default "+f.Desc.Default)
			}
			t.add(indent+f.Desc.Name, f.Desc.Type, strings.Join(notes, ", "), f.Desc.About)
			switch {
			case f.Struct != nil:
				writeStruct(t, f.Struct, indent+"  ")
			case f.Elem != nil && f.Elem.Struct != nil:
				writeStruct(t, f.Elem.Struct, indent+"  ")
			}
		}
	}
	fields(s.Fields)
	fields(s.Tags)
}

// lengthPrefixed reports whether values of op begin with a length or a count.
func lengthPrefixed(op schema.Op) bool {
	switch op {
	case schema.OpString, schema.OpBytes, schema.OpRecords, schema.OpArray:
		return true
	}
	return false
}
