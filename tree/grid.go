package tree

import "strconv"

// GridRow is the number of bytes in a row of a byte grid.
const GridRow = 16

// Grid writes the bytes of a tree's sources in rows of 16, with the offset before them and
// their ASCII form behind, coloured by region. Bytes of what is not shown are masked.
type Grid struct {
	Secrets bool
	Values  Values
	Color   bool
	// Spill is that of Text.
	Spill func([]byte) ([]byte, bool)

	regions []Region
	masked  []bool
}

// Append appends the rows of every source of t to dst.
func (g *Grid) Append(dst []byte, t *Tree) []byte {
	for s, b := range t.Sources {
		if s > 0 {
			dst = append(dst, '#')
			dst = strconv.AppendInt(dst, int64(s), 10)
			dst = append(dst, '\n')
		}
		g.Map(t, int32(s))
		var more bool
		if dst, more = g.rows(dst, b); !more {
			break
		}
	}
	return dst
}

// Map returns the region of each byte of source s and whether it is masked. Both are void
// after the next call.
func (g *Grid) Map(t *Tree, s int32) ([]Region, []bool) {
	n := len(t.Sources[s])
	if cap(g.regions) < n {
		g.regions, g.masked = make([]Region, n), make([]bool, n)
	}
	g.regions, g.masked = g.regions[:n], g.masked[:n]
	clear(g.regions)
	clear(g.masked)
	// Children come after their parents, so the innermost node writes last.
	for i := range t.Nodes {
		d, span := t.Nodes[i].Desc, t.Nodes[i].Span
		hide := d.Secret && !g.Secrets || d.Data && g.Values != ValuesFull
		if span.Source != s || d.Region == RegionNone && !hide {
			continue
		}
		from, to := min(int(span.Off), n), min(int(span.End()), n)
		for at := from; at < to; at++ {
			if d.Region != RegionNone {
				g.regions[at] = d.Region
			}
			// A secret's length prefix is masked too: it is no secret, but tells nothing more
			// than the tree does.
			g.masked[at] = g.masked[at] || hide
		}
	}
	return g.regions, g.masked
}

// rows appends the rows of b, and reports whether there was room for all of them.
func (g *Grid) rows(dst, b []byte) ([]byte, bool) {
	for off := 0; off < len(b); off += GridRow {
		if g.Spill != nil && len(dst) >= spillAt {
			var more bool
			if dst, more = g.Spill(dst); !more {
				return dst, false
			}
		}
		dst = append(dst, "0x"...)
		dst = appendHex(dst, uint64(off), 4)
		dst = append(dst, ' ')
		color := RegionNone
		for i := off; i < off+GridRow; i++ {
			dst = append(dst, ' ')
			if i >= len(b) {
				dst = append(dst, "  "...)
				continue
			}
			dst, color = g.paint(dst, color, g.regions[i])
			if g.masked[i] {
				dst = append(dst, "**"...)
				continue
			}
			dst = appendHex(dst, uint64(b[i]), 2)
		}
		dst, _ = g.paint(dst, color, RegionNone)
		dst = append(dst, "  "...)
		for i := off; i < min(off+GridRow, len(b)); i++ {
			switch c := b[i]; {
			case g.masked[i]:
				dst = append(dst, '*')
			case c >= 0x20 && c < 0x7f:
				dst = append(dst, c)
			default:
				dst = append(dst, '.')
			}
		}
		dst = append(dst, '\n')
	}
	return dst, true
}

func (g *Grid) paint(dst []byte, from, to Region) ([]byte, Region) {
	if !g.Color || from == to {
		return dst, from
	}
	if from != RegionNone {
		dst = append(dst, colorOff...)
	}
	return append(dst, regionColor(to)...), to
}
