package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/schema"
)

// schemaFlags are the flags about definitions of the user's own.
type schemaFlags struct {
	paths    []string
	asKey    int16
	asKeySet func() bool
	lenient  bool

	loaded *schema.Catalogue // what catalogue returned; nil before
}

// define adds the flags to fs.
func (f *schemaFlags) define(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.paths, "schema", nil, "take definitions from here (`FILE|DIR|JAR`) before the built-in ones: Kafka's JSON, also drafts of it")
	fs.Int16Var(&f.asKey, "as-key", 0, "with --schema: the key (`N`) of an API that has none yet")
	fs.BoolVar(&f.lenient, "lenient", false, "with --schema: take the sound fields of a draft that cannot be repaired")
	f.asKeySet = func() bool { return fs.Changed("as-key") }
}

// catalogue returns the built-in definitions with those of the user on top. What was assumed to
// read them goes to stderr.
func (f *schemaFlags) catalogue(e *env) (*schema.Catalogue, error) {
	if f.loaded != nil {
		return f.loaded, nil
	}
	if len(f.paths) == 0 {
		if f.asKeySet != nil && f.asKeySet() {
			return nil, usagef("--as-key is about --schema")
		}
		return schema.Default(), nil
	}
	key := int16(schema.NoKey)
	if f.asKeySet() {
		if key = f.asKey; key < 0 {
			return nil, usagef("--as-key %d: want 0 to 32767", key)
		}
	}
	var messages []*schema.Message
	for _, path := range f.paths {
		found, err := readDefinitions(e, path, f.lenient)
		if err != nil {
			return nil, err
		}
		messages = append(messages, found...)
	}
	if key >= 0 && !slices.ContainsFunc(messages, unassigned) {
		return nil, usagef("--as-key %d: every definition has a key already", key)
	}
	c, err := schema.Layer(schema.Default(), key, messages...)
	if err != nil {
		return nil, fmt.Errorf("--schema %s: %w", strings.Join(f.paths, " "), err)
	}
	f.loaded = c
	return c, nil
}

// unassigned reports whether m is a request or response of an API without a key.
func unassigned(m *schema.Message) bool {
	return m.APIKey < 0 && (m.Type == schema.TypeRequest || m.Type == schema.TypeResponse)
}

// readDefinitions reads the definitions in a file, folder or jar and tells what was repaired.
// Faults are an error, unless lenient; warnings are for schema lint.
func readDefinitions(e *env, path string, lenient bool) ([]*schema.Message, error) {
	drafts, err := schema.ReadDrafts(path)
	if err != nil {
		return nil, err
	}
	var messages []*schema.Message
	faults := 0
	for _, d := range drafts {
		messages = append(messages, d.Messages...)
		faults += d.Faults()
		for _, f := range d.Findings {
			if f.Severity != schema.Warning {
				fmt.Fprintln(e.stderr, f)
			}
		}
	}
	switch {
	case faults > 0 && len(messages) == 0:
		return nil, fmt.Errorf("%s: no definition could be read", path)
	case faults > 0 && !lenient:
		return nil, fmt.Errorf("%s: %s could not be repaired; --lenient takes the fields that are sound", path, plural(faults, "place"))
	case len(messages) == 0:
		return nil, fmt.Errorf("%s: no message definitions", path)
	}
	return messages, nil
}
