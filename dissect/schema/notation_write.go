package schema

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The catalogue's notation. A file holds one API, or the definitions of one group:
//
//	api 1 Fetch
//	listeners broker controller zkBroker
//	accepted 0.9.0.1..0.10.0.1 0-2
//	accepted 4.4.0 4-18 unstable
//	request 0-18 flexible 12+ headers 0-11=1 12+=2
//	  ReplicaId int32 0-14 default -1 entity brokerId
//	  Topics []FetchTopic 0+
//	    Topic string 0-12 entity topicName ignorable
//	struct Assignment 0+
//	  TopicPartitions []TopicPartitions 0+
//	older 3.6.2 request 0 flexible 0+ headers 0+=2
//
// A field's line is its name, type and versions. "?" behind the type says that it may be null in
// all of these versions, "nullable V" that it may in some; then follow, as far as they hold:
// "tag N" (with "in V" where that is not all of its versions), "default TEXT" (quoted unless
// it is one plain word), "entity TYPE", "key", "ignorable", "zerocopy", "flexible V" (where it
// differs from its message). Fields below a field, further right by two spaces, are those of
// its struct; a struct that several fields use has a section of its own behind the fields of
// its message. An "older" section is a layout that the named release was the last to have.
// Definitions that are no API start with their type, such as "metadata 2 TopicRecord 0 flexible 0+",
// the number being the record type. Empty lines and lines that start with # mean nothing.

// WriteAPI writes the catalogue file of an API. Releases gives all releases in order, so that
// runs of them can be written as one.
func WriteAPI(w io.Writer, a *API, releases []string) error {
	n := &notationWriter{}
	if a.Key == NoKey { // only to be looked at
		n.line(0, "api unassigned %s", a.Name)
	} else {
		n.line(0, "api %d %s", a.Key, a.Name)
	}
	if len(a.Listeners) > 0 {
		n.line(0, "listeners %s", strings.Join(a.Listeners, " "))
	}
	n.accepted(a.Accepted, releases)
	for _, m := range []*Message{a.Request, a.Response} {
		if m != nil {
			n.message(m)
		}
	}
	_, err := io.WriteString(w, n.b.String())
	return err
}

// WriteData writes the catalogue file of a group of data definitions.
func WriteData(w io.Writer, group []*Message) error {
	n := &notationWriter{}
	for i, m := range group {
		if i > 0 {
			n.b.WriteByte('\n')
		}
		n.message(m)
	}
	_, err := io.WriteString(w, n.b.String())
	return err
}

type notationWriter struct{ b strings.Builder }

func (n *notationWriter) line(depth int, format string, args ...any) {
	n.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&n.b, format, args...)
	n.b.WriteByte('\n')
}

// accepted writes runs of neighbouring releases that take the same versions as one line.
func (n *notationWriter) accepted(list []Accepted, releases []string) {
	order := make(map[string]int)
	for i, r := range releases {
		order[r] = i
	}
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && order[list[j].Release] == order[list[j-1].Release]+1 &&
			list[j].Versions == list[i].Versions && list[j].Unstable == list[i].Unstable {
			j++
		}
		text := list[i].Release
		if j-1 > i {
			text += ".." + list[j-1].Release
		}
		text += " " + list[i].Versions.String()
		if list[i].Unstable {
			text += " unstable"
		}
		n.line(0, "accepted %s", text)
		i = j
	}
}

func (n *notationWriter) message(m *Message) {
	n.line(0, "%s", messageLine(m))
	n.body(m)
	for _, o := range m.Older {
		n.line(0, "older %s %s", o.Release, messageLine(o.Message))
		n.body(o.Message)
	}
}

func (n *notationWriter) body(m *Message) {
	n.fields(m.Fields, 1)
	for _, s := range m.Structs {
		n.line(0, "struct %s %s", s.Name, s.Versions)
		n.fields(s.Fields, 1)
	}
}

func messageLine(m *Message) string {
	parts := []string{string(m.Type)}
	if m.Type != TypeRequest && m.Type != TypeResponse {
		if m.APIKey >= 0 {
			parts = append(parts, strconv.Itoa(int(m.APIKey)))
		}
		parts = append(parts, m.Name)
	}
	parts = append(parts, m.Versions.String())
	if !m.Flexible.Empty() {
		parts = append(parts, "flexible", m.Flexible.String())
	}
	if !m.Unstable.Empty() {
		parts = append(parts, "unstable", m.Unstable.String())
	}
	if len(m.Headers) > 0 {
		parts = append(parts, "headers")
		for _, h := range m.Headers {
			parts = append(parts, h.Versions.String()+"="+strconv.Itoa(int(h.Header)))
		}
	}
	return strings.Join(parts, " ")
}

func (n *notationWriter) fields(fields []*FieldDef, depth int) {
	for _, f := range fields {
		n.line(depth, "%s", fieldLine(f))
		n.fields(f.Fields, depth+1)
	}
}

func fieldLine(f *FieldDef) string {
	kind := f.Type
	always := !f.Nullable.Empty() && f.Nullable == f.Versions
	if always {
		kind += "?"
	}
	parts := []string{f.Name, kind, f.Versions.String()}
	if !always && !f.Nullable.Empty() {
		parts = append(parts, "nullable", f.Nullable.String())
	}
	if f.Tag >= 0 {
		parts = append(parts, "tag", strconv.Itoa(int(f.Tag)))
		if f.Tagged != f.Versions {
			parts = append(parts, "in", f.Tagged.String())
		}
	}
	if f.Default != "" {
		parts = append(parts, "default", plainWord(f.Default))
	}
	if f.EntityType != "" {
		parts = append(parts, "entity", f.EntityType)
	}
	for _, flag := range []struct {
		set  bool
		word string
	}{{f.MapKey, "key"}, {f.Ignorable, "ignorable"}, {f.ZeroCopy, "zerocopy"}} {
		if flag.set {
			parts = append(parts, flag.word)
		}
	}
	if f.Flexible != nil {
		parts = append(parts, "flexible", f.Flexible.String())
	}
	return strings.Join(parts, " ")
}

// plainWord quotes s unless it reads back as it is.
func plainWord(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r > '~' }) {
		return strconv.Quote(s)
	}
	return s
}
