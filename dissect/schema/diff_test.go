package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// changes returns the changes of d, one a line.
func changes(d DefinitionDiff) string {
	var b strings.Builder
	for _, c := range d.Changes {
		b.WriteString(c.String() + "\n")
	}
	return strings.TrimSpace(b.String())
}

func TestDiffMessages(t *testing.T) {
	for _, test := range []struct {
		name, old, with, want string
	}{
		{"nothing", "", "", ""},
		{"about", `The id of it.`, `Its id.`, ""},
		{"default of the type", `"versions": "0+", "about"`, `"versions": "0+", "default": "", "about"`, ""},
		{"open end", `"type": "int8", "versions": "0+"`, `"type": "int8", "versions": "0-1"`, ""},
		{"field added", `"type": "int8", "versions": "0+" }`, `"type": "int8", "versions": "0+" }, { "name": "New", "type": "string", "versions": "1+", "nullableVersions": "1+", "taggedVersions": "1+", "tag": 0, "default": "null" }`,
			"added Tail.New: string, versions 1+, tag 0 in 1+, nullable 1+, default null"},
		{"field removed", `      { "name": "Index", "type": "int32", "versions": "0+" },` + "\n", ``, "removed Parts[].Index: int32, versions 0+"},
		{"field renamed between its neighbours", `"name": "Id"`, `"name": "Key"`, "renamed Key: was Id"},
		{"struct renamed with its field", `"name": "Parts", "type": "[]Part"`, `"name": "Pieces", "type": "[]Piece"`, "renamed Pieces: was Parts\nchanged Pieces: type []Piece, was []Part"},
		{"renamed and of another type is another field", `"name": "Id", "type": "string"`, `"name": "Key", "type": "int32"`, "added Key: int32, versions 0+\nremoved Id: string, versions 0+"},
		{"type", `"type": "int8"`, `"type": "int16"`, "changed Tail.Kind: type int16, was int8"},
		{"versions", `"versions": "1+", "default"`, `"versions": "0+", "default"`, "changed Parts[].Leader: versions 0+, was 1+"},
		{"nullable", `"versions": "0+", "about": "The id`, `"versions": "0+", "nullableVersions": "1+", "about": "The id`, "changed Id: nullable 1+, was none"},
		{"default", `"default": "-1"`, `"default": "7"`, "changed Parts[].Leader: default 7, was -1"},
		{"default removed", `, "default": "-1"`, ``, "changed Parts[].Leader: default none, was -1"},
		{"tag", `"type": "int8", "versions": "0+"`, `"type": "int8", "versions": "0+", "taggedVersions": "1+", "tag": 0`, "changed Tail.Kind: tag 0 in 1+, was none"},
		{"valid versions", `"0-1"`, `"0-2"`, "changed the definition: versions 0-2, was 0-1"},
		{"flexible versions", `"flexibleVersions": "0+"`, `"flexibleVersions": "1+"`, "changed the definition: flexible versions 1+, was 0+"},
		{"key", `99`, `TBD`, "changed the definition: apiKey unassigned, was 99"},
		{"listeners", `"broker", "controller"`, `"broker"`, "changed the definition: listeners broker, was broker, controller"},
		{"entity type", `"versions": "0+", "about": "The id`, `"versions": "0+", "entityType": "groupId", "about": "The id`, "changed Id: entity type groupId, was none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, to := draft(t, plan)[0], draft(t, strings.Replace(plan, test.old, test.with, 1))[0]
			assert.Equal(t, test.want, changes(DiffMessages(from, to)))
		})
	}
}

func TestDiffTellsMovedFields(t *testing.T) {
	field := func(names string) *Message {
		var fields []string
		for _, n := range strings.Fields(names) {
			fields = append(fields, `{ "name": "`+n+`", "type": "int8", "versions": "0+" }`)
		}
		return draft(t, `{"type": "data", "name": "M", "validVersions": "0", "flexibleVersions": "none", "fields": [`+strings.Join(fields, ", ")+`]}`)[0]
	}
	assert.Equal(t, "moved D: behind A", changes(DiffMessages(field("A B C D"), field("A D B C"))))
	assert.Equal(t, "moved C: to the start", changes(DiffMessages(field("A B C"), field("C A B"))))
	assert.Empty(t, changes(DiffMessages(field("A B C"), field("A B C"))))
}

func TestDiffVersions(t *testing.T) {
	fetch := Default().API(1)
	assert.Equal(t, "added Topics[].TopicId: uuid\nremoved Topics[].Topic: string\n"+
		"added ForgottenTopicsData[].TopicId: uuid\nremoved ForgottenTopicsData[].Topic: string",
		changes(DiffVersions(fetch.Request, 12, fetch.Request, 13)))
	assert.Equal(t, "changed the definition: header version 2, was 1\nchanged the definition: flexible yes, was no\n"+
		"added ClusterId: string, tag 0, nullable, default null\nadded Topics[].Partitions[].LastFetchedEpoch: int32, default -1",
		changes(DiffVersions(fetch.Request, 11, fetch.Request, 12)))
	assert.Equal(t, "changed Topics: nullable yes, was no", changes(DiffVersions(Default().API(3).Request, 0, Default().API(3).Request, 1)))
}

