package schema

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// keepTagged adds to m the tagged fields that an older release had in the same version.
func (im *importer) keepTagged(m *Message, defs []definition) {
	for i := len(defs) - 1; i >= 0; i-- {
		old := defs[i].m
		for v := old.Versions.Min; v <= old.Versions.Max; v++ {
			if old.wireForm(v) != m.wireForm(v) {
				continue // another layout, see keepOlder
			}
			k := tagKeeper{merged: flatten(m), old: flatten(old), version: v}
			k.old.restrict(Versions{v, openEnd(m, v)})
			k.pair(&k.merged.m.Fields, k.old.m.Fields)
			if len(k.kept) == 0 {
				continue
			}
			*m = *k.merged.unflatten()
			for _, name := range k.kept {
				im.report = append(im.report, fmt.Sprintf("%s version %d: tagged field %s is kept from %s", m.Name, v, name, defs[i].release))
			}
		}
	}
}

// tagKeeper compares two definitions of one wire form, struct by struct.
type tagKeeper struct {
	merged, old *flat
	version     int16
	kept        []string // names of the fields added to merged
}

// pair adds to list the tagged fields of old that list has not.
func (k *tagKeeper) pair(list *[]*FieldDef, old []*FieldDef) {
	plain := slices.DeleteFunc(slices.Clone(*list), func(f *FieldDef) bool {
		return !f.Versions.Contains(k.version) || f.Tagged.Contains(k.version)
	})
	for _, f := range old {
		var same *FieldDef
		if f.Tag < 0 {
			same, plain = plain[0], plain[1:]
		} else if i := slices.IndexFunc(*list, func(g *FieldDef) bool { return g.Tag == f.Tag && g.Tagged.Contains(k.version) }); i >= 0 {
			same = (*list)[i]
		}
		if same == nil {
			k.kept = append(k.kept, f.Name)
			k.keep(list, f)
			continue
		}
		x, y := k.merged.find(same.ElemType()), k.old.find(f.ElemType())
		if x != nil && y != nil {
			k.pair(&x.Fields, y.Fields)
		}
	}
}

// keep adds f and the structs it needs.
func (k *tagKeeper) keep(list *[]*FieldDef, f *FieldDef) {
	if i := slices.IndexFunc(*list, func(g *FieldDef) bool { return joinable(g, f) }); i >= 0 {
		(*list)[i] = joinField((*list)[i], f)
	} else {
		*list = append(*list, f)
	}
	k.keepStruct(f)
}

// keepStruct adds the struct of f, where it has no fields in this version yet, and those inside it.
func (k *tagKeeper) keepStruct(f *FieldDef) {
	s := k.old.find(f.ElemType())
	if s == nil {
		return
	}
	have := k.merged.find(s.Name)
	switch {
	case have == nil:
		k.merged.structs = append(k.merged.structs, s)
	case slices.ContainsFunc(have.Fields, func(g *FieldDef) bool { return g.Versions.Contains(k.version) }):
		return
	default:
		have.Fields = joinFields(have.Fields, s.Fields)
	}
	for _, inner := range s.Fields {
		k.keepStruct(inner)
	}
}

// openEnd returns v, or the end of an open range where v is m's last version.
func openEnd(m *Message, v int16) int16 {
	if v == m.Versions.Max {
		return All.Max
	}
	return v
}

