package layout

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
)

func TestChanges(t *testing.T) {
	m := newMaker()
	for _, x := range []struct {
		api           string
		d             schema.Direction
		version, from int16
		want          [][]string // titles with their summary, then the changes
	}{
		{"Fetch", schema.Request, 12, 11, [][]string{{
			"Request: v11 to v12, 2 added, 2 changed",
			"changed the definition: header version 2, was 1",
			"changed the definition: flexible yes, was no",
			"added ClusterId: string, tag 0, nullable, default null",
			"added Topics[].Partitions[].LastFetchedEpoch: int32, default -1",
		}}},
		{"Fetch", schema.Response, 13, 12, [][]string{{
			"Response: v12 to v13, 1 added, 1 removed",
			"added Responses[].TopicId: uuid",
			"removed Responses[].Topic: string",
		}}},
		{"Metadata", schema.Request, 2, 1, [][]string{{"Request: v1 to v2, the same layout"}}},
		{"Metadata", schema.Request, 0, -1, nil},
		{"ConsumerGroupDescribe", schema.Response, 0, -1, [][]string{{
			"Response: from the v0 of Kafka 3.7.2 and before, 6 removed",
			"removed Groups[].Members[].Assignment.Error: int8",
			"removed Groups[].Members[].Assignment.MetadataVersion: int32",
			"removed Groups[].Members[].Assignment.MetadataBytes: bytes",
			"removed Groups[].Members[].TargetAssignment.Error: int8",
			"removed Groups[].Members[].TargetAssignment.MetadataVersion: int32",
			"removed Groups[].Members[].TargetAssignment.MetadataBytes: bytes",
		}}},
	} {
		a := m.Catalogue.APIByName(x.api)
		side := Side{Direction: x.d, Message: a.Message(x.d), Plan: m.Catalogue.Plan(a.Key, x.version, x.d)}
		require.NotNil(t, side.Plan)
		var got [][]string
		for _, v := range side.changes(x.from) {
			lines := []string{v.Title + ", " + v.Summary()}
			for _, c := range v.Changes {
				lines = append(lines, c.String())
			}
			got = append(got, lines)
		}
		assert.Equal(t, x.want, got, "%s %s v%d", x.api, x.d, x.version)
	}
}

// Two versions without a difference have the same smallest bytes but for the header, others do not
// both have the same size and bytes without a reason that the changes name.
func TestChangesAgainstBytes(t *testing.T) {
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
				msg := a.Message(d)
				changes := schema.DiffVersions(msg, v-1, msg, v).Changes
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
