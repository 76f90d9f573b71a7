package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NoKey is the key of an API to which none is assigned. On the wire it is 0xffff.
const NoKey = -1

// Layer returns a catalogue in which the given definitions win over those of base, and later ones
// over earlier ones. Versions that a definition does not have stay as they were, so that a
// definition of versions 4 and 5 leaves version 3 of the catalogue's in place.
//
// A request or response without a key is a draft: it forms an API of its own, which nothing of
// base is added to, with the key asKey. That is NoKey where none is to be given; then the API is
// found by its name, in front of one of that name in base.
func Layer(base *Catalogue, asKey int16, defs ...*Message) (*Catalogue, error) {
	l := &layers{base: base, asKey: asKey, drafted: make(map[string]*API), given: make(map[*API]string)}
	for _, a := range base.apis {
		c := *a
		l.apis = append(l.apis, &c)
	}
	l.data = slices.Clone(base.data)
	for _, m := range defs {
		if m.Versions.Empty() { // as a release writes of what it removed
			continue
		}
		if err := l.add(m); err != nil {
			return nil, err
		}
	}
	c := New(l.apis, l.data, base.glossary)
	c.releases = slices.Clone(base.releases)
	for a := range l.given { // by a name that base uses for another key, too
		c.byName[strings.ToLower(a.Name)], c.byName[strings.ToLower(a.LogName)] = a, a
	}
	return c, nil
}

// layers puts definitions on top of a catalogue's.
type layers struct {
	base    *Catalogue
	asKey   int16
	apis    []*API
	data    []*Message
	drafted map[string]*API // drafts' by name
	given   map[*API]string // the names that definitions gave
}

func (l *layers) add(m *Message) error {
	switch {
	case m.Type != TypeRequest && m.Type != TypeResponse:
		l.addData(m)
		return nil
	case m.APIKey < 0:
		return l.addDraft(m)
	}
	i := slices.IndexFunc(l.apis, func(a *API) bool { return a.Key == m.APIKey })
	if i < 0 {
		l.apis = append(l.apis, &API{Key: m.APIKey})
		i = len(l.apis) - 1
	}
	return l.put(l.apis[i], m)
}

// addData replaces or adds a definition that is no API.
func (l *layers) addData(m *Message) {
	c := *m
	c.Group = groupOf(m)
	i := slices.IndexFunc(l.data, func(d *Message) bool { return d.Name == m.Name })
	if i < 0 {
		l.data = append(l.data, &c)
		return
	}
	c.Group = l.data[i].Group
	l.data[i] = over(l.data[i], &c)
}

// addDraft adds a message of an API without a key.
func (l *layers) addDraft(m *Message) error {
	c := *m
	c.APIKey = l.asKey
	a := l.drafted[m.apiName()]
	if a == nil {
		for name := range l.drafted {
			if l.asKey >= 0 {
				return fmt.Errorf("key %d cannot be given to both %s and %s", l.asKey, name, m.apiName())
			}
		}
		a = &API{Key: l.asKey}
		l.drafted[m.apiName()] = a
		if l.asKey >= 0 { // of an API that has the key, nothing stays
			l.apis = slices.DeleteFunc(l.apis, func(x *API) bool { return x.Key == l.asKey })
		}
		l.apis = append(l.apis, a)
	}
	return l.put(a, &c)
}

// put makes m the request or response of a.
func (l *layers) put(a *API, m *Message) error {
	name := m.apiName()
	if before := l.given[a]; before != "" && before != name {
		return fmt.Errorf("key %d is given to both %s and %s", m.APIKey, before, name)
	}
	l.given[a] = name
	if a.Name != name {
		a.Name, a.LogName = name, upperSnake(name)
	}
	if m.Type == TypeResponse {
		a.Response = over(a.Response, m)
		return nil
	}
	if len(m.Listeners) > 0 {
		a.Listeners = m.Listeners
	}
	a.Request = over(a.Request, m)
	return nil
}

// over returns m with the versions of below that it does not have itself. Where the versions of
// both form no range, or their fields no order, it is m alone.
func over(below, m *Message) *Message {
	if below == nil || m.Versions.Min <= below.Versions.Min && m.Versions.Max >= below.Versions.Max ||
		m.Versions.Max+1 < below.Versions.Min || below.Versions.Max+1 < m.Versions.Min {
		return m
	}
	parts := []part{{m.Versions, m}}
	for _, rest := range below.Versions.Subtract(m.Versions) {
		parts = append(parts, part{rest, below})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.versions.Min, b.versions.Min) })
	both, err := merge(m, parts)
	if err != nil || both.check() != nil {
		return m
	}
	both.Group = m.Group
	for _, o := range below.Older {
		if o.Message.Versions.Intersect(m.Versions).Empty() {
			both.Older = append(both.Older, o)
		}
	}
	return both
}
