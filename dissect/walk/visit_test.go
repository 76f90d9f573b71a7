package walk_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// log keeps what a Visitor is given as lines.
type log []string

func (l *log) Enter() { *l = append(*l, "enter") }
func (l *log) Leave() { *l = append(*l, "leave") }
func (l *log) Number(d *tree.Desc, v int64, element bool) {
	*l = append(*l, fmt.Sprint(d.Name, " ", v, " ", element))
}
func (l *log) Bytes(d *tree.Desc, b []byte, element bool) {
	*l = append(*l, fmt.Sprintf("%s %x %v", d.Name, b, element))
}
func (l *log) Records(b []byte, size int) {
	*l = append(*l, fmt.Sprintf("records %x of %d", b, size))
}
func (l *log) Issue(i tree.Issue) { *l = append(*l, fmt.Sprintf("%+v", i)) }

// reference gives a log what a Visitor should get, from the events of the whole frame. Structs in
// which nothing is wanted are left out, as is all that is wrong below them but the error that
// ends decoding.
type reference struct {
	*log
	wanted func(*tree.Desc) bool
	lively map[*tree.Desc]bool // structs and arrays that hold something wanted
	header bool                // what comes is in front of the body
	open   []bool              // whether Begin gave Enter
}

func (r *reference) survey(s *schema.Struct) bool {
	any := false
	for _, fields := range [][]schema.Field{s.Fields, s.Tags} {
		for i := range fields {
			any = r.surveyField(&fields[i]) || any
		}
	}
	return any
}

func (r *reference) surveyField(f *schema.Field) bool {
	lively := r.wanted(f.Desc)
	switch f.Op {
	case schema.OpStruct:
		lively = r.survey(f.Struct)
	case schema.OpArray:
		lively = r.surveyField(f.Elem)
	}
	if lively {
		r.lively[f.Desc] = true
	}
	return lively
}

func (r *reference) Begin(e tree.Event) bool {
	down, enter := true, false
	switch e.Desc.Kind {
	case tree.KindMessage, tree.KindTags, tree.KindTag, tree.KindGroup:
	case tree.KindStruct:
		enter = e.Has(tree.FlagBody) || r.lively[e.Desc]
		down = enter
		r.header = r.header && !e.Has(tree.FlagBody)
	case tree.KindArray:
		down = r.lively[e.Desc]
	case tree.KindRecords:
		if down = false; r.wanted(e.Desc) {
			r.log.Records(e.Value.Bytes, int(e.Value.Num))
		}
	default:
		down = false
	}
	if enter {
		r.Enter()
	}
	r.open = append(r.open, enter)
	return down
}

func (r *reference) End(tree.Event) {
	if r.open[len(r.open)-1] {
		r.Leave()
	}
	r.open = r.open[:len(r.open)-1]
}

func (r *reference) Leaf(e tree.Event) {
	if r.header || e.Flags&(tree.FlagStructural|tree.FlagNull|tree.FlagUnknownTag) != 0 || !r.wanted(e.Desc) {
		return
	}
	switch e.Desc.Kind {
	case tree.KindString, tree.KindBytes, tree.KindUUID:
		r.log.Bytes(e.Desc, e.Value.Bytes, e.Has(tree.FlagElement))
	default:
		r.log.Number(e.Desc, e.Value.Num, e.Has(tree.FlagElement))
	}
}

func (r *reference) Issue(i tree.Issue) {
	if i.Code != tree.CodeUnknownTag {
		r.log.Issue(i)
	}
}

func (r *reference) Source(int32, []byte, tree.Span, string) {}

// TestVisitGivesWhatEventsGive holds Visit to Frame: on whole frames, on cut ones and on damaged
// ones.
func TestVisitGivesWhatEventsGive(t *testing.T) {
	c := schema.Default()
	choices := map[string]func(*tree.Desc) bool{
		"with a role": func(d *tree.Desc) bool { return d.Role != 0 },
		"every third": func(d *tree.Desc) bool { return len(d.Name)%3 == 0 },
		"none":        func(*tree.Desc) bool { return false },
		"all":         func(*tree.Desc) bool { return true },
	}
	var d walk.Decoder
	type key struct {
		p      *schema.Plan
		choice string
	}
	selections := map[key]*walk.Selection{}
	n := 0
	eachVector(t, func(name string, v vector, frame []byte) {
		p := v.plan(c, frame)
		header := c.Header(v.direction(), p.HeaderVersion)
		for choice, wanted := range choices {
			sel, ok := selections[key{p, choice}]
			if !ok {
				sel = walk.Select(p, wanted)
				selections[key{p, choice}] = sel
			}
			none := walk.Select(header, choices["none"])
			check := func(b []byte, how string) {
				var want, got log
				ref := &reference{log: &want, wanted: wanted, header: true, lively: map[*tree.Desc]bool{}}
				ref.survey(p.Root)
				r := d.Frame(b, int32(len(frame)-4), header, p, ref)
				g := d.Visit(b, int32(len(frame)-4), none, sel, &got)
				if !assert.Equal(t, want, got, "%s, %s, %s", name, choice, how) {
					t.FailNow()
				}
				assert.Equal(t, r, g, "%s, %s, %s", name, choice, how)
			}
			check(frame, "whole")
			n++
			cut := n * 7919 % len(frame)
			check(frame[:cut], fmt.Sprintf("cut at %d", cut))
			damaged := append([]byte(nil), frame...)
			at := v.BodyOffset + n*104729%max(len(frame)-v.BodyOffset, 1)
			if at < len(damaged) {
				damaged[at] ^= byte(1 + n*31%255)
				check(damaged, fmt.Sprintf("byte %d changed", at))
			}
		}
	})
}
