package layout

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/tree"
)

func newMaker() *Maker {
	return &Maker{Catalogue: schema.Default(), Decoder: &walk.Decoder{Records: &recordSets{}}}
}

// subjects returns every API and data definition at every version.
func subjects(c *schema.Catalogue) []Subject {
	var all []Subject
	for _, a := range c.APIs() {
		for v := range versions(a.Request) {
			all = append(all, Subject{API: a, Version: v})
		}
	}
	for _, d := range c.DataMessages() {
		for v := range versions(d) {
			all = append(all, Subject{Data: d, Version: v})
		}
	}
	return all
}

// The trees of ConsumerGroupDescribe v1, from Kafka's own definition, are those of the reference pages.
func TestReferenceTrees(t *testing.T) {
	dir := filepath.Join(corpus.Dir(t), "reference")
	api := &schema.API{Key: 69, Name: "ConsumerGroupDescribe", LogName: "CONSUMER_GROUP_DESCRIBE"}
	for _, side := range []string{"Request", "Response"} {
		file := "ConsumerGroupDescribe" + side + ".json"
		src, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		m, err := schema.ParseDefinition(file, string(src))
		require.NoError(t, err)
		if side == "Request" {
			api.Request = m
		} else {
			api.Response = m
		}
	}
	m := newMaker()
	m.Catalogue = schema.New([]*schema.API{api}, schema.Default().DataMessages(), nil)
	page, err := m.Page(Subject{API: api, Version: 1}, Smallest)
	require.NoError(t, err)
	require.Len(t, page.Sides, 2)
	for i, side := range []string{"request", "response"} {
		want, err := os.ReadFile(filepath.Join(dir, "ConsumerGroupDescribe.v1."+side+".tree.txt"))
		require.NoError(t, err)
		got := string(page.Sides[i].tree(false, nil))
		assert.Equal(t, strings.TrimRight(string(want), "\n"), strings.TrimRight(got, "\n"))
	}
	assert.Len(t, page.Sides[0].Bytes, 19)
	assert.Len(t, page.Sides[1].Bytes, 99)
}

// Every sample of every API and definition, at every version, decodes whole, tiles, and comes out of
// the encoder again.
func TestEverySample(t *testing.T) {
	m := newMaker()
	frames, data := 0, 0
	for _, s := range subjects(m.Catalogue) {
		for _, sample := range []Sample{Smallest, Full} {
			page, err := m.Page(s, sample)
			require.NoError(t, err, "%s v%d", s.Name(), s.Version)
			for _, side := range page.Sides {
				name := fmt.Sprintf("%s v%d %v", side.Plan.Name, s.Version, sample)
				require.NoError(t, tiles(m, side), name)
				if sample == Smallest {
					frames++
					if s.API == nil {
						data++
					}
					continue
				}
				assert.Empty(t, unsentTags(side), name)
			}
		}
	}
	assert.Equal(t, 736, frames-data, "combinations of API, version and direction that Kafka ever had")
	assert.NotZero(t, data)
}

// tiles walks a side once more, into a check.
func tiles(m *Maker, s *Side) error {
	var check tree.TilingSink
	var res walk.Result
	if s.Header == nil {
		res = m.Decoder.Body(s.Bytes, 0, s.Plan, &check)
	} else {
		res = m.Decoder.Frame(s.Bytes, int32(len(s.Bytes)-4), s.Header, s.Plan, &check)
	}
	if !res.Fits() {
		return fmt.Errorf("does not fit: %s", res.Err.Error())
	}
	if issues := s.Tree.Issues; len(issues) > 0 {
		return fmt.Errorf("issue %s", issues[0].Text)
	}
	return check.Err(len(s.Bytes))
}

// unsentTags returns the tagged fields of the layout that the tree has not.
func unsentTags(s *Side) []string {
	sent := map[*tree.Desc]bool{}
	for i := range s.Tree.Nodes {
		sent[s.Tree.Nodes[i].Desc] = true
	}
	var missing []string
	var look func(*schema.Struct)
	look = func(layout *schema.Struct) {
		inside := func(f *schema.Field) {
			for f.Op == schema.OpArray {
				f = f.Elem
			}
			if f.Op == schema.OpStruct {
				look(f.Struct)
			}
		}
		for i := range layout.Fields {
			inside(&layout.Fields[i])
		}
		for i := range layout.Tags {
			if !sent[layout.Tags[i].TagDesc] {
				missing = append(missing, layout.Tags[i].Desc.Name)
			}
			inside(&layout.Tags[i])
		}
	}
	look(s.Plan.Root)
	return missing
}

