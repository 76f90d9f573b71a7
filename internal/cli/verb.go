package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// verb is one command. Each lives in a file of its own and is named in verbs.
type verb struct {
	name     string // such as "read" or "schema import"
	operands string // as the usage line shows them
	brief    string // one line
	about    string // paragraphs for the verb's own help
	examples []example
	// define adds the verb's flags to fs and returns what runs it once they are parsed.
	define func(fs *pflag.FlagSet) action
}

// action runs a verb with its operands.
type action func(e *env, operands []string) error

// example is a command line and what it is good for.
type example struct{ line, what string }

// verbs returns all commands in the order in which help lists them.
func verbs() []verb {
	return []verb{
		readVerb,
		liveVerb,
		recordsVerb,
		connectionsVerb,
		scrubVerb,
		decodeVerb,
		encodeVerb,
		layoutVerb,
		apisVerb,
		schemaListVerb,
		schemaShowVerb,
		schemaDiffVerb,
		schemaLintVerb,
		schemaImportVerb,
	}
}

// findVerb returns the verb that args begin with and the arguments behind its name.
func findVerb(args []string) (verb, []string, error) {
	all := verbs()
	for _, v := range all {
		words := strings.Fields(v.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == v.name {
			return v, args[len(words):], nil
		}
	}
	if group := verbsOf(args[0]); len(group) > 0 {
		names := make([]string, len(group))
		for i, v := range group {
			names[i] = "'kdissect " + v.name + "'"
		}
		return verb{}, nil, usagef("%s needs a second word: %s", args[0], strings.Join(names, ", "))
	}
	if near := nearest(args[0], all); near != "" {
		return verb{}, nil, usagef("unknown command %q; did you mean 'kdissect %s'?", args[0], near)
	}
	return verb{}, nil, usagef("unknown command %q", args[0])
}

// verbsOf returns the verbs whose names begin with the word group.
func verbsOf(group string) []verb {
	var found []verb
	for _, v := range verbs() {
		if strings.HasPrefix(v.name, group+" ") {
			found = append(found, v)
		}
	}
	return found
}

// nearest returns the name of a verb that word may have meant, or "".
func nearest(word string, all []verb) string {
	best, least := "", 3
	for _, v := range all {
		if d := distance(word, v.name); d < least {
			best, least = v.name, d
		}
	}
	return best
}

// distance is the number of insertions, deletions and substitutions between a and b, a swap of
// neighbours counting as two.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
