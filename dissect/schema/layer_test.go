package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// draft reads the definitions in src, which have no faults.
func draft(t *testing.T, src string) []*Message {
	t.Helper()
	d := ReadDraft("f", src)
	require.Zero(t, d.Faults(), texts(d.Findings))
	return d.Messages
}

func TestLayerReplacesVersions(t *testing.T) {
	base := Default()
	m := draft(t, `{"apiKey": 1, "type": "request", "listeners": ["broker"], "name": "FetchRequest", "validVersions": "16-18", "flexibleVersions": "12+",
		"fields": [ { "name": "ReplicaId", "type": "int64", "versions": "16+", "about": "My own words." } ]}`)
	c, err := Layer(base, NoKey, m...)
	require.NoError(t, err)
	a := c.API(1)
	assert.Equal(t, base.API(1).Request.Versions, a.Request.Versions)
	assert.Equal(t, base.API(1).Accepted, a.Accepted)
	assert.Equal(t, "F ReplicaId:int64", a.Request.Layout(17))
	assert.Equal(t, "My own words.", c.Plan(1, 17, Request).Root.Fields[0].Desc.About)
	assert.Equal(t, base.API(1).Request.Layout(15), a.Request.Layout(15))
	assert.Equal(t, base.Plan(1, 15, Request).Root.Fields[0].Desc.About, c.Plan(1, 15, Request).Root.Fields[0].Desc.About)
	assert.Equal(t, int16(1), c.RequestHeaderVersion(1, 11))
	assert.Same(t, base.API(1).Response, a.Response)
	assert.NotEqual(t, a.Request.Layout(17), base.API(1).Request.Layout(17), "base is as it was")
	assert.Equal(t, base.Releases(), c.Releases())

	// The same versions: the definition as it was given.
	m = draft(t, strings.Replace(plan, "99", "0", 1))
	m[0].Name, m[0].Versions = "ProduceRequest", Versions{0, 13}
	c, err = Layer(base, NoKey, m...)
	require.NoError(t, err)
	assert.Same(t, m[0], c.API(0).Request)
}

func TestLayerAddsDefinitions(t *testing.T) {
	c, err := Layer(Default(), NoKey, append(draft(t, plan),
		draft(t, `{"type": "data", "name": "Extra", "validVersions": "0", "flexibleVersions": "none", "fields": [{ "name": "A", "type": "int8", "versions": "0" }]}`)...)...)
	require.NoError(t, err)
	assert.Equal(t, "Plan", c.APIByName("plan").Name)
	assert.Equal(t, "PLAN", c.API(99).LogName)
	assert.Nil(t, c.API(99).Response)
	assert.Nil(t, c.Plan(99, 0, Response))
	assert.Equal(t, "Plan", c.Header(Request, 2).Root.Fields[0].Desc.Names.Name(99))
	require.NotNil(t, c.Data("Extra", 0))
	assert.Nil(t, Default().API(99))
}

