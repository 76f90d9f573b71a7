package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// Subject is what a page is about: an API or a data definition, at one version.
type Subject struct {
	API     *schema.API     // nil for a data definition
	Data    *schema.Message // nil for an API
	Version int16
	// Only is the one direction to show of an API; nil shows those it has.
	Only *schema.Direction
}

// Name returns the name of the API or the definition.
func (s Subject) Name() string {
	if s.API != nil {
		return s.API.Name
	}
	return s.Data.Name
}

// directions returns the sides of a page.
func (s Subject) directions() []schema.Direction {
	if s.API == nil {
		return []schema.Direction{schema.Data}
	}
	var ds []schema.Direction
	for _, d := range []schema.Direction{schema.Request, schema.Response} {
		if (s.Only == nil || *s.Only == d) && s.API.Message(d) != nil {
			ds = append(ds, d)
		}
	}
	return ds
}

// message returns the definition of a side.
func (s Subject) message(d schema.Direction) *schema.Message {
	if s.API != nil {
		return s.API.Message(d)
	}
	return s.Data
}

// Page is a layout document.
type Page struct {
	Subject Subject
	Title   string
	Sample  Sample
	Rule    string
	Facts   []Fact
	Legend  []tree.Region
	Sides   []*Side

	present [tree.RegionTags + 1]bool // regions that occur among the bytes
}

// Fact is a line of the list that a page begins with.
type Fact struct{ Label, Text string }

// Side is a request, a response or a data definition: its bytes and what they mean.
type Side struct {
	Direction schema.Direction
	Message   *schema.Message // the definition; nil where none is known
	Plan      *schema.Plan    // of the body; nil where none is known
	Header    *schema.Plan    // nil for data
	Bytes     []byte          // source 0 of Tree
	Tree      *tree.Tree
	Value     any    // the JSON form of the body, of generated samples
	Schema    string // the definition in Kafka's JSON form, at this version

	text tree.Text
	mask tree.Grid
}

// Title returns the heading of the side.
func (s *Side) Title() string {
	switch s.Direction {
	case schema.Request:
		return "Request"
	case schema.Response:
		return "Response"
	}
	return "Data"
}

// Maker makes pages. It serves one goroutine.
type Maker struct {
	Catalogue *schema.Catalogue
	Decoder   *walk.Decoder // nil is one that looks into record sets, and no further
	Secrets   bool          // show secret values that were given or captured
	Full      bool          // do not cut long values
	MaxNodes  int           // of the tree of a captured frame; 0 does not bound them
	Encoder   walk.Encoder

	descs map[changedDesc]*tree.Desc
}

// Page makes the page of a generated sample: Smallest or Full.
func (m *Maker) Page(s Subject, sample Sample) (*Page, error) {
	value := SmallestValue
	if sample == Full {
		value = FullValue
	}
	return m.sampled(s, sample, func(d schema.Direction, p *schema.Plan) (any, bool) { return value(p), true })
}

// Values are the values of a page that a user gave: the JSON forms of bodies, as encoding/json
// makes them with UseNumber.
type Values struct {
	Body          map[schema.Direction]any
	CorrelationID int32
	ClientID      any // a string or nil
}

// GivenPage makes the page of given values, with the sides that have one.
func (m *Maker) GivenPage(s Subject, v Values) (*Page, error) {
	return m.make(s, Given, v.CorrelationID, v.ClientID, func(d schema.Direction, _ *schema.Plan) (any, bool) {
		body, ok := v.Body[d]
		return body, ok
	})
}

func (m *Maker) sampled(s Subject, sample Sample, value func(schema.Direction, *schema.Plan) (any, bool)) (*Page, error) {
	correlationID, clientID := int32(0), ""
	if sample == Full {
		correlationID, clientID = 7, "app-1"
	}
	return m.make(s, sample, correlationID, clientID, value)
}

