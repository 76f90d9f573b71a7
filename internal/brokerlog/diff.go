package brokerlog

import (
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// mostDiffs bounds the differences that are listed.
const mostDiffs = 8

// Differ compares values of a broker's log with ours.
type Differ struct {
	// ByOrder compares members by their order and not by name: releases before 4.4 had other
	// names for some.
	ByOrder bool
	// Text says that the log is text, whose values have no types: each is as toString has it.
	Text bool

	diffs []string
}

// Diff returns what differs, each with its path; nil where all is equal.
func (d *Differ) Diff(path string, want, got *Value) []string {
	d.diffs = nil
	d.diff(path, want, got)
	return d.diffs
}

func (d *Differ) add(path string, want, got *Value) {
	if len(d.diffs) < mostDiffs {
		d.diffs = append(d.diffs, fmt.Sprintf("%s: want %v, got %v", path, want, got))
	}
}

func (d *Differ) diff(path string, want, got *Value) {
	switch want.Kind {
	case Object:
		d.object(path, want, got)
	case Array:
		d.array(path, want, got)
	default:
		if !d.equal(want, got) {
			d.add(path, want, got)
		}
	}
}

func (d *Differ) object(path string, want, got *Value) {
	if got.Kind != Object {
		d.add(path, want, got)
		return
	}
	if d.ByOrder && len(want.Items) == len(got.Items) {
		for i := range want.Items {
			d.diff(path+"."+want.Names[i], &want.Items[i], &got.Items[i])
		}
		return
	}
	absent := &Value{Text: "nothing"}
	for i, name := range want.Names {
		w := &want.Items[i]
		g, ok := got.Member(name)
		switch {
		case ok:
			d.diff(path+"."+name, w, g)
		case !emptied(w, got, name):
			d.add(path+"."+name, w, absent)
		}
	}
	for i, name := range got.Names {
		if _, ok := want.Member(name); ok {
			continue
		}
		// The broker writes "" for records that its converter does not know; ours has their size.
		base, sized := strings.CutSuffix(name, sizeSuffix)
		if w, ok := want.Member(base); !sized || !ok || !emptied(w, got, base) {
			d.add(path+"."+name, absent, &got.Items[i])
		}
	}
}

const sizeSuffix = "SizeInBytes"

// emptied reports whether w stands in the log as "" for records of which got has the size.
func emptied(w, got *Value, name string) bool {
	_, sized := got.Member(name + sizeSuffix)
	return sized && w.Kind == String && w.Text == ""
}

func (d *Differ) array(path string, want, got *Value) {
	if got.Kind != Array || len(got.Items) != len(want.Items) {
		d.add(path, want, got)
		return
	}
	for i := range want.Items {
		w, g := &want.Items[i], &got.Items[i]
		// A struct of one field may stand for that field: early releases had it the other way.
		if d.Text && w.Kind != g.Kind {
			w, g = only(w), only(g)
		}
		d.diff(path+"["+strconv.Itoa(i)+"]", w, g)
	}
}

// only returns the member of an object that has one, and else v.
func only(v *Value) *Value {
	if v.Kind == Object && len(v.Items) == 1 {
		return &v.Items[0]
	}
	return v
}

func (d *Differ) equal(want, got *Value) bool {
	if d.Text {
		return textEqual(want.Text, got)
	}
	switch {
	case want.Kind == String && want.Text == "[hidden]":
		return true
	case want.Kind != got.Kind:
		return false
	case want.Kind == Number:
		return want.Text == got.Text || floatsEqual(want.Text, got.Text)
	}
	return want.Text == got.Text
}

// floatsEqual compares numbers of which one has a fraction: the broker writes fewer digits.
func floatsEqual(a, b string) bool {
	if !strings.ContainsAny(a+b, ".eE") {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= 1e-12*math.Max(math.Abs(x), math.Abs(y))
}

// buffer is what java.nio.ByteBuffer's toString says of itself.
var buffer = regexp.MustCompile(`^java\.nio\.\w+\[pos=(\d+) lim=(\d+) cap=\d+\]$`)

// textEqual compares a value in a text log. Of bytes, only their number is there.
func textEqual(want string, got *Value) bool {
	m := buffer.FindStringSubmatch(want)
	if m == nil {
		return got.Kind != Array && got.Kind != Object && want == got.Text
	}
	pos, errPos := strconv.Atoi(m[1])
	lim, errLim := strconv.Atoi(m[2])
	b, err := base64.StdEncoding.DecodeString(got.Text)
	return errPos == nil && errLim == nil && err == nil && got.Kind == String && len(b) == lim-pos
}
