package schema

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShowJSONReadsBack(t *testing.T) {
	c := Default()
	read := func(m *Message, version int16) *Message {
		var b bytes.Buffer
		require.NoError(t, c.ShowJSON(&b, m, version))
		require.True(t, json.Valid(b.Bytes()), m.Name)
		back, err := ParseDefinition(m.Name, b.String())
		require.NoError(t, err, m.Name)
		return back
	}
	eachMessage(c, func(m *Message) {
		want := *m
		want.Group, want.Older, want.Unstable = "", nil, None
		if m.Unstable.Contains(m.Versions.Max) {
			want.Unstable = Versions{m.Versions.Max, m.Versions.Max}
		}
		back := read(m, AllVersions)
		back.eachField(func(_ *Message, _ string, f *FieldDef) { f.About = "" })
		assert.Equal(t, &want, back)
		for v := m.Versions.Min; v <= m.Versions.Max; v++ {
			assert.Equal(t, m.Layout(v), read(m, v).Layout(v), "%s v%d", m.Name, v)
		}
	})
}

// eachMessage calls fn for every definition of the catalogue.
func eachMessage(c *Catalogue, fn func(*Message)) {
	for _, a := range c.APIs() {
		fn(a.Request)
		fn(a.Response)
	}
	for _, m := range c.DataMessages() {
		fn(m)
	}
}
