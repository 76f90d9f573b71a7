package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/schema"
)

var schemaImportVerb = verb{
	name:     "schema import",
	operands: "JAR|DIR|FILE... --out DIR",
	brief:    "Make a catalogue from Kafka's own message definitions",
	about: `
Reads the JSON definitions in Kafka's jars, in a folder, or in single files, and writes a catalogue of
them: one text file for each API, and one for each group of other definitions. Every version is taken from
the newest release that has it; the built-in catalogue counts as the oldest, so that versions which only
it has stay. A jar's release is read from its name.

The files of an earlier import in the folder are replaced. What was kept from an older release, or is
doubtful, is told on stderr.`,
	examples: []example{
		{"schema import --out dissect/schema/catalog kafka-clients-4.5.0.jar kafka-group-coordinator-4.5.0.jar", "add a release to the catalogue"},
		{"schema import --fresh --out mine clients/src/main/resources/common/message", "definitions of a source tree alone"},
	},
	define: func(fs *pflag.FlagSet) action {
		out := fs.String("out", "", "`folder` to write to")
		fresh := fs.Bool("fresh", false, "start from nothing, not from the built-in catalogue")
		return func(e *env, paths []string) error {
			switch {
			case len(paths) == 0:
				return usagef("no jar, folder or file given")
			case *out == "":
				return usagef("no --out folder given")
			}
			return schemaImport(e, paths, *out, *fresh)
		}
	},
}

func schemaImport(e *env, paths []string, out string, fresh bool) error {
	if err := checkCatalogueFolder(out); err != nil {
		return err
	}
	var sources []*schema.Source
	for _, path := range paths {
		s, err := schema.ReadSource(path)
		if err != nil {
			return err
		}
		if len(s.Messages) == 0 {
			return fmt.Errorf("%s: no message definitions; the clients, coordinator, metadata, raft, storage and streams jars have them", path)
		}
		sources = append(sources, s)
	}
	var opts schema.ImportOptions
	if !fresh {
		opts.Base = schema.Default()
	}
	c, report, err := schema.Import(opts, sources...)
	if err != nil {
		return err
	}
	for _, line := range report {
		e.warn("%s", line)
	}
	if err := c.WriteFolder(out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s and %s written to %s\n", plural(len(c.APIs()), "API"), plural(len(c.DataMessages()), "other definition"), out)
	return err
}

// checkCatalogueFolder makes sure that the text files which an import would remove are those of a
// catalogue.
func checkCatalogueFolder(dir string) error {
	texts, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(texts) == 0 {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "releases.txt")); err != nil {
		return fmt.Errorf("%s holds text files but no releases.txt, so that it seems to be no catalogue; give a new folder", dir)
	}
	return nil
}
