package layout

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes p as CommonMark with tables.
func (p *Page) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n| | |\n|---|---|\n", p.Title, wrap(p.Rule, 100))
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "| %s | %s |\n", cell(f.Label), cell(f.Text))
	}
	fmt.Fprintf(&b, "| Legend | %s |\n", cell(p.legendText(false)))
	for _, s := range p.Sides {
		fmt.Fprintf(&b, "\n## %s, %d bytes\n", s.Title(), len(s.Bytes))
		fenced(&b, "Bytes", "text", string(s.grid(false, nil)))
		fenced(&b, "Object tree", "text", string(s.tree(false, nil)))
		if s.Schema != "" {
			fenced(&b, "Schema", "json", s.Schema)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// cell makes text fit for the cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// fenced writes a block of code with a heading; its fence is longer than any inside.
func fenced(b *bytes.Buffer, heading, language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n### %s\n\n%s%s\n%s%s\n", heading, fence, language, text, fence)
}
