package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table puts cells in columns, two spaces apart and aligned to the left.
type table struct{ rows [][]string }

// add adds a row.
func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// lines returns the rows as text, without trailing spaces.
func (t *table) lines() []string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(t.rows))
	for i, row := range t.rows {
		var b strings.Builder
		for j, cell := range row {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)+2))
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// write writes the rows.
func (t *table) write(w io.Writer) error {
	for _, line := range t.lines() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
