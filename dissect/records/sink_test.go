package records

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

// checker is a sink that asserts the rules of events: groups nest, the leaves of every source
// tile it, flags agree with what is there.
type checker struct {
	t       testing.TB
	skip    func(tree.Event) bool
	open    []tree.Event
	at      map[int32]int32 // end of the last leaf of each source
	size    map[int32]int32
	origins map[int32]tree.Span
	issues  []tree.Issue
	leaves  int
	events  int
}

func newChecker(t testing.TB, base tree.Span, size int) *checker {
	return &checker{
		t: t, at: map[int32]int32{base.Source: base.Off},
		size: map[int32]int32{base.Source: base.Off + int32(size)}, origins: map[int32]tree.Span{},
	}
}

func (c *checker) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf(format, args...)
}

func (c *checker) Begin(e tree.Event) bool {
	c.events++
	if !e.Desc.Kind.Group() {
		c.fail("begin of %s, which is no group", e.Desc.Name)
	}
	c.open = append(c.open, e)
	return c.skip == nil || !c.skip(e)
}

func (c *checker) End(e tree.Event) {
	c.events++
	if len(c.open) == 0 || c.open[len(c.open)-1].Desc != e.Desc {
		c.fail("end of %s does not fit", e.Desc.Name)
	}
	begun := c.open[len(c.open)-1]
	if e.Span.Off != begun.Span.Off || begun.Span.Len >= 0 && e.Span.Len != begun.Span.Len {
		c.fail("%s begins as %v and ends as %v", e.Desc.Name, begun.Span, e.Span)
	}
	c.open = c.open[:len(c.open)-1]
}

func (c *checker) Leaf(e tree.Event) {
	c.events++
	if e.Desc.Kind.Group() {
		c.fail("leaf of %s, which is a group", e.Desc.Name)
	}
	at, known := c.at[e.Span.Source]
	if !known {
		c.fail("%s lies in source %d, which was not announced", e.Desc.Name, e.Span.Source)
	}
	if e.Span.Len == 0 != e.Has(tree.FlagComputed) {
		c.fail("%s has %d bytes, flags %x", e.Desc.Name, e.Span.Len, e.Flags)
	}
	if c.skip == nil && (e.Span.Off != at || e.Span.Len < 0) {
		c.fail("%s at %v, last ended at %d", e.Desc.Name, e.Span, at)
	}
	if e.Span.End() > c.size[e.Span.Source] {
		c.fail("%s at %v, behind the end %d", e.Desc.Name, e.Span, c.size[e.Span.Source])
	}
	c.at[e.Span.Source] = e.Span.End()
	c.leaves++
}

func (c *checker) Issue(i tree.Issue) {
	if i.Span.Len < 0 || i.Text == "" {
		c.fail("issue %+v", i)
	}
	c.issues = append(c.issues, i)
}

func (c *checker) Source(id int32, data []byte, origin tree.Span, codec string) {
	if _, known := c.at[id]; known {
		c.fail("source %d twice", id)
	}
	c.at[id], c.size[id], c.origins[id] = 0, int32(len(data)), origin
	if codec == "" {
		c.fail("source %d without a codec", id)
	}
}

// done asserts that all is closed and covered.
func (c *checker) done() {
	if len(c.open) > 0 {
		c.fail("%s is still open", c.open[len(c.open)-1].Desc.Name)
	}
	if c.skip != nil {
		return
	}
	for id, size := range c.size {
		if c.at[id] != size {
			c.fail("source %d is covered to %d of %d", id, c.at[id], size)
		}
	}
}

// codes returns the issues as "code: text", without information.
func (c *checker) codes(least tree.Severity) []string {
	var out []string
	for _, i := range c.issues {
		if i.Severity >= least {
			out = append(out, string(i.Code)+": "+i.Text)
		}
	}
	return out
}

// jsonSink is a checker that also builds what JSON shows.
type jsonSink struct {
	checker
	stack []any // *object or *array
	root  array
}

type (
	object map[string]any
	array  struct{ elements []any }
)

func newJSONSink(t testing.TB, size int) *jsonSink {
	s := &jsonSink{checker: *newChecker(t, tree.Span{}, size)}
	s.stack = []any{&s.root}
	return s
}

