package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Diff is what is different between two sets of definitions, or two versions of one.
type Diff struct {
	From string `json:"from"` // as the caller names it
	To   string `json:"to"`
	// Definitions that are different, requests and responses by their keys first.
	Definitions []DefinitionDiff `json:"definitions"`
}

// DefinitionDiff is what is different in one definition.
type DefinitionDiff struct {
	Kind    ChangeKind `json:"kind"` // Added, Removed, Renamed or Changed
	Name    string     `json:"name"`
	Was     string     `json:"was,omitempty"` // the name before, where it was another
	Type    Type       `json:"type"`
	APIKey  *int16     `json:"apiKey,omitempty"` // nil where there is none
	Changes []Change   `json:"changes"`          // of a definition in both
	Text    string     `json:"text,omitempty"`   // what there is to know of one in one of them
}

// ChangeKind says what became of a definition, a field or a property.
type ChangeKind string

// Kinds of changes.
const (
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
	Renamed ChangeKind = "renamed"
	Moved   ChangeKind = "moved" // to another place among the fields, and so in the bytes
	Changed ChangeKind = "changed"
)

// Change is one difference in a definition.
type Change struct {
	Kind ChangeKind `json:"kind"`
	// Path is the field, such as "Topics[].Partitions[].Index", with the names of To where there
	// are two; "" is the definition as a whole.
	Path string `json:"path"`
	What string `json:"what,omitempty"` // of a Changed one: "type", "versions", "nullable", "tag", "default", ...
	Was  string `json:"was,omitempty"`  // before: the value, or the name of a Renamed field
	Is   string `json:"is,omitempty"`   // after
	Text string `json:"text,omitempty"` // the field, of one that was added or removed
}

// String returns the change in a few words.
func (c Change) String() string {
	return fmt.Sprintf("%s %s: %s", c.Kind, or(c.Path, "the definition"), c.Detail())
}

// Detail returns what String has behind the field.
func (c Change) Detail() string {
	switch c.Kind {
	case Added, Removed, Moved:
		return c.Text
	case Renamed:
		return "was " + c.Was
	}
	return fmt.Sprintf("%s %s, was %s", c.What, or(c.Is, "none"), or(c.Was, "none"))
}

func or(s, none string) string { return cmp.Or(s, none) }

// DiffMessages compares two definitions over all of their versions.
func DiffMessages(from, to *Message) DefinitionDiff {
	d := differ{from: from, to: to}
	out := d.definition()
	d.property("", "type", string(from.Type), string(to.Type))
	if from.APIKey != to.APIKey {
		d.property("", "apiKey", keyText(from), keyText(to))
	}
	d.property("", "versions", from.Versions.String(), to.Versions.String())
	d.property("", "flexible versions", from.Flexible.String(), to.Flexible.String())
	d.property("", "unstable versions", from.Unstable.String(), to.Unstable.String())
	if len(from.Listeners) > 0 && len(to.Listeners) > 0 {
		d.property("", "listeners", strings.Join(from.Listeners, ", "), strings.Join(to.Listeners, ", "))
	}
	d.fields("", d.view(from, from.Fields, AllVersions), d.view(to, to.Fields, AllVersions))
	out.Changes = d.changes
	return out
}

