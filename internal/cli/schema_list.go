package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/schema"
)

var schemaListVerb = verb{
	name:  "schema list",
	brief: "List all definitions of the catalogue",
	about: `
Prints a line for each definition: requests and responses, headers, the records of Kafka's internal topics
and of the metadata log, and the protocols of consumers, Connect and Streams that travel inside others.`,
	examples: []example{
		{"schema list", "all definitions"},
		{"schema list | grep Streams", "those of one kind"},
	},
	define: func(fs *pflag.FlagSet) action {
		var own schemaFlags
		own.define(fs)
		return func(e *env, operands []string) error {
			if len(operands) > 0 {
				return usagef("unexpected operand %q; 'kdissect schema show %s' shows a definition", operands[0], operands[0])
			}
			c, err := own.catalogue(e)
			if err != nil {
				return err
			}
			return schemaList(e.stdout, c)
		}
	},
}

func schemaList(w *stdout, c *schema.Catalogue) error {
	t := &table{}
	t.add("NAME", "TYPE", "KEY", "VERSIONS", "FLEXIBLE")
	list := func(m *schema.Message) {
		if m == nil {
			return
		}
		key := "-"
		if m.APIKey >= 0 {
			key = fmt.Sprint(m.APIKey)
		}
		t.add(m.Name, m.Type, key, m.Versions, m.Flexible)
	}
	for _, a := range c.APIs() {
		list(a.Request)
		list(a.Response)
	}
	for _, m := range c.DataMessages() {
		list(m)
	}
	return t.write(w)
}
