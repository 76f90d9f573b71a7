package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGlossary(t *testing.T) {
	g, err := ParseGlossary("g", "# notes\n\nTopics\tany\nFetch.Topics\tof the API\nFetchRequest.Topics\tof the request\nFetchResponse.PartitionData.Records\tof the struct\n")
	require.NoError(t, err)
	c := Default()
	fetch := c.API(1)
	assert.Equal(t, "of the request", g.About(fetch.Request, "FetchRequest", "Topics"))
	assert.Equal(t, "of the API", g.About(fetch.Response, "FetchResponse", "Topics"))
	assert.Equal(t, "any", g.About(c.API(3).Request, "MetadataRequest", "Topics"))
	assert.Equal(t, "of the struct", g.About(fetch.Response, "PartitionData", "Records"))
	assert.Empty(t, g.About(fetch.Response, "Other", "Records"))

	described := New(c.APIs(), c.DataMessages(), g)
	assert.Equal(t, "of the struct", described.Plan(1, 4, Response).Root.Fields[1].Elem.Struct.Fields[1].Elem.Struct.Fields[5].Desc.About)
	assert.NotContains(t, described.Missing(), "FetchRequest.Topics")
	assert.Contains(t, described.Missing(), "FetchRequest.FetchTopic.TopicId")
	assert.Contains(t, described.Missing(), "ConsumerGroupHeartbeatRequest.Assignor.Reason", "older layouts count")
	assert.NotContains(t, described.Missing(), "RequestHeader.ClientId")
	assert.Equal(t, []string{"Fetch.Topics"}, described.Unused(), "the request's own text hides it")
}

// TestDefaultGlossary: every field of the catalogue has a description, and every description a field.
func TestDefaultGlossary(t *testing.T) {
	assert.Empty(t, Default().Missing(), "fields without a description")
	assert.Empty(t, Default().Unused(), "descriptions that no field takes")
}

func TestGlossaryErrors(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"no tab", "a b", "g:1:1: want a key, a tab and a description"},
		{"no text", "#\na\t", "g:2:1: want a key, a tab and a description"},
		{"twice", "a\tx\na\ty", "g:2:1: a is described twice"},
	} {
		_, err := ParseGlossary("g", test.src)
		assert.EqualError(t, err, test.want, test.name)
	}
}