// TestDiffVersionsAgreesWithLayouts: two versions are different where their layouts are.
func TestDiffVersionsAgreesWithLayouts(t *testing.T) {
	for _, a := range Default().APIs() {
		for _, m := range []*Message{a.Request, a.Response} {
			for v := m.Versions.Min; v < m.Versions.Max; v++ {
				same := m.Layout(v) == m.Layout(v+1) && m.HeaderVersion(v) == m.HeaderVersion(v+1)
				assert.Equal(t, same, len(DiffVersions(m, v, m, v+1).Changes) == 0, "%s %d", m.Name, v)
			}
			assert.Empty(t, DiffMessages(m, m).Changes)
		}
	}
}

func TestDiffSets(t *testing.T) {
	other := strings.NewReplacer("99", "98", "Plan", "Other").Replace(plan)
	renamed := strings.Replace(plan, "PlanRequest", "SchemeRequest", 1)
	from := append(draft(t, plan), draft(t, other)...)
	to := append(draft(t, renamed), draft(t, `{"type": "data", "name": "Extra", "validVersions": "0-3", "flexibleVersions": "2+"}`)...)
	d := &Diff{From: "a", To: "b", Definitions: DiffSets(from, to, false)}
	var b bytes.Buffer
	require.NoError(t, d.WriteText(&b))
	assert.Equal(t, `a to b

OtherRequest (request, key 98) removed: versions 0-1, flexible 0+

SchemeRequest (request, key 99), was PlanRequest

Extra (data) added: versions 0-3, flexible 2+
`, b.String())
	assert.Len(t, DiffSets(from, to, true), 1)

	// A draft without a key is what became of it by its name.
	pairs := Counterparts(draft(t, strings.Replace(plan, "99", "TBD", 1)), from)
	require.Len(t, pairs, 1)
	assert.Equal(t, int16(99), pairs[0][1].APIKey)
	assert.Empty(t, Counterparts(draft(t, plan), draft(t, strings.Replace(plan, "99", "97", 1))), "another API of the name")
}

func TestDiffForms(t *testing.T) {
	d := &Diff{From: "a_b", To: "[c]", Definitions: []DefinitionDiff{
		DiffMessages(draft(t, plan)[0], draft(t, strings.NewReplacer(`"default": "-1"`, `"default": "7"`, `"Id"`, `"Key"`).Replace(plan))[0])}}
	var b bytes.Buffer
	require.NoError(t, d.WriteMarkdown(&b))
	assert.Equal(t, "# a\\_b to \\[c\\]\n\n## PlanRequest (request, key 99)\n\n| field | change | before | after |\n| --- | --- | --- | --- |\n"+
		"| `Key` | renamed | Id | Key |\n| `Parts[].Leader` | default | -1 | 7 |\n", b.String())
	b.Reset()
	require.NoError(t, d.WriteJSON(&b))
	assert.Equal(t, `{"from":"a_b","to":"[c]","definitions":[{"kind":"changed","name":"PlanRequest","type":"request","apiKey":99,"changes":[`+
		`{"kind":"renamed","path":"Key","was":"Id","is":"Key"},{"kind":"changed","path":"Parts[].Leader","what":"default","was":"-1","is":"7"}]}]}`+"\n", b.String())
	var back Diff
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	assert.Equal(t, *d, back)
}

// TestDiffOfReferenceDrafts: what became of drafts, by the definitions that Kafka has.
func TestDiffOfReferenceDrafts(t *testing.T) {
	c := Default()
	for _, test := range []struct {
		file  string
		final *Message
		want  []string
	}{
		{"StreamsGroupHeartbeatRequest.draft.json", c.API(88).Request, []string{
			"changed the definition: apiKey 88, was unassigned",
			"added EndpointInformationEpoch: int32, versions 0+",
			"added Topology.Epoch: int32, versions 0+",
			"removed Topology.TopologyId: string, versions 0+",
			"changed Topology.Subtopologies: type []Subtopology, was []SubtopologyId",
			"changed Topology.Subtopologies[].SourceTopicRegex: nullable none, was 0+",
			"changed Topology.Subtopologies[].SourceTopicRegex: default none, was null",
			"changed Topology.Subtopologies[].CopartitionGroups[].SourceTopics: type []int16, was []int32",
			"changed UserEndpoint.Port: type uint16, was int32",
		}},
		{"StreamsGroupDescribeResponse.draft1.json", c.API(89).Response, []string{
			"changed Groups[].Topology: nullable 0+, was none",
			"added Groups[].AssignorName: string, versions 1+, nullable 1+, default null",
		}},
		{"StreamsGroupDescribeResponse.draft2.json", c.API(89).Response, []string{
			"changed Groups[].Topology: type Topology, was []Subtopology",
			"added Groups[].Members[].IsClassic: bool, versions 0+",
			"removed Groups[].TopologyId: string, versions 0+",
		}},
		{"StreamsGroupTopologyValue.garbled.json", c.DataMessage("StreamsGroupTopologyValue"), []string{
			"renamed Subtopologies: was Topology",
			"added Subtopologies[].CopartitionGroups: []CopartitionGroup, versions 0+",
			"removed TopologyId: string, versions 0+",
		}},
	} {
		src, err := os.ReadFile(corpus.Path(t, "reference", "drafts", test.file))
		require.NoError(t, err)
		d := ReadDraft(test.file, string(src))
		require.Len(t, d.Messages, 1)
		got := changes(DiffMessages(d.Messages[0], test.final))
		for _, w := range test.want {
			assert.Contains(t, "\n"+got+"\n", "\n"+w+"\n", test.file)
		}
	}
}
