package schema

import (
	_ "embed" // for the glossary
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed glossary.txt
var glossaryText string

// Glossary holds descriptions of fields, in our own words.
//
// A line of its file is a key, a tab and a description; empty lines and lines that start with
// # are passed over. The key is a field's name, or that name behind a narrower place and a
// dot: the struct inside a message ("FetchResponse.PartitionData.Records"), the message
// ("FetchResponse.Records") or the API ("Fetch.Records"). The narrowest key wins.
type Glossary struct{ about map[string]string }

// DefaultGlossary returns the embedded glossary.
var DefaultGlossary = sync.OnceValue(func() *Glossary {
	g, err := ParseGlossary("glossary.txt", glossaryText)
	if err != nil {
		panic(err) // the embedded file is tested
	}
	return g
})

// ParseGlossary reads a glossary; file is for errors, which are of type *PosError.
func ParseGlossary(file, src string) (*Glossary, error) {
	g := &Glossary{about: make(map[string]string)}
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimRight(line, "\r ")
		if line == "" || line[0] == '#' {
			continue
		}
		key, text, ok := strings.Cut(line, "\t")
		text = strings.TrimSpace(text)
		problem := ""
		switch {
		case !ok || text == "":
			problem = "want a key, a tab and a description"
		case g.about[key] != "":
			problem = fmt.Sprintf("%s is described twice", key)
		}
		if problem != "" {
			return nil, &PosError{File: file, Pos: Pos{i + 1, 1}, Text: problem}
		}
		g.about[key] = text
	}
	return g, nil
}

// About returns the description of a field of a struct (or of the message itself, which then
// is its own struct), or "".
func (g *Glossary) About(m *Message, structName, field string) string {
	for _, place := range [...]string{m.Name + "." + structName, m.Name, m.apiName()} {
		if s := g.about[place+"."+field]; s != "" {
			return s
		}
	}
	return g.about[field]
}

// Missing returns the fields of the catalogue without a description, in order, each as
// "Message.Struct.Field" or, directly in a message, "Message.Field".
func (c *Catalogue) Missing() []string {
	seen := make(map[string]bool)
	c.eachField(func(m *Message, structName string, f *FieldDef) {
		if m.Type == TypeHeader || c.about(m, structName, f) != "" {
			return
		}
		key := m.Name + "." + structName + "." + f.Name
		if structName == m.Name {
			key = m.Name + "." + f.Name
		}
		seen[key] = true
	})
	missing := make([]string, 0, len(seen))
	for key := range seen {
		missing = append(missing, key)
	}
	slices.Sort(missing)
	return missing
}

// Unused returns the keys of the glossary that no field of the catalogue takes its
// description from, in order.
func (c *Catalogue) Unused() []string {
	used := make(map[string]bool)
	c.eachField(func(m *Message, structName string, f *FieldDef) {
		for _, place := range [...]string{m.Name + "." + structName + ".", m.Name + ".", m.apiName() + ".", ""} {
			if c.glossary.about[place+f.Name] != "" {
				used[place+f.Name] = true
				return
			}
		}
	})
	var unused []string
	for key := range c.glossary.about {
		if !used[key] {
			unused = append(unused, key)
		}
	}
	slices.Sort(unused)
	return unused
}

// eachField calls fn for every field of every message, with the name of the struct it is in.
func (c *Catalogue) eachField(fn func(m *Message, structName string, f *FieldDef)) {
	for _, a := range c.apis {
		for _, m := range []*Message{a.Request, a.Response} {
			if m != nil {
				m.eachField(fn)
			}
		}
	}
	for _, m := range c.data {
		m.eachField(fn)
	}
}

func (m *Message) eachField(fn func(m *Message, structName string, f *FieldDef)) {
	var walk func(name string, fields []*FieldDef)
	walk = func(name string, fields []*FieldDef) {
		for _, f := range fields {
			fn(m, name, f)
			walk(f.ElemType(), f.Fields)
		}
	}
	walk(m.Name, m.Fields)
	for _, s := range m.Structs {
		walk(s.Name, s.Fields)
	}
	for _, o := range m.Older {
		o.Message.eachField(fn)
	}
}
