package layout

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kdissect/kdissect/tree"
)

// WriteText writes p to be read in a terminal: rule, facts and legend, then of each side the
// bytes, the tree and the definition.
func (p *Page) WriteText(w io.Writer, color bool) error {
	var b bytes.Buffer
	var err error
	spill := func(text []byte) ([]byte, bool) {
		b.Write(text)
		if err == nil {
			_, err = w.Write(b.Bytes())
		}
		b.Reset()
		return text[:0], err == nil
	}
	fmt.Fprintf(&b, "%s\n%s\n\n%s\n", p.Title, strings.Repeat("=", utf8.RuneCountInString(p.Title)), wrap(p.Rule, 96))
	b.WriteByte('\n')
	width := 0
	for _, f := range p.Facts {
		width = max(width, len(f.Label))
	}
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "%-*s  %s\n", width, f.Label, f.Text)
	}
	fmt.Fprintf(&b, "%-*s  %s\n", width, "Legend", p.legendText(color))
	for _, s := range p.Sides {
		heading := fmt.Sprintf("%s, %d bytes", s.Title(), len(s.Bytes))
		fmt.Fprintf(&b, "\n%s\n%s\n\n", heading, strings.Repeat("-", len(heading)))
		b.Write(s.grid(color, spill))
		b.WriteByte('\n')
		b.Write(s.tree(color, spill))
		if s.Schema != "" {
			b.WriteByte('\n')
			b.WriteString(s.Schema)
		}
	}
	spill(nil)
	return err
}

// legendText lists the regions, in their colours.
func (p *Page) legendText(color bool) string {
	words := make([]string, len(p.Legend))
	for i, r := range p.Legend {
		words[i] = string(tree.AppendRegion(nil, r, color))
	}
	return strings.Join(words, ", ")
}

// grid returns the bytes, 16 a row; spill takes what is long.
func (s *Side) grid(color bool, spill func([]byte) ([]byte, bool)) []byte {
	g := tree.Grid{Secrets: s.text.Secrets, Color: color, Spill: spill}
	return g.Append(nil, s.Tree)
}

// tree returns the object tree; spill takes what is long.
func (s *Side) tree(color bool, spill func([]byte) ([]byte, bool)) []byte {
	x := s.text
	x.Color, x.Spill = color, spill
	return x.Append(nil, s.Tree)
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case n+1+len(word) > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}
