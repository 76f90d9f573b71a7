package schema

import (
	"slices"
	"strings"
)

type fieldPair struct{ from, to *fieldView }

// pairFields finds the fields that belong together: those of one name, and of the others those
// of the same type between the same neighbours, or with a word of their names in common; of structs,
// the name of the struct will do.
func pairFields(from, to []*fieldView) []fieldPair {
	var pairs []fieldPair
	usedFrom, usedTo := make([]bool, len(from)), make([]bool, len(to))
	link := func(i, j int) {
		usedFrom[i], usedTo[j] = true, true
		pairs = append(pairs, fieldPair{from[i], to[j]})
	}
	for i, f := range from {
		for j, t := range to {
			if !usedTo[j] && f.name == t.name {
				link(i, j)
				break
			}
		}
	}
	for i, f := range from {
		for j, t := range to {
			if !usedFrom[i] && !usedTo[j] && f.alike(t) &&
				(shareWord(f.name, t.name) || len(f.inside) > 0 && f.elem == t.elem || neighbour(from, i, usedFrom) == neighbour(to, j, usedTo)) {
				link(i, j)
			}
		}
	}
	return pairs
}

// alike reports whether one field can be the other under a new name: the type is the same, or
// it is a struct with most of the fields.
func (v *fieldView) alike(w *fieldView) bool {
	if v.array != w.array || len(v.inside) == 0 != (len(w.inside) == 0) || (v.tag == "") != (w.tag == "") {
		return false
	}
	if len(v.inside) == 0 {
		return v.elem == w.elem
	}
	same := 0
	for _, f := range v.inside {
		if slices.ContainsFunc(w.inside, func(t *fieldView) bool { return t.name == f.name }) {
			same++
		}
	}
	return 2*same >= max(len(v.inside), len(w.inside))
}

// neighbour names the fields of both lists around the i-th; "" where there is one without a
// counterpart, too.
func neighbour(fields []*fieldView, i int, used []bool) string {
	before, behind := "<", ">"
	if i > 0 {
		if !used[i-1] {
			return "no " + fields[i].name
		}
		before = fields[i-1].name
	}
	if i+1 < len(fields) {
		if !used[i+1] {
			return "no " + fields[i].name
		}
		behind = fields[i+1].name
	}
	return before + " " + behind
}

// shareWord reports whether two names have a word of four letters or more in common, "Id" and its
// like being in too many.
func shareWord(a, b string) bool {
	for _, w := range nameWords(a) {
		if len(w) >= 4 && slices.Contains(nameWords(b), w) {
			return true
		}
	}
	return false
}

// nameWords parts a name at its capital letters.
func nameWords(name string) []string {
	return strings.Split(strings.ToLower(upperSnake(name)), "_")
}

// inOrder returns the fields of to that stand in the order of their counterparts, as many as can
// be; tagged fields always do, since the tag is their place.
func inOrder(pairs []fieldPair, from, to []*fieldView) map[*fieldView]bool {
	place := make(map[*fieldView]int, len(pairs))
	for _, p := range pairs {
		place[p.to] = slices.Index(from, p.from)
	}
	in := make(map[*fieldView]bool, len(to))
	var list []*fieldView
	for _, t := range to {
		if _, ok := place[t]; ok && t.tag == "" {
			list = append(list, t)
		} else {
			in[t] = true
		}
	}
	// The longest rising run of places.
	length, before := make([]int, len(list)), make([]int, len(list))
	last := -1
	for i, t := range list {
		length[i], before[i] = 1, -1
		for j := range i {
			if place[list[j]] < place[t] && length[j]+1 > length[i] {
				length[i], before[i] = length[j]+1, j
			}
		}
		if last < 0 || length[i] > length[last] {
			last = i
		}
	}
	for i := last; i >= 0; i = before[i] {
		in[list[i]] = true
	}
	return in
}
