package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ImportOptions say what an import starts from.
type ImportOptions struct {
	// Base is a catalogue whose versions stay where no source has them, and whose list of
	// accepted versions is kept; nil starts from nothing.
	Base *Catalogue
	// Releases adds what releases accept, besides the sources themselves.
	Releases []ReleaseVersions
}

// ReleaseVersions says which versions of an API a release accepts.
type ReleaseVersions struct {
	Release  string
	Key      int16
	Versions Versions
	Unstable bool // the highest of them
}

// Import makes a catalogue of definitions from several releases of Kafka. For each version of
// each definition the newest release that has it decides; tagged fields that a newer release
// dropped are kept, and so are layouts that it changed without changing the version. Sources
// without a release count as newest. The lines of the report say what was kept or is doubtful.
func Import(opts ImportOptions, sources ...*Source) (*Catalogue, []string, error) {
	im := &importer{}
	if opts.Base != nil {
		im.addBase(opts.Base)
	}
	for _, s := range sources {
		for _, m := range s.Messages {
			im.add(s.Release, m)
		}
	}
	im.dropRenumberedKeys()
	var apis []*API
	var data []*Message
	for _, key := range im.order {
		m, err := im.merge(im.groups[key])
		if err != nil {
			return nil, nil, err
		}
		if m == nil {
			continue
		}
		if m.Type != TypeRequest && m.Type != TypeResponse {
			m.Group = groupOf(m)
			data = append(data, m)
			continue
		}
		i := slices.IndexFunc(apis, func(a *API) bool { return a.Key == m.APIKey })
		if i < 0 {
			i = len(apis)
			apis = append(apis, &API{Key: m.APIKey})
		}
		if m.Type == TypeRequest {
			apis[i].Request = m
			apis[i].Listeners = m.Listeners
		} else {
			apis[i].Response = m
		}
		apis[i].Name = m.apiName()
		apis[i].LogName = upperSnake(apis[i].Name)
	}
	for _, a := range apis { // only requests say that a version is unstable
		if a.Request != nil && a.Response != nil {
			a.Response.Unstable = a.Request.Unstable.Intersect(a.Response.Versions)
		}
	}
	c := New(apis, data, nil)
	c.accept(opts, sources)
	return c, im.report, nil
}

// definition is a message as one release has it.
type definition struct {
	release string
	m       *Message
}

type importer struct {
	groups map[string][]definition // the definitions of one message
	order  []string                // keys of groups as first seen
	report []string
}

// add files a definition with those of the same message: the same API key for requests and
// responses, whose names may change, and the same name for others.
func (im *importer) add(release string, m *Message) {
	key := m.Name
	if m.Type == TypeRequest || m.Type == TypeResponse {
		key = string(m.Type) + " " + strconv.Itoa(int(m.APIKey))
	}
	if im.groups == nil {
		im.groups = make(map[string][]definition)
	}
	if im.groups[key] == nil {
		im.order = append(im.order, key)
	}
	im.groups[key] = append(im.groups[key], definition{release, m})
}

// addBase adds a catalogue's definitions as those of its newest release.
func (im *importer) addBase(c *Catalogue) {
	release := "0"
	if n := len(c.releases); n > 0 {
		release = c.releases[n-1]
	}
	for _, a := range c.apis {
		for _, m := range []*Message{a.Request, a.Response} {
			if m != nil {
				im.addMessage(release, m)
			}
		}
	}
	for _, m := range c.data {
		im.addMessage(release, m)
	}
}

func (im *importer) addMessage(release string, m *Message) {
	for _, o := range m.Older {
		im.add(o.Release, o.Message)
	}
	im.add(release, m)
}

// dropRenumberedKeys forgets how releases before 4.1 defined the keys of coordinator records:
// with the record type as their version. The bytes are the same.
func (im *importer) dropRenumberedKeys() {
	for key, defs := range im.groups {
		newest := newestOf(defs)
		if newest.m.Type == TypeCoordinatorKey {
			im.groups[key] = slices.DeleteFunc(defs, func(d definition) bool { return d.m.Type != TypeCoordinatorKey })
		}
	}
}

