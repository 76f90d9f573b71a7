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
