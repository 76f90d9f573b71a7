package layout

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
)

func lines(changes []Change) []string {
	out := []string{}
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s %s %s: %s", c.Kind, c.Path, c.Type, c.Text))
	}
	return out
}

func TestDiff(t *testing.T) {
	c := schema.Default()
	for _, x := range []struct {
		api      string
		d        schema.Direction
		from, to int16
		want     []string
	}{
		{"Fetch", schema.Request, 11, 12, []string{
			"changed  : header version 2 instead of 1",
			"changed  : flexible: lengths and counts are uvarints, and each struct ends in tagged fields",
			"added Topics[].Partitions[].LastFetchedEpoch int32: default -1",
			"added ClusterId string: tag 0, nullable, default null",
		}},
		{"Fetch", schema.Request, 12, 13, []string{
			"added Topics[].TopicId uuid: ",
			"removed Topics[].Topic string: ",
			"added ForgottenTopicsData[].TopicId uuid: ",
			"removed ForgottenTopicsData[].Topic string: ",
		}},
		{"Fetch", schema.Response, 12, 12, []string{}},
		{"Metadata", schema.Request, 0, 1, []string{"changed Topics []MetadataRequestTopic: now nullable"}},
		{"Metadata", schema.Request, 1, 2, []string{}},
		{"ConsumerGroupDescribe", schema.Response, 0, 1, []string{"added Groups[].Members[].MemberType int8: default -1"}},
	} {
		a := c.APIByName(x.api)
		from, to := c.Plan(a.Key, x.from, x.d), c.Plan(a.Key, x.to, x.d)
		require.NotNil(t, from)
		require.NotNil(t, to)
		assert.Equal(t, x.want, lines(Diff(from, to)), "%s %s %d..%d", x.api, x.d, x.from, x.to)
	}
}

// Two versions without a difference have the same smallest bytes but for the header, others do not
// both have the same size and bytes without a reason that Diff names.
func TestDiffAgainstBytes(t *testing.T) {
	m := newMaker()
	same, other := 0, 0
	for _, a := range m.Catalogue.APIs() {
		for v := range versions(a.Request) {
			for _, d := range []schema.Direction{schema.Request, schema.Response} {
				from, to := m.Catalogue.Plan(a.Key, v-1, d), m.Catalogue.Plan(a.Key, v, d)
				if from == nil || to == nil {
					continue
				}
				var bodies [2][]byte
				for i, p := range []*schema.Plan{from, to} {
					b, err := m.Encoder.Body(nil, p, SmallestValue(p))
					require.NoError(t, err)
					bodies[i] = b
				}
				changes := Diff(from, to)
				if len(changes) == 0 && magicOf(from) == magicOf(to) {
					same++
					assert.Equal(t, bodies[0], bodies[1], "%s v%d %s", a.Name, v, d)
				} else if string(bodies[0]) != string(bodies[1]) {
					other++
				}
			}
		}
	}
	t.Logf("%d pairs of versions are the same, %d have other bytes", same, other)
	assert.NotZero(t, same)
	assert.NotZero(t, other)
}