// DiffVersions compares a version of a definition with a version of the same or another.
func DiffVersions(from *Message, v int16, to *Message, w int16) DefinitionDiff {
	d := differ{from: from, to: to, single: true}
	out := d.definition()
	if h, g := from.HeaderVersion(v), to.HeaderVersion(w); h != g {
		d.property("", "header version", strconv.Itoa(int(h)), strconv.Itoa(int(g)))
	}
	if f, g := from.Flexible.Contains(v), to.Flexible.Contains(w); f != g {
		d.property("", "flexible", yes(f), yes(g))
	}
	d.fields("", d.view(from, from.Fields, v), d.view(to, to.Fields, w))
	out.Changes = d.changes
	return out
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func keyText(m *Message) string {
	switch {
	case m.APIKey >= 0:
		return strconv.Itoa(int(m.APIKey))
	case m.Type == TypeRequest, m.Type == TypeResponse:
		return "unassigned"
	}
	return ""
}

// DiffSets compares sets of definitions over all of their versions, those that Counterparts finds.
// With common, definitions that only one of the sets has are left out.
func DiffSets(from, to []*Message, common bool) []DefinitionDiff {
	out := []DefinitionDiff{}
	paired := make(map[*Message]bool)
	for _, p := range Counterparts(from, to) {
		paired[p[0]], paired[p[1]] = true, true
		if d := DiffMessages(p[0], p[1]); len(d.Changes) > 0 || d.Kind == Renamed {
			out = append(out, d)
		}
	}
	alone := func(list []*Message, kind ChangeKind) {
		for _, m := range list {
			if !paired[m] && !common && !m.Versions.Empty() {
				out = append(out, lone(m, kind))
			}
		}
	}
	alone(from, Removed)
	alone(to, Added)
	slices.SortStableFunc(out, func(a, b DefinitionDiff) int {
		return cmp.Or(cmp.Compare(sortKey(a), sortKey(b)), cmp.Compare(a.rank(), b.rank()), strings.Compare(a.Name, b.Name))
	})
	return out
}

// Counterparts returns the definitions of two sets that belong together: requests and responses
// with one key, or of one name where one of them has no key, others of one name. Definitions
// without a version count for none, as releases keep them of what they removed.
func Counterparts(from, to []*Message) [][2]*Message {
	type place struct {
		t    Type
		key  int16
		name string
	}
	api := func(m *Message) bool { return m.Type == TypeRequest || m.Type == TypeResponse }
	keyed, named := make(map[place]*Message), make(map[place]*Message)
	for _, m := range to {
		switch {
		case m.Versions.Empty():
		case !api(m):
			named[place{name: m.Name}] = m
		default:
			named[place{t: m.Type, name: m.Name}] = m
			if m.APIKey >= 0 {
				keyed[place{t: m.Type, key: m.APIKey}] = m
			}
		}
	}
	var pairs [][2]*Message
	taken := make(map[*Message]bool)
	for _, m := range from {
		var n *Message
		switch {
		case m.Versions.Empty():
		case !api(m):
			n = named[place{name: m.Name}]
		case m.APIKey >= 0 && keyed[place{t: m.Type, key: m.APIKey}] != nil:
			n = keyed[place{t: m.Type, key: m.APIKey}]
		default:
			if n = named[place{t: m.Type, name: m.Name}]; n != nil && n.APIKey >= 0 && m.APIKey >= 0 {
				n = nil
			}
		}
		if n != nil && !taken[n] {
			taken[n] = true
			pairs = append(pairs, [2]*Message{m, n})
		}
	}
	return pairs
}

// sortKey puts APIs by their keys in front of what is no API.
func sortKey(d DefinitionDiff) int {
	if d.Type != TypeRequest && d.Type != TypeResponse {
		return 1 << 17
	}
	if d.APIKey == nil {
		return 1 << 16
	}
	return int(*d.APIKey)
}

func (d DefinitionDiff) rank() int {
	if d.Type == TypeResponse {
		return 1
	}
	return 0
}

func lone(m *Message, kind ChangeKind) DefinitionDiff {
	d := differ{from: m, to: m}
	out := d.definition()
	out.Kind, out.Changes = kind, []Change{}
	out.Text = "versions " + m.Versions.String()
	if !m.Flexible.Empty() {
		out.Text += ", flexible " + m.Flexible.String()
	}
	return out
}

// differ collects the changes of one definition.
type differ struct {
	from, to *Message
	single   bool // versions, not ranges of them
	changes  []Change
}

func (d *differ) definition() DefinitionDiff {
	out := DefinitionDiff{Kind: Changed, Name: d.to.Name, Type: d.to.Type}
	if d.to.APIKey >= 0 {
		out.APIKey = &d.to.APIKey
	}
	if d.from.Name != d.to.Name {
		out.Kind, out.Was = Renamed, d.from.Name
	}
	d.changes = []Change{}
	return out
}

func (d *differ) property(path, what, was, is string) {
	if was != is {
		d.changes = append(d.changes, Change{Kind: Changed, Path: path, What: what, Was: was, Is: is})
	}
}

// fieldView is a field as a Diff sees it.
type fieldView struct {
	name, typ, elem              string
	versions                     string // "" of a single version
	nullable, tag, deflt, entity string
	array                        bool
	flexible                     string
	inside                       []*fieldView // of a struct
}

// view returns the fields of a version, or of all.
func (d *differ) view(m *Message, fields []*FieldDef, version int16) []*fieldView {
	var out []*fieldView
	for _, f := range fields {
		if version >= 0 && !f.Versions.Contains(version) {
			continue
		}
		v := &fieldView{name: f.Name, typ: f.Type, elem: f.ElemType(), array: f.IsArray(), deflt: f.Default, entity: f.EntityType}
		if version >= 0 {
			v.nullable = yes(f.Nullable.Contains(version))
			if f.Tagged.Contains(version) {
				v.tag = strconv.Itoa(int(f.Tag))
			}
		} else {
			// A range that goes on to the last version, and one that stays open, are the same.
			v.versions = openRange(f.Versions, m.Versions).String()
			v.nullable = openRange(f.Nullable.Intersect(f.Versions), m.Versions).String()
			if f.Tag >= 0 {
				v.tag = fmt.Sprintf("%d in %s", f.Tag, openRange(f.Tagged, m.Versions))
			}
		}
		if zeroDefault(f) || v.deflt == "null" && v.nullable == "no" {
			v.deflt = ""
		}
		if f.Flexible != nil {
			v.flexible = f.Flexible.String()
		}
		v.inside = d.view(m, m.Struct(f), version)
		out = append(out, v)
	}
	return out
}

// zeroDefault reports whether the default that f gives is that of its type anyway.
func zeroDefault(f *FieldDef) bool {
	v, err := parseDefault(f)
	return err == nil && !v.Null && v.Num == 0 && strings.Trim(v.Str, "\x00") == ""
}

// openRange lets a range that reaches the end of all stay open.
func openRange(v, all Versions) Versions {
	if !v.Empty() && v.Max >= all.Max {
		v.Max = All.Max
	}
	return v
}

// describe says what there is to know of a field that was added or removed.
func (v *fieldView) describe() string {
	words := []string{v.typ}
	if v.versions != "" {
		words = append(words, "versions "+v.versions)
	}
	if v.tag != "" {
		words = append(words, "tag "+v.tag)
	}
	if v.nullable != "no" && v.nullable != "none" {
		words = append(words, strings.TrimSuffix("nullable "+v.nullable, " yes"))
	}
	if v.deflt != "" {
		words = append(words, "default "+v.deflt)
	}
	return strings.Join(words, ", ")
}

// fields compares two lists of fields.
func (d *differ) fields(path string, from, to []*fieldView) {
	pairs := pairFields(from, to)
	order := inOrder(pairs, from, to)
	was := make(map[*fieldView]*fieldView, len(pairs))
	for _, p := range pairs {
		was[p.to] = p.from
	}
	for i, t := range to {
		name := path + t.name
		f := was[t]
		if f == nil {
			d.changes = append(d.changes, Change{Kind: Added, Path: name, Text: t.describe()})
			continue
		}
		if f.name != t.name {
			d.changes = append(d.changes, Change{Kind: Renamed, Path: name, Was: f.name, Is: t.name})
		}
		if !order[t] {
			behind := "to the start"
			if i > 0 {
				behind = "behind " + to[i-1].name
			}
			d.changes = append(d.changes, Change{Kind: Moved, Path: name, Text: behind})
		}
		d.field(name, f, t)
	}
	for _, f := range from {
		if !slices.ContainsFunc(pairs, func(p fieldPair) bool { return p.from == f }) {
			d.changes = append(d.changes, Change{Kind: Removed, Path: path + f.name, Text: f.describe()})
		}
	}
}

// field compares two fields that belong together.
func (d *differ) field(name string, f, t *fieldView) {
	d.property(name, "type", f.typ, t.typ)
	d.property(name, "versions", f.versions, t.versions)
	d.property(name, "nullable", f.nullable, t.nullable)
	d.property(name, "tag", f.tag, t.tag)
	d.property(name, "default", f.deflt, t.deflt)
	d.property(name, "entity type", f.entity, t.entity)
	d.property(name, "flexible versions", f.flexible, t.flexible)
	inner := name + "."
	if t.array {
		inner = name + "[]."
	}
	d.fields(inner, f.inside, t.inside)
}

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