func (s *jsonSink) put(e tree.Event, v any) {
	switch top := s.stack[len(s.stack)-1].(type) {
	case *array:
		require.True(s.t, e.Has(tree.FlagElement), e.Desc.Name)
		require.GreaterOrEqual(s.t, int(e.Index), len(top.elements))
		top.elements = append(top.elements, v)
	case object:
		if e.Desc.Key == "" {
			return
		}
		require.NotContains(s.t, top, e.Desc.Key)
		top[e.Desc.Key] = v
	}
}

func (s *jsonSink) Begin(e tree.Event) bool {
	s.checker.Begin(e)
	var v any
	switch e.Desc.Kind {
	case tree.KindArray:
		v = &array{}
	default:
		v = object{}
	}
	s.put(e, v)
	s.stack = append(s.stack, v)
	return true
}

func (s *jsonSink) End(e tree.Event) {
	s.checker.End(e)
	s.stack = s.stack[:len(s.stack)-1]
}

func (s *jsonSink) Leaf(e tree.Event) {
	s.checker.Leaf(e)
	if e.Has(tree.FlagStructural) || e.Desc.Key == "" {
		return
	}
	s.put(e, jsonValue(e))
	if e.Has(tree.FlagChecked) {
		s.stack[len(s.stack)-1].(object)[e.Desc.Key+"Valid"] = e.Value.Num == e.Aux
	}
}

func jsonValue(e tree.Event) any {
	switch {
	case e.Has(tree.FlagNull):
		return nil
	case e.Desc.Derived:
		return e.Aux
	}
	switch e.Desc.Kind {
	case tree.KindString:
		return string(e.Value.Bytes)
	case tree.KindBytes:
		return base64.StdEncoding.EncodeToString(e.Value.Bytes)
	case tree.KindBool:
		return e.Value.Num == 1
	}
	return e.Value.Num
}

// plain returns v with arrays as slices.
func plain(v any) any {
	switch v := v.(type) {
	case *array:
		out := make([]any, len(v.elements))
		for i, x := range v.elements {
			out[i] = plain(x)
		}
		return out
	case object:
		out := map[string]any{}
		for k, x := range v {
			out[k] = plain(x)
		}
		return out
	}
	return v
}

// walkJSON walks data and returns its batches as JSON would show them.
func walkJSON(t testing.TB, d *Decoder, data []byte, opt Options) ([]any, *jsonSink, Summary) {
	s := newJSONSink(t, len(data))
	d.Reset()
	sum := d.Walk(data, tree.Span{Len: int32(len(data))}, s, opt)
	s.done()
	return plain(&s.root).([]any), s, sum
}

// check walks data with a checker.
func check(t testing.TB, d *Decoder, data []byte, opt Options) (*checker, Summary) {
	base := tree.Span{Source: 0, Off: 100, Len: int32(len(data))}
	c := newChecker(t, base, len(data))
	d.Reset()
	sum := d.Walk(data, base, c, opt)
	c.done()
	checkTiling(t, d, data, opt)
	return c, sum
}

var descSet = &tree.Desc{Name: "set", Type: "records", Kind: tree.KindMessage}

// checkTiling walks data once more, for the check that all decoders share.
func checkTiling(t testing.TB, d *Decoder, data []byte, opt Options) {
	var s tree.TilingSink
	set := tree.Event{Desc: descSet, Span: tree.Span{Len: int32(len(data))}}
	s.Begin(set)
	d.Reset()
	d.Walk(data, tree.Span{}, &s, opt)
	s.End(set)
	if err := s.Err(len(data)); err != nil {
		t.Fatal(err)
	}
}

// differ lists where got lacks or contradicts what is in want, as the comparison of vectors does.
func differ(path string, want, got any, out *[]string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			*out = append(*out, path+": not an object")
			return
		}
		for k, v := range w {
			if x, ok := g[k]; ok {
				differ(path+"."+k, v, x, out)
			} else {
				*out = append(*out, path+"."+k+": missing")
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			*out = append(*out, fmt.Sprintf("%s: want %d elements, got %v", path, len(w), got))
			return
		}
		for i := range w {
			differ(fmt.Sprintf("%s[%d]", path, i), w[i], g[i], out)
		}
	default:
		if fmt.Sprintf("%T %v", want, want) != fmt.Sprintf("%T %v", got, got) {
			*out = append(*out, fmt.Sprintf("%s: want %v, got %v", path, want, got))
		}
	}
}

func assertSame(t *testing.T, name string, want, got any) {
	t.Helper()
	var diffs []string
	differ("", want, got, &diffs)
	assert.Empty(t, diffs, name+": "+strings.Join(diffs, "\n"))
}