// Without record sets, which are null there, and tagged fields, of which arrays are sent there, the
// smallest instance is Kafka's own frame with one element an array.
func TestSmallestIsKafkas(t *testing.T) {
	m := newMaker()
	equal, other := 0, 0
	for _, file := range corpus.APIVectors() {
		corpus.Vectors(t, file, func(_ int, v *corpus.Vector) {
			if v.Shape != "one" {
				return
			}
			d := schema.Request
			if v.Kind == "response" {
				d = schema.Response
			}
			plan := m.Catalogue.Plan(v.Key, v.Version, d)
			require.NotNil(t, plan)
			page, err := m.Page(Subject{API: m.Catalogue.API(v.Key), Version: v.Version, Only: &d}, Smallest)
			require.NoError(t, err)
			side := page.Sides[0]
			// The vectors' headers have a correlation id and a client id of their own.
			var wantBody, gotBody []byte
			if wantBody, err = body(m, v.Bytes, side); err != nil {
				other++ // the layout of an older release
				return
			}
			gotBody, err = body(m, side.Bytes, side)
			require.NoError(t, err)
			if incomparable(plan.Root) {
				other++
				return
			}
			if assert.Equal(t, hex.EncodeToString(wantBody), hex.EncodeToString(gotBody), "%s v%d %s", v.API, v.Version, v.Kind) {
				equal++
			}
		})
	}
	t.Logf("%d equal, %d with record sets or tagged fields", equal, other)
	assert.Greater(t, equal, 600)
}

// body returns what follows the header of a frame.
func body(m *Maker, frame []byte, side *Side) ([]byte, error) {
	var at bodySink
	res := m.Decoder.Frame(frame, int32(len(frame)-4), side.Header, side.Plan, &at)
	if !res.Fits() {
		return nil, &res.Err
	}
	return frame[at.off:], nil
}

// bodySink notes where the body begins.
type bodySink struct {
	tree.Discard
	off int32
}

func (b *bodySink) Begin(e tree.Event) bool {
	if e.Has(tree.FlagBody) {
		b.off = e.Span.Off
	}
	return e.Desc.Kind == tree.KindMessage
}

// incomparable reports whether a struct holds what the vectors fill by another rule.
func incomparable(s *schema.Struct) bool {
	if len(s.Tags) > 0 {
		return true
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		for f.Op == schema.OpArray {
			f = f.Elem
		}
		if f.Op == schema.OpRecords || f.Op == schema.OpStruct && incomparable(f.Struct) {
			return true
		}
	}
	return false
}

// Record sets have the sizes of the rule, and checksums that fit.
func TestRecordSets(t *testing.T) {
	m := newMaker()
	for _, c := range []struct {
		api     string
		dir     schema.Direction
		version int16
		size    int
	}{
		{"Produce", schema.Request, 0, 26},
		{"Produce", schema.Request, 1, 26},
		{"Produce", schema.Request, 2, 34},
		{"Produce", schema.Request, 3, 61},
		{"Produce", schema.Request, 12, 61},
		{"Fetch", schema.Response, 1, 26},
		{"Fetch", schema.Response, 2, 34},
		{"Fetch", schema.Response, 3, 34},
		{"Fetch", schema.Response, 4, 61},
		{"ShareFetch", schema.Response, 1, 61},
		{"FetchSnapshot", schema.Response, 0, 61},
	} {
		page, err := m.Page(Subject{API: m.Catalogue.APIByName(c.api), Version: c.version, Only: &c.dir}, Smallest)
		require.NoError(t, err)
		text := string(page.Sides[0].tree(false, nil))
		assert.Contains(t, text, fmt.Sprintf("= %d bytes [", c.size), "%s v%d", c.api, c.version)
		assert.Contains(t, text, "(ok)", "%s v%d", c.api, c.version)
		if c.size == 61 {
			assert.Contains(t, text, "batchLength int32 = 49 ")
			assert.Contains(t, text, "producerId int64 = 0 ")
			assert.Contains(t, text, "recordsCount int32 = 0 ")
		}
	}
}

// An API without a key is encoded with 0xffff; one of which only the request is known gives a page
// of one side.
func TestUnassignedKey(t *testing.T) {
	m, err := schema.ParseDefinition("DraftRequest.json", `{
		"apiKey": 900, "type": "request", "listeners": ["broker"], "name": "DraftRequest",
		"validVersions": "0", "flexibleVersions": "0+",
		"fields": [{ "name": "GroupId", "type": "string", "versions": "0+", "about": "The group." }]
	}`)
	require.NoError(t, err)
	m.APIKey = -1
	maker := newMaker()
	api := &schema.API{Key: -1, Name: "Draft", Request: m}
	maker.Catalogue = schema.New([]*schema.API{api}, schema.Default().DataMessages(), nil)
	page, err := maker.Page(Subject{API: api}, Smallest)
	require.NoError(t, err)
	require.Len(t, page.Sides, 1)
	assert.Equal(t, "0000000dffff0000000000000000000100", hex.EncodeToString(page.Sides[0].Bytes))
	assert.Contains(t, string(page.Sides[0].tree(false, nil)), "request_api_key int16 = -1 (unassigned) [0x0004, 2B]")
	assert.Contains(t, string(page.Sides[0].tree(false, nil)), `GroupId string = "" (compact, len+1=1) [0x000f, 1B] The group.`)
	assert.Contains(t, page.Facts, Fact{"API key", "unassigned, encoded as 0xffff"})
}
