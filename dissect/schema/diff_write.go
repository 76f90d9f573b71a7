package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// title names a definition of a Diff.
func (d DefinitionDiff) title() string {
	var b strings.Builder
	b.WriteString(d.Name + " (" + string(d.Type))
	if d.APIKey != nil {
		fmt.Fprintf(&b, ", key %d", *d.APIKey)
	}
	b.WriteString(")")
	switch {
	case d.Kind == Added, d.Kind == Removed:
		fmt.Fprintf(&b, " %s: %s", d.Kind, d.Text)
	case d.Was != "":
		b.WriteString(", was " + d.Was)
	}
	return b.String()
}

// WriteText writes d for people: a line for each definition, and below it one for each change.
func (d *Diff) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s to %s\n", d.From, d.To)
	if len(d.Definitions) == 0 {
		b.WriteString("no difference\n")
	}
	for _, x := range d.Definitions {
		fmt.Fprintf(&b, "\n%s\n", x.title())
		for _, c := range x.Changes {
			fmt.Fprintf(&b, "  %s\n", c)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteMarkdown writes d with a table of changes for each definition.
func (d *Diff) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s to %s\n", markdown(d.From), markdown(d.To))
	if len(d.Definitions) == 0 {
		b.WriteString("\nNo difference.\n")
	}
	for _, x := range d.Definitions {
		fmt.Fprintf(&b, "\n## %s\n", markdown(x.title()))
		if len(x.Changes) == 0 {
			continue
		}
		b.WriteString("\n| field | change | before | after |\n| --- | --- | --- | --- |\n")
		for _, c := range x.Changes {
			path, what := "(all)", string(c.Kind)
			if c.Path != "" {
				path = "`" + c.Path + "`"
			}
			was, is := c.Was, c.Is
			switch c.Kind {
			case Changed:
				what, was, is = c.What, or(was, "none"), or(is, "none")
			case Added, Moved:
				is = c.Text
			case Removed:
				was = c.Text
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", path, what, markdown(was), markdown(is))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// markdown escapes what would be markup in a table.
func markdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "]", `\]`, "\n", " ").Replace(s)
}

// WriteJSON writes d as one line.
func (d *Diff) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