func (m *Maker) make(s Subject, sample Sample, correlationID int32, clientID any, value func(schema.Direction, *schema.Plan) (any, bool)) (*Page, error) {
	page := &Page{Subject: s, Sample: sample, Title: fmt.Sprintf("%s v%d", s.Name(), s.Version)}
	known := false
	for _, d := range s.directions() {
		plan := m.plan(s, d)
		if plan == nil { // a version that only the other side has
			continue
		}
		known = true
		v, ok := value(d, plan)
		if !ok {
			continue
		}
		side, err := m.encode(s, d, plan, sample, v, correlationID, clientID)
		if err != nil {
			return nil, err
		}
		page.Sides = append(page.Sides, side)
	}
	if !known {
		return nil, fmt.Errorf("%s has no version %d", s.Name(), s.Version)
	}
	m.finish(page)
	return page, nil
}

// plan returns the layout of a side's body, or nil.
func (m *Maker) plan(s Subject, d schema.Direction) *schema.Plan {
	if s.API == nil {
		return m.Catalogue.Data(s.Data.Name, s.Version)
	}
	return m.Catalogue.PlanOf(s.API, s.Version, d)
}

// encode makes a side: the bytes of a value, and the tree that decoding makes of them.
func (m *Maker) encode(s Subject, d schema.Direction, p *schema.Plan, sample Sample, value any, correlationID int32, clientID any) (*Side, error) {
	side := &Side{Direction: d, Plan: p, Message: s.message(d)}
	if sample < Given {
		side.Value = value
	}
	var b []byte
	var err error
	if d != schema.Data {
		side.Header = m.Catalogue.Header(d, p.HeaderVersion)
		if side.Header == nil {
			return nil, fmt.Errorf("%s v%d: no %s header v%d", s.Name(), s.Version, d, p.HeaderVersion)
		}
		b = make([]byte, 4)
		if b, err = m.Encoder.Body(b, side.Header, headerValue(side.Header, p, correlationID, clientID)); err != nil {
			return nil, fmt.Errorf("%s header: %w", d, err)
		}
	}
	if b, err = m.Encoder.Body(b, p, value); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	if d != schema.Data {
		binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	}
	side.Bytes = b
	side.text.Secrets = m.Secrets || sample < Given
	side.text.Full = m.Full
	var build tree.Builder
	build.Reset(b)
	sink := &words{Sink: &build, maker: m, api: s.API, sample: sample}
	if m.Decoder == nil {
		m.Decoder = &walk.Decoder{Records: &recordSets{}}
	}
	dec := m.Decoder
	var res walk.Result
	if d == schema.Data {
		res = dec.Body(b, 0, p, sink)
	} else {
		res = dec.Frame(b, int32(len(b)-4), side.Header, p, sink)
	}
	if !res.Fits() || res.End != len(b) {
		return nil, fmt.Errorf("%s v%d: what was encoded does not decode: %d of %d bytes: %s", p.Name, p.Version, res.End, len(b), res.Err.Error())
	}
	side.Tree = build.Tree()
	return side, nil
}

// FrameSide is a captured frame: its bytes, and how it is walked.
type FrameSide struct {
	Direction schema.Direction
	Bytes     []byte       // kept by the page
	Header    *schema.Plan // nil where not known
	Plan      *schema.Plan // nil where not known
	Walk      func(tree.Sink)
}

// FramePage makes the page of captured frames. Its title is the given one.
func (m *Maker) FramePage(s Subject, title string, facts []Fact, frames ...FrameSide) *Page {
	page := &Page{Subject: s, Sample: Captured, Title: title, Facts: facts}
	for _, f := range frames {
		side := &Side{Direction: f.Direction, Plan: f.Plan, Header: f.Header, Bytes: f.Bytes}
		if s.API != nil {
			side.Message = s.API.Message(f.Direction)
		}
		side.text.Secrets, side.text.Full = m.Secrets, m.Full
		build := tree.Builder{Limit: m.MaxNodes}
		build.Reset(f.Bytes)
		f.Walk(&build)
		side.Tree = build.Tree()
		page.Sides = append(page.Sides, side)
	}
	m.finish(page)
	return page
}

