package schema

import (
	"cmp"
	"embed"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// API is one Kafka API: a request and its response.
type API struct {
	Key       int16  // NoKey where none is assigned
	Name      string // such as "Fetch"
	LogName   string // as the broker's request log writes it, such as "FETCH"
	Request   *Message
	Response  *Message
	Listeners []string
	Accepted  []Accepted // what each release takes, in order of release
}

// Accepted says which versions of a request a release takes.
type Accepted struct {
	Release  string // such as "3.9.2"
	Versions Versions
	Unstable bool // the highest version only when unstable ones are enabled
}

// Message returns the request or the response; nil where the API has none.
func (a *API) Message(d Direction) *Message {
	switch d {
	case Request:
		return a.Request
	case Response:
		return a.Response
	}
	return nil
}

// Catalogue holds every known API and data definition and compiles their plans.
// Its methods may be called from several goroutines.
type Catalogue struct {
	apis     []*API // by ascending key
	data     []*Message
	releases []string // in order, as far as APIs name them
	glossary *Glossary
	apiNames names

	byKey    []*apiPlans         // by key, with nil where a key is not used
	keyless  map[*API]*apiPlans  // of APIs that have no key yet
	byName   map[string]*API     // lower-case names and log names
	dataPlan map[string]*planSet // by name; headers too
	headers  [2]*planSet         // by direction
}

// apiPlans are the plans of an API, compiled when first asked for.
type apiPlans struct {
	api   *API
	plans [2]*planSet // by direction
}

// planSet holds the plans of a message by version.
type planSet struct {
	api   *API
	m     *Message
	slots []planSlot // slots[i] is version m.Versions.Min+i
}

type planSlot struct {
	plan  atomic.Pointer[Plan]
	older atomic.Pointer[[]*Plan]
}

//go:embed catalog/*.txt
var catalogFiles embed.FS

// Default returns the embedded catalogue.
var Default = sync.OnceValue(func() *Catalogue {
	c, err := ReadCatalogue(catalogFiles, "catalog")
	if err != nil {
		panic(err) // the embedded files are tested
	}
	return c
})

// New returns a catalogue of the given APIs and data definitions. A nil glossary is the embedded one.
func New(apis []*API, data []*Message, glossary *Glossary) *Catalogue {
	if glossary == nil {
		glossary = DefaultGlossary()
	}
	c := &Catalogue{
		apis: slices.Clone(apis), data: slices.Clone(data), glossary: glossary,
		byName: make(map[string]*API), dataPlan: make(map[string]*planSet),
	}
	slices.SortFunc(c.apis, func(a, b *API) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(c.data, func(a, b *Message) int { return cmp.Compare(a.Name, b.Name) })
	words := make(map[int64]string)
	for _, a := range c.apis {
		c.byName[strings.ToLower(a.Name)] = a
		c.byName[strings.ToLower(a.LogName)] = a
		if a.Key < 0 {
			words[NoKey] = "unassigned"
			if c.keyless == nil {
				c.keyless = make(map[*API]*apiPlans)
			}
			c.keyless[a] = newAPIPlans(a)
			continue
		}
		words[int64(a.Key)] = a.Name
		for int(a.Key) >= len(c.byKey) {
			c.byKey = append(c.byKey, nil)
		}
		c.byKey[a.Key] = newAPIPlans(a)
	}
	c.apiNames = newNames(words)
	for _, m := range c.data {
		s := newPlanSet(nil, m)
		c.dataPlan[m.Name] = s
		switch m.Name {
		case "RequestHeader":
			c.headers[Request] = s
		case "ResponseHeader":
			c.headers[Response] = s
		}
	}
	return c
}

func newAPIPlans(a *API) *apiPlans {
	return &apiPlans{a, [2]*planSet{newPlanSet(a, a.Request), newPlanSet(a, a.Response)}}
}

func newPlanSet(api *API, m *Message) *planSet {
	if m == nil || m.Versions.Empty() {
		return nil
	}
	return &planSet{api: api, m: m, slots: make([]planSlot, int(m.Versions.Max)-int(m.Versions.Min)+1)}
}

// slot returns the place of a version, or nil.
func (s *planSet) slot(version int16) *planSlot {
	if s == nil || !s.m.Versions.Contains(version) {
		return nil
	}
	return &s.slots[version-s.m.Versions.Min]
}

func (s *planSet) plan(c *Catalogue, version int16) *Plan {
	slot := s.slot(version)
	if slot == nil {
		return nil
	}
	if p := slot.plan.Load(); p != nil {
		return p
	}
	// Two goroutines may both compile; all see the plan that was stored first.
	slot.plan.CompareAndSwap(nil, c.compile(s.api, s.m, version))
	return slot.plan.Load()
}

func (s *planSet) older(c *Catalogue, version int16) []*Plan {
	if s == nil || len(s.m.Older) == 0 {
		return nil
	}
	slot := s.slot(version)
	if slot == nil {
		return nil
	}
	if p := slot.older.Load(); p != nil {
		return *p
	}
	var plans []*Plan
	for _, o := range s.m.Older {
		if o.Message.Versions.Contains(version) {
			p := c.compile(s.api, o.Message, version)
			p.Older = o.Release
			plans = append(plans, p)
		}
	}
	slot.older.CompareAndSwap(nil, &plans)
	return *slot.older.Load()
}

// entry returns what there is of a key, or nil. The only API without a key is that of NoKey.
func (c *Catalogue) entry(key int16) *apiPlans {
	switch {
	case key >= 0 && int(key) < len(c.byKey):
		return c.byKey[key]
	case key == NoKey && len(c.keyless) == 1:
		for _, e := range c.keyless {
			return e
		}
	}
	return nil
}

func (c *Catalogue) plans(key int16, d Direction) *planSet {
	e := c.entry(key)
	if e == nil || d > Response {
		return nil
	}
	return e.plans[d]
}

// API returns the API of a key, or nil. NoKey finds the API without a key where there is one only.
func (c *Catalogue) API(key int16) *API {
	if e := c.entry(key); e != nil {
		return e.api
	}
	return nil
}

// APIs returns all APIs by ascending key.
func (c *Catalogue) APIs() []*API { return slices.Clone(c.apis) }

// APIByName finds an API by its name or log name, whatever the case, or by its key in digits; nil if there is none.
func (c *Catalogue) APIByName(name string) *API {
	if a := c.byName[strings.ToLower(name)]; a != nil {
		return a
	}
	if key, err := strconv.ParseInt(name, 10, 16); err == nil {
		return c.API(int16(key))
	}
	return nil
}

// Plan returns the layout of an API's request or response body at a version, or nil.
func (c *Catalogue) Plan(key, version int16, d Direction) *Plan {
	return c.plans(key, d).plan(c, version)
}

// PlanOf is Plan for an API of this catalogue, which may have no key yet.
func (c *Catalogue) PlanOf(a *API, version int16, d Direction) *Plan {
	if p := c.keyless[a]; p != nil && d <= Response {
		return p.plans[d].plan(c, version)
	}
	return c.Plan(a.Key, version, d)
}

// Older returns the layouts that a newer release replaced under the same version, newest first.
func (c *Catalogue) Older(key, version int16, d Direction) []*Plan {
	return c.plans(key, d).older(c, version)
}

// Header returns the layout of a request or response header, or nil.
func (c *Catalogue) Header(d Direction, version int16) *Plan {
	if d > Response {
		return nil
	}
	return c.headers[d].plan(c, version)
}

// RequestHeaderVersion returns the header version of a request, whose version need not be in the
// catalogue as long as its API is; -1 where it cannot be known.
func (c *Catalogue) RequestHeaderVersion(key, version int16) int16 {
	a := c.API(key)
	if a == nil || a.Request == nil {
		return -1
	}
	return a.Request.HeaderVersion(version)
}

// Data returns the layout of a data definition (a record of an internal topic, an embedded
// protocol, a header) at a version, or nil.
func (c *Catalogue) Data(name string, version int16) *Plan {
	return c.dataPlan[name].plan(c, version)
}

// OlderData is Older for data definitions.
func (c *Catalogue) OlderData(name string, version int16) []*Plan {
	return c.dataPlan[name].older(c, version)
}

// DataMessages returns the definitions that are no API, by ascending name; headers are among them.
func (c *Catalogue) DataMessages() []*Message { return slices.Clone(c.data) }

// DataMessage returns a data definition by its name, or nil.
func (c *Catalogue) DataMessage(name string) *Message {
	if s := c.dataPlan[name]; s != nil {
		return s.m
	}
	return nil
}

// Releases returns the releases that the APIs' Accepted name, oldest first.
func (c *Catalogue) Releases() []string { return slices.Clone(c.releases) }

// Glossary returns the descriptions that plans are compiled with.
func (c *Catalogue) Glossary() *Glossary { return c.glossary }

func (c *Catalogue) about(m *Message, structName string, f *FieldDef) string {
	if f.About != "" {
		return f.About
	}
	return c.glossary.About(m, structName, f.Name)
}

// ReadCatalogue reads the catalogue files in a folder of fsys.
func ReadCatalogue(fsys fs.FS, dir string) (*Catalogue, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".txt") })
	// The program does nothing else meanwhile, so that each processor reads a part.
	parts := make([]notationReader, min(runtime.GOMAXPROCS(0), 4))
	errs := make([]error, len(parts))
	var reading sync.WaitGroup
	for i := range parts {
		mine := entries[i*len(entries)/len(parts) : (i+1)*len(entries)/len(parts)]
		reading.Go(func() { errs[i] = parts[i].files(fsys, dir, mine) })
	}
	reading.Wait()
	var r notationReader
	for i := range parts {
		if errs[i] != nil {
			return nil, errs[i]
		}
		r.join(&parts[i])
	}
	return r.catalogue()
}
