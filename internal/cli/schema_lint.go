package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/schema"
)

var schemaLintVerb = verb{
	name:     "schema lint",
	operands: "FILE|DIR|JAR...",
	brief:    "Check message definitions, also drafts as proposals have them",
	about: `
Reads definitions in Kafka's JSON form, alone or cut out of a page with text around, and prints a line for
each finding, as FILE:LINE:COLUMN: text. The text begins with what the finding is:

  repaired  not as JSON has it, such as a missing comma or a raw newline in a string: read as told
  warning   odd, and without effect on bytes, such as a struct that no field uses
  rule      breaks a rule of Kafka's generator, such as tags with a hole between them
  error     could not be repaired, such as a field without a type or something left out

Nothing is printed about what is as it should be. The exit status is 1 where a rule is broken or
something could not be repaired. All commands that take --schema read definitions in the same way.`,
	examples: []example{
		{"schema lint FooRequest.json FooResponse.json", "drafts of a new API"},
		{"schema lint clients/src/main/resources/common/message", "all of a source tree"},
	},
	define: func(*pflag.FlagSet) action {
		return func(e *env, paths []string) error {
			if len(paths) == 0 {
				return usagef("no file, folder or jar given")
			}
			return schemaLint(e, paths)
		}
	},
}

func schemaLint(e *env, paths []string) error {
	broken, messages := 0, 0
	for _, path := range paths {
		drafts, err := schema.ReadDrafts(path)
		if err != nil {
			return err
		}
		for _, d := range drafts {
			messages += len(d.Messages)
			for _, f := range d.Findings {
				fmt.Fprintln(e.stdout, f)
				if f.Severity >= schema.Breach {
					broken++
				}
			}
		}
	}
	switch {
	case broken > 0:
		return fmt.Errorf("%s that Kafka's generator would not take", plural(broken, "place"))
	case messages == 0:
		return fmt.Errorf("no message definitions")
	}
	return nil
}
