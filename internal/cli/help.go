package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// helpWidth is the column before which the descriptions of flags are wrapped.
const helpWidth = 96

// help is the verb of that name.
func help(e *env, args []string) error {
	if len(args) == 0 {
		return writeHelp(e.stdout)
	}
	if v, rest, err := findVerb(args); err == nil && len(rest) == 0 {
		return writeVerbHelp(e.stdout, v)
	}
	if group := verbsOf(args[0]); len(group) > 0 && len(args) == 1 {
		for i, v := range group {
			if i > 0 {
				fmt.Fprintln(e.stdout)
			}
			if err := writeVerbHelp(e.stdout, v); err != nil {
				return err
			}
		}
		return nil
	}
	_, _, err := findVerb(args)
	if err == nil {
		err = usagef("no help on %q", strings.Join(args, " "))
	}
	return err
}

// writeHelp writes the list of commands.
func writeHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("kdissect shows the Kafka protocol inside captured TCP traffic.\n\nUsage:\n")
	b.WriteString("  kdissect COMMAND [flags] [operands]\n\nCommands:\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-16s %s\n", v.name, v.brief)
	}
	fmt.Fprintf(&b, "  %-16s %s\n", "help COMMAND", "Describe a command, its flags and examples")
	fmt.Fprintf(&b, "  %-16s %s\n", "--version", "Print the version")
	b.WriteString(`
Examples:
  kdissect read capture.pcap                   one line for each exchange
  kdissect read -t --api Fetch capture.pcap    every byte of the fetches as a tree
  tcpdump -U -w - port 9092 | kdissect read -  as the packets arrive

Data goes to stdout, everything else to stderr. The exit status is 0 when all was done, 1 when
something failed, 2 for a wrong command line, and 3 when --strict was given and issues were found.
`)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeVerbHelp writes a verb's usage, description, flags and examples.
func writeVerbHelp(w io.Writer, v verb) error {
	fs := pflag.NewFlagSet(v.name, pflag.ContinueOnError)
	fs.SortFlags = false
	v.define(fs)
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage:\n  kdissect %s", v.brief, v.name)
	if fs.HasFlags() {
		b.WriteString(" [flags]")
	}
	if v.operands != "" {
		b.WriteString(" " + v.operands)
	}
	b.WriteString("\n")
	if v.about != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(v.about))
	}
	if fs.HasFlags() {
		b.WriteString("\nFlags:\n")
		writeFlags(&b, fs)
	}
	if len(v.examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, x := range v.examples {
			fmt.Fprintf(&b, "  # %s\n  kdissect %s\n", x.what, x.line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFlags writes a line for each flag, wrapped at helpWidth.
func writeFlags(b *strings.Builder, fs *pflag.FlagSet) {
	type entry struct{ flag, about string }
	var entries []entry
	width := 0
	fs.VisitAll(func(f *pflag.Flag) {
		text := "      --" + f.Name
		if f.Shorthand != "" {
			text = "  -" + f.Shorthand + ", --" + f.Name
		}
		// The name of the value stands in backquotes: in the text, or in brackets that are only for it.
		value, about := pflag.UnquoteUsage(f)
		about = strings.Replace(about, " ("+value+")", "", 1)
		if f.Value.Type() != "bool" {
			text += " " + value
			switch f.DefValue {
			case "", "0", "0s", "[]":
			default:
				about += " (default " + f.DefValue + ")"
			}
		}
		entries = append(entries, entry{text, about})
		width = max(width, len(text))
	})
	for _, e := range entries {
		line, indent := fmt.Sprintf("%-*s  ", width, e.flag), strings.Repeat(" ", width+2)
		length := len(line)
		b.WriteString(line)
		for i, word := range strings.Fields(e.about) {
			switch {
			case i == 0:
			case length+1+len(word) > helpWidth:
				b.WriteString("\n" + indent)
				length = len(indent)
			default:
				b.WriteByte(' ')
				length++
			}
			b.WriteString(word)
			length += len(word)
		}
		b.WriteByte('\n')
	}
}
