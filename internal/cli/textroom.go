package cli

import "sync/atomic"

// textRoom bounds the text that several workers have made and that is not written yet.
type textRoom struct {
	most int64
	used atomic.Int64
}

// full reports whether a long text must end.
func (m *textRoom) full() bool { return m.used.Load() >= m.most }

// closed reports whether none may begin: a short one has room behind a long one.
func (m *textRoom) closed() bool { return m.used.Load() >= m.most+m.most/4 }

// beginning is an output.Long that keeps the beginning of a text.
type beginning struct {
	text []byte
	most size
}

// Full implements output.Long.
func (g *beginning) Full() bool { return false }

// Spill implements output.Long.
func (g *beginning) Spill(b []byte, n int) ([]byte, bool) {
	g.text = append(g.text, b[:n]...)
	return b[:copy(b, b[n:])], !g.full()
}

func (g *beginning) full() bool { return len(g.text) >= int(g.most) }

// Limit implements output.Long.
func (g *beginning) Limit() string {
	return "the text that --where looks at is at its limit of " + g.most.String() + " (--max-text)"
}
