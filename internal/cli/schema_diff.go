package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/schema"
)

var schemaDiffVerb = verb{
	name:     "schema diff",
	operands: "A B",
	brief:    "Show what is different between definitions",
	about: `
Compares two versions of an API, as in Fetch:12 Fetch:13 or in short Fetch:12..13, or two sets of
definitions: an API, message or record by its name, a file (also a draft), a folder, a jar, or
'catalogue', which is all that is built in. Each change of a definition has a line: fields that were added,
removed, renamed or moved, and types, versions, nullability, tags and defaults that changed.

Requests and responses are compared by their keys, a draft without a key by its name. Definitions that
only one side has are listed where both sides are folders, jars or the catalogue; else, what both sides
have is compared. A field counts as renamed where its type is the same and it has its place between the
same fields or a word in common with the old name.`,
	examples: []example{
		{"schema diff Fetch:12 Fetch:13", "two versions of an API"},
		{"schema diff draft.json StreamsGroupHeartbeat", "a draft with what became of it"},
		{"schema diff kafka-clients-4.3.0.jar kafka-clients-4.4.0.jar", "two releases"},
		{"schema diff --format markdown FetchRequest:12 FetchRequest:18", "as a table"},
	},
	define: func(fs *pflag.FlagSet) action {
		format := newChoice("text", "markdown", "json")
		fs.Var(format, "format", "how to write the differences")
		var own schemaFlags
		own.define(fs)
		return func(e *env, operands []string) error {
			a, b, err := diffOperands(operands)
			if err != nil {
				return err
			}
			c, err := own.catalogue(e)
			if err != nil {
				return err
			}
			d, err := schemaDiff(e, c, a, b, own.lenient)
			if err != nil {
				return err
			}
			return writeDiff(e, d, format.value)
		}
	},
}

// writeDiff writes d in a format by its name.
func writeDiff(e *env, d *schema.Diff, format string) error {
	switch format {
	case "markdown":
		return d.WriteMarkdown(e.stdout)
	case "json":
		return d.WriteJSON(e.stdout)
	}
	return d.WriteText(e.stdout)
}

// diffOperands returns what is compared: two operands, or one such as Fetch:12..13.
func diffOperands(operands []string) (a, b string, err error) {
	switch len(operands) {
	case 2:
		return operands[0], operands[1], nil
	case 1:
		name, versions, _ := strings.Cut(operands[0], ":")
		from, to, ok := strings.Cut(versions, "..")
		if ok && from != "" && to != "" {
			return name + ":" + from, name + ":" + to, nil
		}
	}
	return "", "", usagef("want two names, files, folders or jars, or one such as Fetch:12..13")
}

// diffSide is one side of a comparison.
type diffSide struct {
	label    string
	messages []*schema.Message
	version  int16 // schema.AllVersions where none is given
	set      bool  // of all the definitions that there are in a place
}

// schemaDiff compares what two operands name.
func schemaDiff(e *env, c *schema.Catalogue, from, to string, lenient bool) (*schema.Diff, error) {
	a, err := newDiffSide(e, c, from, lenient)
	if err != nil {
		return nil, err
	}
	b, err := newDiffSide(e, c, to, lenient)
	if err != nil {
		return nil, err
	}
	d := &schema.Diff{From: a.label, To: b.label, Definitions: []schema.DefinitionDiff{}}
	if a.version < 0 && b.version < 0 {
		if len(a.messages) == 1 && len(b.messages) == 1 && !a.set && !b.set {
			if x := schema.DiffMessages(a.messages[0], b.messages[0]); len(x.Changes) > 0 {
				d.Definitions = append(d.Definitions, x)
			}
			return d, nil
		}
		if !a.set || !b.set {
			if len(schema.Counterparts(a.messages, b.messages)) == 0 {
				return nil, fmt.Errorf("%s and %s have no definition in common", from, to)
			}
		}
		d.Definitions = schema.DiffSets(a.messages, b.messages, !a.set || !b.set)
		return d, nil
	}
	// A version that only one side names is that of both.
	if a.version < 0 {
		a.version = b.version
	}
	if b.version < 0 {
		b.version = a.version
	}
	pairs := schema.Counterparts(a.messages, b.messages)
	compared := 0
	for _, p := range pairs {
		if !p[0].Versions.Contains(a.version) || !p[1].Versions.Contains(b.version) {
			continue
		}
		compared++
		if x := schema.DiffVersions(p[0], a.version, p[1], b.version); len(x.Changes) > 0 {
			d.Definitions = append(d.Definitions, x)
		}
	}
	if compared == 0 {
		return nil, diffVersionsError(a, b)
	}
	return d, nil
}

// diffVersionsError says which side lacks its version.
func diffVersionsError(a, b diffSide) error {
	for _, s := range []diffSide{a, b} {
		for _, m := range s.messages {
			if !m.Versions.Contains(s.version) {
				return usagef("%s has the versions %s", m.Name, m.Versions)
			}
		}
	}
	return fmt.Errorf("%s and %s have no definition in common", a.label, b.label)
}

// newDiffSide finds what an operand names.
func newDiffSide(e *env, c *schema.Catalogue, operand string, lenient bool) (diffSide, error) {
	s := diffSide{label: operand, version: schema.AllVersions}
	if operand == "catalogue" {
		s.set = true
		for _, a := range c.APIs() {
			s.add(a, schema.Request, schema.Response)
		}
		s.messages = append(s.messages, c.DataMessages()...)
		return s, nil
	}
	name, versionText, versioned := operand, "", false
	if _, err := os.Stat(operand); err != nil {
		if i := strings.LastIndexByte(operand, ':'); i > 0 {
			name, versionText, versioned = operand[:i], operand[i+1:], true
		}
	}
	if versioned {
		v, err := strconv.ParseInt(strings.TrimPrefix(versionText, "v"), 10, 16)
		if err != nil || v < 0 {
			return s, usagef("%s: want a version such as %s:1", operand, name)
		}
		s.version = int16(v)
	}
	if info, err := os.Stat(name); err == nil {
		s.set = info.IsDir() || strings.EqualFold(filepath.Ext(name), ".jar")
		s.messages, err = readDefinitions(e, name, lenient)
		return s, err
	}
	api, directions, data := findDefinition(c, name)
	switch {
	case api != nil:
		s.add(api, directions...)
	case data != nil:
		s.messages = append(s.messages, data)
	default:
		return s, usagef("%q is no file and no definition; 'kdissect schema list' lists these", name)
	}
	return s, nil
}

// add adds the messages of an API.
func (s *diffSide) add(a *schema.API, directions ...schema.Direction) {
	for _, d := range directions {
		if m := a.Message(d); m != nil {
			s.messages = append(s.messages, m)
		}
	}
}