func newestOf(defs []definition) definition {
	return slices.MaxFunc(defs, func(a, b definition) int { return compareReleases(a.release, b.release) })
}

// merge makes one message of its definitions in several releases; nil where none has a version.
func (im *importer) merge(defs []definition) (*Message, error) {
	slices.SortStableFunc(defs, func(a, b definition) int { return compareReleases(a.release, b.release) })
	newest := defs[len(defs)-1].m
	var parts []part
	low, high := versionRange(defs)
	for v := low; v <= high; v++ {
		m := decider(defs, v)
		switch {
		case m == nil:
			if len(parts) > 0 {
				return nil, fmt.Errorf("%s: no release has version %d", newest.Name, v)
			}
		case len(parts) > 0 && parts[len(parts)-1].m == m:
			parts[len(parts)-1].versions.Max = v
		default:
			parts = append(parts, part{Versions{v, v}, m})
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	m, err := merge(newest, parts)
	if err != nil {
		return nil, err
	}
	m.Listeners = unionListeners(defs)
	im.keepTagged(m, defs)
	im.keepOlder(m, defs)
	m.eachField(func(_ *Message, _ string, f *FieldDef) { f.About = "" }) // only facts are taken
	return m, m.check()
}

func versionRange(defs []definition) (low, high int16) {
	low, high = All.Max, -1
	for _, d := range defs {
		if !d.m.Versions.Empty() {
			low, high = min(low, d.m.Versions.Min), max(high, d.m.Versions.Max)
		}
	}
	return low, high
}

// decider returns the newest definition of a version, or nil.
func decider(defs []definition, version int16) *Message {
	for i := len(defs) - 1; i >= 0; i-- {
		if defs[i].m.Versions.Contains(version) {
			return defs[i].m
		}
	}
	return nil
}

// unionListeners returns the listeners of all releases, the newest release's first. Those that
// had the API for trial only, unstable in all versions, do not count beside others.
func unionListeners(defs []definition) []string {
	var listeners []string
	for i := len(defs) - 1; i >= 0; i-- {
		if len(listeners) > 0 && defs[i].m.Unstable == defs[i].m.Versions {
			continue
		}
		for _, l := range defs[i].m.Listeners {
			if !slices.Contains(listeners, l) {
				listeners = append(listeners, l)
			}
		}
	}
	return listeners
}

// compareReleases orders releases by number; an empty one is the newest.
func compareReleases(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(b, a)
	}
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < max(len(x), len(y)); i++ {
		var n, m int
		if i < len(x) {
			n, _ = strconv.Atoi(x[i])
		}
		if i < len(y) {
			m, _ = strconv.Atoi(y[i])
		}
		if n != m {
			return cmp.Compare(n, m)
		}
	}
	return 0
}

// accept fills in what each release accepts.
func (c *Catalogue) accept(opts ImportOptions, sources []*Source) {
	type cell struct {
		release string
		key     int16
	}
	accepted := make(map[cell]Accepted)
	put := func(release string, key int16, v Versions, unstable bool) {
		if release != "" && !v.Empty() {
			accepted[cell{release, key}] = Accepted{release, v, unstable}
		}
	}
	if opts.Base != nil {
		for _, a := range opts.Base.apis {
			for _, x := range a.Accepted {
				put(x.Release, a.Key, x.Versions, x.Unstable)
			}
		}
	}
	for _, x := range opts.Releases {
		put(x.Release, x.Key, x.Versions, x.Unstable)
	}
	for _, s := range sources {
		for _, m := range s.Messages {
			if m.Type == TypeRequest {
				put(s.Release, m.APIKey, m.Versions, !m.Unstable.Empty())
			}
		}
	}
	known := make(map[string]bool)
	for at, x := range accepted {
		known[at.release] = true
		if a := c.API(at.key); a != nil {
			a.Accepted = append(a.Accepted, x)
		}
	}
	for _, a := range c.apis {
		slices.SortFunc(a.Accepted, func(x, y Accepted) int { return compareReleases(x.Release, y.Release) })
	}
	c.releases = nil
	for release := range known {
		c.releases = append(c.releases, release)
	}
	slices.SortFunc(c.releases, compareReleases)
}