// keepOlder adds to m the layouts of older releases that a newer one replaced.
func (im *importer) keepOlder(m *Message, defs []definition) {
	for v := m.Versions.Min; v <= m.Versions.Max; v++ {
		seen := []string{m.wireForm(v)}
		for i := len(defs) - 1; i >= 0; i-- {
			d := defs[i]
			form := d.m.wireForm(v)
			if !d.m.Versions.Contains(v) || slices.Contains(seen, form) {
				continue
			}
			seen = append(seen, form)
			old := flatten(d.m)
			old.restrict(Versions{v, All.Max})
			old.narrow()
			o := old.unflatten()
			o.Name, o.Type, o.APIKey, o.Listeners = m.Name, m.Type, m.APIKey, m.Listeners
			o.Versions, o.Unstable, o.Older = Versions{v, v}, None, nil
			if !o.Flexible.Contains(v) {
				o.Flexible = None
			}
			o.deriveHeaders()
			if o.Type != TypeRequest && o.Type != TypeResponse {
				o.Group = groupOf(m)
			}
			m.Older = append(m.Older, &Older{d.release, o})
			im.report = append(im.report, fmt.Sprintf("%s version %d: the layout of %s is kept beside the newer one", m.Name, v, d.release))
		}
	}
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

// groupOf returns the catalogue file of a definition that is no API.
func groupOf(m *Message) string {
	switch {
	case m.Type == TypeHeader:
		return "headers"
	case m.Type == TypeMetadata && strings.HasPrefix(m.Name, "Remote"):
		return "remote-log-metadata"
	case m.Type == TypeMetadata:
		return "cluster-metadata"
	}
	for _, g := range dataGroups {
		if strings.HasPrefix(m.Name, g.prefix) {
			return g.file
		}
	}
	return "data"
}

// dataGroups sorts definitions by the start of their names; the first that fits holds.
var dataGroups = []struct{ prefix, file string }{
	{"Remote", "remote-log-metadata"},
	{"TransactionLog", "transaction-state"},
	{"ShareSnapshot", "share-group-state"},
	{"ShareUpdate", "share-group-state"},
	{"ShareGroup", "consumer-offsets"},
	{"StreamsGroup", "consumer-offsets"},
	{"ConsumerGroup", "consumer-offsets"},
	{"Group", "consumer-offsets"},
	{"Offset", "consumer-offsets"},
	{"LegacyOffset", "consumer-offsets"},
	{"ConsumerProtocol", "protocols"},
	{"SubscriptionInfo", "protocols"},
	{"DefaultPrincipal", "protocols"},
	{"LeaderChange", "control-records"},
	{"Snapshot", "control-records"},
	{"Voters", "control-records"},
	{"KRaftVersion", "control-records"},
	{"EndTxnMarker", "control-records"},
	{"ControlRecord", "control-records"},
	{"AbortedTxn", "broker-files"},
	{"ProducerSnapshot", "broker-files"},
	{"QuorumState", "broker-files"},
}

// Files returns the catalogue's files by name, the same bytes for the same catalogue.
func (c *Catalogue) Files() (map[string][]byte, error) {
	files := make(map[string][]byte)
	var b bytes.Buffer
	for _, a := range c.apis {
		b.Reset()
		if err := WriteAPI(&b, a, c.releases); err != nil {
			return nil, err
		}
		files[fmt.Sprintf("%02d-%s.txt", a.Key, a.Name)] = bytes.Clone(b.Bytes())
	}
	groups := make(map[string][]*Message)
	for _, m := range c.data {
		groups[m.Group] = append(groups[m.Group], m)
	}
	for name, group := range groups {
		b.Reset()
		if err := WriteData(&b, group); err != nil {
			return nil, err
		}
		files[name+".txt"] = bytes.Clone(b.Bytes())
	}
	files[releasesFile] = []byte("# Releases of Kafka, in order.\n" + strings.Join(c.releases, "\n") + "\n")
	return files, nil
}

// apiFile is the form of the names of APIs' files.
var apiFile = regexp.MustCompile(`^\d{2,}-[A-Z][A-Za-z]*\.txt$`)

// WriteFolder writes the catalogue's files into a folder, which is made where it does not
// exist. Files of APIs that the catalogue does not name so (any more) are removed.
func (c *Catalogue) WriteFolder(dir string) error {
	files, err := c.Files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if apiFile.MatchString(e.Name()) && files[e.Name()] == nil && !e.IsDir() {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