// TestLayerOfADraft: a draft without a key shares nothing with the API of its name.
func TestLayerOfADraft(t *testing.T) {
	m := draft(t, `{"apiKey": TBD, "type": "request", "listeners": ["broker"], "name": "StreamsGroupHeartbeatRequest", "validVersions": "0", "flexibleVersions": "0+",
		"fields": [ { "name": "GroupId", "type": "string", "versions": "0+" } ]}`)
	c, err := Layer(Default(), NoKey, m...)
	require.NoError(t, err)
	a := c.APIByName("StreamsGroupHeartbeat")
	require.NotNil(t, a)
	assert.Equal(t, int16(NoKey), a.Key)
	assert.Nil(t, a.Response)
	assert.Equal(t, "F GroupId:string", a.Request.Layout(0))
	assert.Equal(t, "StreamsGroupHeartbeat", c.API(88).Name)
	assert.NotNil(t, c.API(88).Response)
	assert.Same(t, a, c.API(NoKey))
	assert.Same(t, a, c.Plan(NoKey, 0, Request).API)
	assert.Same(t, c.Plan(NoKey, 0, Request), c.PlanOf(a, 0, Request))
	assert.Nil(t, c.PlanOf(a, 0, Response))
	assert.Equal(t, "unassigned", c.Header(Request, 2).Root.Fields[0].Desc.Names.Name(-1))
	assert.Empty(t, Default().Header(Request, 2).Root.Fields[0].Desc.Names.Name(-1))
	assert.Nil(t, Default().API(NoKey))

	c, err = Layer(Default(), 120, m...)
	require.NoError(t, err)
	assert.Equal(t, int16(120), c.APIByName("StreamsGroupHeartbeat").Key)

	c, err = Layer(Default(), 88, m...)
	require.NoError(t, err)
	assert.Equal(t, "F GroupId:string", c.API(88).Request.Layout(0))
	assert.Nil(t, c.API(88).Response, "the final response is another API's")
	assert.Equal(t, int16(88), c.APIByName("StreamsGroupHeartbeat").Key)
}

func TestLayerOfSeveralDrafts(t *testing.T) {
	plans := draft(t, strings.Replace(plan, "99", "TBD", 1))
	others := draft(t, strings.NewReplacer("99", "TBD", "PlanRequest", "OtherRequest").Replace(plan))
	c, err := Layer(Default(), NoKey, append(plans, others...)...)
	require.NoError(t, err)
	assert.Nil(t, c.API(NoKey), "there are two")
	for _, name := range []string{"Plan", "Other"} {
		p := c.PlanOf(c.APIByName(name), 1, Request)
		require.NotNil(t, p)
		assert.Equal(t, name+"Request", p.Name)
	}
	_, err = Layer(Default(), 99, append(plans, others...)...)
	assert.EqualError(t, err, "key 99 cannot be given to both Plan and Other")
	_, err = Layer(Default(), NoKey, append(draft(t, plan), draft(t, strings.Replace(plan, "PlanRequest", "OtherRequest", 1))...)...)
	assert.EqualError(t, err, "key 99 is given to both Plan and Other")
}

// TestLayerOfReferenceDefinitions: a user's texts are shown.
func TestLayerOfReferenceDefinitions(t *testing.T) {
	s, err := ReadSource(corpus.Path(t, "reference", "ConsumerGroupDescribeRequest.json"))
	require.NoError(t, err)
	c, err := Layer(Default(), NoKey, s.Messages...)
	require.NoError(t, err)
	assert.Equal(t, "The ids of the groups to describe.", c.Plan(69, 1, Request).Root.Fields[0].Desc.About)
}

// TestLayerOfJars: with all of a release's definitions on top, every version has the layout of
// the catalogue or, where releases differ, of that release; none is lost.
func TestLayerOfJars(t *testing.T) {
	base := Default()
	for _, s := range jars(t) {
		c, err := Layer(base, NoKey, s.Messages...)
		require.NoError(t, err, s.Name)
		own := make(map[string]*Message) // by key, as names have changed
		for _, m := range s.Messages {
			own[fmt.Sprint(m.Type, m.APIKey)] = m
		}
		for _, a := range base.APIs() {
			for _, d := range []Direction{Request, Response} {
				m := a.Message(d)
				if m == nil {
					continue
				}
				for v := m.Versions.Min; v <= m.Versions.Max; v++ {
					require.NotNil(t, c.Plan(a.Key, v, d), "%s %s v%d", s.Name, m.Name, v)
					if o := own[fmt.Sprint(m.Type, m.APIKey)]; o != nil && o.Versions.Contains(v) {
						m = o
					} else {
						m = a.Message(d)
					}
					assert.Equal(t, m.Layout(v), c.API(a.Key).Message(d).Layout(v), "%s %s v%d", s.Name, m.Name, v)
				}
			}
		}
	}
}