// finish adds what follows from the sides.
func (m *Maker) finish(p *Page) {
	for _, s := range p.Sides {
		s.mask.Secrets = s.text.Secrets
		for src := range s.Tree.Sources {
			regions, _ := s.mask.Map(s.Tree, int32(src))
			for _, r := range regions {
				p.present[r] = true
			}
		}
		if s.Message != nil && s.Plan != nil {
			var b bytes.Buffer
			_ = m.Catalogue.ShowJSON(&b, s.Message, s.Plan.Version) // a bytes.Buffer does not fail
			s.Schema = b.String()
		}
	}
	p.Legend = legendOf(p)
	p.Rule = RuleOf(p.Sample)
	if p.Sample == Smallest && p.Subject.API != nil {
		p.Rule += " The client id is empty and the correlation id 0."
	}
	p.Facts = append(m.facts(p), p.Facts...)
}

// legendOf lists the regions of a page of its kind, whether they occur or not.
func legendOf(p *Page) []tree.Region {
	if len(p.Sides) == 1 && p.Sides[0].Direction == schema.Data {
		return []tree.Region{tree.RegionData, tree.RegionBatch, tree.RegionRecord, tree.RegionTags}
	}
	return []tree.Region{
		tree.RegionFrame, tree.RegionHeader, tree.RegionRequest, tree.RegionBatch, tree.RegionRecord,
		tree.RegionResponse, tree.RegionTags,
	}
}

// facts lists what there is to know before the bytes.
func (m *Maker) facts(p *Page) []Fact {
	var fs []Fact
	add := func(label, format string, args ...any) { fs = append(fs, Fact{label, fmt.Sprintf(format, args...)}) }
	s := p.Subject
	if a := s.API; a != nil {
		if a.Key < 0 {
			add("API key", "unassigned, encoded as 0x%04x", uint16(a.Key))
		} else {
			add("API key", "%d", a.Key)
		}
		if len(a.Listeners) > 0 {
			add("Listeners", "%s", strings.Join(a.Listeners, ", "))
		}
	} else if s.Data != nil {
		add("Definition", "%s, which is no API%s", s.Data.Type, framing(s.Data))
	}
	add("Version encoded at", "%d", s.Version)
	for _, side := range p.Sides {
		if side.Message == nil {
			continue
		}
		add(side.label("versions"), "%s, flexible %s", side.Message.Versions, side.Message.Flexible)
	}
	for _, side := range p.Sides {
		if side.Header != nil {
			add(side.label("header"), "version %d", side.Header.Version)
		}
	}
	for _, side := range p.Sides {
		add(side.label("size"), "%d bytes", len(side.Bytes))
	}
	if a := s.API; a != nil {
		if since := accepted(a, s.Version); since != "" {
			add("Accepted by Kafka", "%s", since)
		}
	}
	return fs
}

// label names a fact of the side.
func (s *Side) label(what string) string {
	if s.Direction == schema.Data {
		return strings.ToUpper(what[:1]) + what[1:]
	}
	return s.Title() + " " + what
}

// framing says what stands before a data definition where it is used.
func framing(m *schema.Message) string {
	switch m.Type {
	case schema.TypeCoordinatorKey:
		return fmt.Sprintf("; in a record's key, the record type %d stands before it as an int16", m.APIKey)
	case schema.TypeCoordinatorValue:
		return "; in a record's value, the version stands before it as an int16"
	case schema.TypeMetadata:
		return fmt.Sprintf("; in a record's value, three uvarints stand before it: 1, the record type %d and the version", m.APIKey)
	}
	return ""
}

// accepted names the releases that take a version of an API.
func accepted(a *schema.API, version int16) string {
	var first, last string
	unstable := false
	for _, r := range a.Accepted {
		if !r.Versions.Contains(version) {
			continue
		}
		if first == "" {
			first = r.Release
			unstable = r.Unstable && r.Versions.Max == version
		}
		last = r.Release
	}
	if first == "" {
		return ""
	}
	first, last = minor(first), minor(last)
	text := first
	if last != first {
		text += " to " + last
	}
	if unstable {
		text += ", at first only when told to take unstable versions"
	}
	return text
}

// minor returns a release without its patch number, which says nothing about versions of APIs. What
// came before 1.0 counted in three numbers.
func minor(release string) string {
	parts := strings.Split(release, ".")
	n := 2
	if parts[0] == "0" {
		n = 3
	}
	return strings.Join(parts[:min(n, len(parts))], ".")
}
