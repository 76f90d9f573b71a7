package walk_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/corpus"
)

// value parses JSON without losing digits.
func value(t *testing.T, s []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(s))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

func rawTags(t *testing.T, tags []corpus.Tag) map[string][]walk.RawTag {
	m := map[string][]walk.RawTag{}
	for _, x := range tags {
		b, err := hex.DecodeString(x.Hex)
		require.NoError(t, err)
		m[x.Path] = append(m[x.Path], walk.RawTag{Tag: x.Tag, Data: b})
	}
	return m
}

func TestVectorsEncode(t *testing.T) {
	c := schema.Default()
	eachVector(t, func(name string, v vector, frame []byte) {
		p := v.plan(c, frame)
		require.NotNil(t, p, name)
		e := walk.Encoder{Tags: rawTags(t, v.HeaderTags)}
		b, err := e.Body(make([]byte, 4), c.Header(v.direction(), p.HeaderVersion), value(t, v.Header))
		if !assert.NoError(t, err, name) {
			return
		}
		e.Tags = rawTags(t, v.UnknownTags)
		b, err = e.Body(b, p, value(t, v.Body))
		if assert.NoError(t, err, name) {
			assert.Equal(t, hex.EncodeToString(frame[4:]), hex.EncodeToString(b[4:]), name)
		}
	})
}

func TestEncodeErrorsNameTheirPath(t *testing.T) {
	p := schema.Default().Plan(1, 12, schema.Request)
	for _, c := range []struct{ body, want string }{
		{`{"topics":[{"topic":"a","partitions":[{"partition":2147483648}]}]}`, "topics[0].partitions[0].partition: 2147483648 is no integer from -2147483648 to 2147483647"},
		{`{"topics":[{"topic":"a","partitions":[{"partition":1.5}]}]}`, "topics[0].partitions[0].partition: 1.5 is no integer from -2147483648 to 2147483647"},
		{`{"topics":[{"topic":"a","nope":1}]}`, `topics[0]: no field "nope" in this version of FetchTopic`},
		{`{"topics":[{"topic":null}]}`, "topics[0].topic: null, where the schema allows none"},
		{`{"topics":{}}`, "topics: want an array, got an object"},
		{`{"rackId":7}`, "rackId: want a string, got 7"},
		{`[]`, "want an object, got an array"},
	} {
		var e walk.Encoder
		_, err := e.Body(nil, p, value(t, []byte(c.body)))
		assert.EqualError(t, err, c.want)
	}
}

func TestEncodeTakesDefaults(t *testing.T) {
	c := schema.Default()
	p := c.Plan(1, 12, schema.Request)
	var e walk.Encoder
	short, err := e.Body(nil, p, value(t, []byte(`{}`)))
	require.NoError(t, err)
	long, err := e.Body(nil, p, value(t, []byte(`{"clusterId":null,"replicaId":-1,"maxWaitMs":0,"minBytes":0,"maxBytes":2147483647,
		"isolationLevel":0,"sessionId":0,"sessionEpoch":-1,"topics":[],"forgottenTopicsData":[],"rackId":""}`)))
	require.NoError(t, err)
	assert.Equal(t, hex.EncodeToString(long), hex.EncodeToString(short))
	var d walk.Decoder
	assert.True(t, d.Body(short, 0, p, nil).Fits())
}
