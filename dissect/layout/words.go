package layout

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// words passes the events of a sample on with the descriptions that generated pages have: what
// stands beside a size and a length tells of the sample, and words of enumerations are left to
// real values, the API key's aside.
type words struct {
	tree.Sink
	maker  *Maker
	api    *schema.API
	sample Sample
	open   []openGroup
}

// openGroup is a group that has begun and not ended.
type openGroup struct {
	kind  tree.Kind
	count int32
	flags tree.Flags
}

// Begin implements tree.Sink.
func (w *words) Begin(e tree.Event) bool {
	w.open = append(w.open, openGroup{e.Desc.Kind, e.Count, e.Flags})
	e.Desc = w.desc(&e)
	return w.Sink.Begin(e)
}

// Leaf implements tree.Sink.
func (w *words) Leaf(e tree.Event) {
	e.Desc = w.desc(&e)
	w.Sink.Leaf(e)
}

// End implements tree.Sink.
func (w *words) End(e tree.Event) {
	w.open = w.open[:len(w.open)-1]
	w.Sink.End(e)
}

// desc returns the description that stands for that of e.
func (w *words) desc(e *tree.Event) *tree.Desc {
	d := e.Desc
	var in openGroup
	if len(w.open) > 0 {
		in = w.open[len(w.open)-1]
	}
	switch {
	case schema.Role(d.Role) == schema.RoleAPIKey && in.flags&tree.FlagHeader != 0:
		return w.maker.changed(d, d.About, keyName{w.api})
	case in.kind == tree.KindGroup && e.Span.Off == 0 && d.Kind == tree.KindInt32 && in.flags == 0:
		return w.maker.changed(d, d.About+", patched after encoding", nil)
	case in.kind == tree.KindArray && e.Has(tree.FlagStructural) && d.Name == "length":
		return w.maker.changed(d, follow(in.count), nil)
	case w.sample != Given && (d.Names != nil || d.Time):
		return w.maker.changed(d, d.About, nil)
	}
	return d
}

// follow says how many elements a length announces.
func follow(n int32) string {
	switch n {
	case -1:
		return "null, no elements follow"
	case 0:
		return "no sample element follows"
	case 1:
		return "one sample element follows"
	case 2:
		return "two sample elements follow"
	}
	return strconv.Itoa(int(n)) + " sample elements follow"
}

// keyName gives a key the name of the API that a page is about.
type keyName struct{ api *schema.API }

// Name implements tree.Names.
func (k keyName) Name(v int64) string {
	switch {
	case v < 0:
		return "unassigned"
	case k.api != nil:
		return k.api.Name
	}
	return ""
}

// changedDesc names a description that stands for another.
type changedDesc struct {
	of    *tree.Desc
	about string
}

// changed returns a copy of d with another text and words; the same copy each time.
func (m *Maker) changed(d *tree.Desc, about string, names tree.Names) *tree.Desc {
	key := changedDesc{d, about}
	if names != nil {
		key.about = about + "\x00" + names.Name(0) // the header's descriptions are shared by all APIs
	}
	if c := m.descs[key]; c != nil {
		return c
	}
	c := *d
	c.About, c.Names, c.Time = about, names, false
	if m.descs == nil {
		m.descs = make(map[changedDesc]*tree.Desc)
	}
	m.descs[key] = &c
	return &c
}
