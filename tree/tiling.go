package tree

import "fmt"

// TilingSink checks the tiling invariant of the events it receives: groups nest, leaves of each
// source are ordered and disjoint and lie inside the groups around them, and those of source 0
// cover the buffer without holes. It is a Sink that descends everything.
type TilingSink struct {
	next int32 // first byte of source 0 that no leaf has covered
	open []Event
	err  error
}

// Err returns the first violation, or nil; covered is the number of bytes that source 0 has.
func (t *TilingSink) Err(covered int) error {
	switch {
	case t.err != nil:
		return t.err
	case len(t.open) > 0:
		return fmt.Errorf("group %s is not ended", t.open[len(t.open)-1].Desc.Name)
	case int(t.next) != covered:
		return fmt.Errorf("leaves end at %d, the buffer at %d", t.next, covered)
	}
	return nil
}

func (t *TilingSink) fail(format string, a ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, a...)
	}
}

// Begin notes an open group.
func (t *TilingSink) Begin(e Event) bool {
	if e.Desc == nil || !e.Desc.Kind.Group() {
		t.fail("begin without a group's description at %d", e.Span.Off)
		return true
	}
	if e.Span.Source == 0 && e.Span.Off != t.next {
		t.fail("group %s begins at %d, want %d", e.Desc.Name, e.Span.Off, t.next)
	}
	t.open = append(t.open, e)
	return true
}

// Leaf checks that it follows the last one.
func (t *TilingSink) Leaf(e Event) {
	if e.Desc == nil {
		t.fail("leaf without description at %d", e.Span.Off)
		return
	}
	if e.Span.Len < 0 || e.Span.Off < 0 {
		t.fail("leaf %s has span %v", e.Desc.Name, e.Span)
	}
	if e.Span.Source != 0 || e.Has(FlagComputed) {
		return
	}
	if e.Span.Off != t.next {
		t.fail("leaf %s begins at %d, want %d", e.Desc.Name, e.Span.Off, t.next)
	}
	t.next = e.Span.End()
}

// End checks that it fits the group that is open.
func (t *TilingSink) End(e Event) {
	if len(t.open) == 0 {
		t.fail("end of %s, but no group is open", e.Desc.Name)
		return
	}
	b := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	if b.Desc != e.Desc || b.Span.Off != e.Span.Off || b.Span.Source != e.Span.Source {
		t.fail("end of %s at %d, want that of %s at %d", e.Desc.Name, e.Span.Off, b.Desc.Name, b.Span.Off)
	}
	if e.Span.Source == 0 && e.Span.End() != t.next && e.Desc.Kind != KindMessage {
		t.fail("group %s ends at %d, its leaves at %d", e.Desc.Name, e.Span.End(), t.next)
	}
}

// Issue checks that a group is open.
func (t *TilingSink) Issue(i Issue) {
	if len(t.open) == 0 {
		t.fail("issue %s outside of every group", i.Code)
	}
}

// Source does nothing.
func (t *TilingSink) Source(int32, []byte, Span, string) {}
