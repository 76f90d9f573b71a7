package schema

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reread writes a catalogue and reads it back.
func reread(t *testing.T, c *Catalogue) *Catalogue {
	t.Helper()
	files, err := c.Files()
	require.NoError(t, err)
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys["c/"+name] = &fstest.MapFile{Data: text}
	}
	back, err := ReadCatalogue(fsys, "c")
	require.NoError(t, err)
	return back
}

func TestNotationReadsBack(t *testing.T) {
	c := Default()
	back := reread(t, c)
	assert.Equal(t, c.releases, back.releases)
	assert.Equal(t, c.apis, back.apis)
	assert.Equal(t, c.data, back.data)
	files, err := back.Files()
	require.NoError(t, err)
	for name, text := range files {
		have, err := catalogFiles.ReadFile("catalog/" + name)
		require.NoError(t, err)
		assert.Equal(t, string(have), string(text))
	}
}

func TestNotationHoldsEverything(t *testing.T) {
	m, err := ParseDefinition("quirks.json", quirks)
	require.NoError(t, err)
	m.eachField(func(_ *Message, _ string, f *FieldDef) { f.About = "" })
	m.Name = "QuirkRequest"
	answer := &Message{Name: "QuirkResponse", Type: TypeResponse, APIKey: 7, Versions: Versions{0, 3}, Flexible: None, Unstable: None}
	answer.Fields = []*FieldDef{
		{Name: "S", Type: "string", Versions: All, Nullable: Versions{2, All.Max}, Tag: 3, Tagged: Versions{1, All.Max}, Default: `a "b" ` + "\n é"},
		{Name: "K", Type: "int8", Versions: All, Nullable: None, Tag: -1, Tagged: None, Default: "7", MapKey: true, Ignorable: true},
	}
	answer.deriveHeaders()
	m.Older = []*Older{{"0.1", &Message{
		Name: "QuirkRequest", Type: TypeRequest, APIKey: 7, Versions: Versions{1, 1}, Flexible: None, Unstable: None,
		Listeners: m.Listeners, Headers: []HeaderRange{{All, 1}},
		Fields: []*FieldDef{{Name: "Old", Type: "[]int64", Versions: All, Nullable: None, Tag: -1, Tagged: None}},
	}}}
	api := &API{Key: 7, Name: "Quirk", LogName: "QUIRK", Listeners: m.Listeners, Request: m, Response: answer}
	api.Accepted = []Accepted{{"0.1", Versions{0, 1}, false}, {"0.2", Versions{0, 1}, false}, {"0.10", Versions{0, 3}, true}}
	c := New([]*API{api}, []*Message{{
		Name: "Piece", Type: TypeMetadata, Group: "pieces", APIKey: 12, Versions: Versions{2, 2}, Flexible: None, Unstable: None,
		Fields: []*FieldDef{{Name: "P", Type: "float64", Versions: Versions{2, 2}, Nullable: None, Tag: -1, Tagged: None}},
	}}, nil)
	c.releases = []string{"0.1", "0.2", "0.3", "0.10"}
	back := reread(t, c)
	assert.Equal(t, c.apis, back.apis)
	assert.Equal(t, c.data, back.data)
	assert.Equal(t, c.releases, back.releases)
	files, err := c.Files()
	require.NoError(t, err)
	assert.Equal(t, []string{"07-Quirk.txt", "pieces.txt", "releases.txt"}, slices.Sorted(maps.Keys(files)))
	assert.Contains(t, string(files["07-Quirk.txt"]), "accepted 0.1..0.2 0-1\naccepted 0.10 0-3 unstable\n")
}

func TestNotationErrors(t *testing.T) {
	for _, test := range []struct {
		name, src, want string
	}{
		{"unknown word", "api 1 A\nrequset 0", `1.txt:2:1: unknown word "requset"`},
		{"key", "api x A", `1.txt:1:1: want a number from 0 to 32767, found "x"`},
		{"too short", "api 1", `1.txt:1:1: the line ends too early`},
		{"left over", "api 1 A b", `1.txt:1:1: "b" is not expected here`},
		{"request without an api", "request 0", `1.txt:1:1: request without an api`},
		{"listeners without an api", "listeners broker", `1.txt:1:1: listeners without an api`},
		{"two requests", "api 1 A\nrequest 0\nrequest 1", `1.txt:3:1: a second request`},
		{"field without a message", "api 1 A\n  F int8 0", `1.txt:2:1: a field without a message`},
		{"odd indentation", "api 1 A\nrequest 0\n   F int8 0", `1.txt:3:1: indented by an odd number of spaces`},
		{"indented too far", "api 1 A\nrequest 0\n    F int8 0", `1.txt:3:1: indented too far`},
		{"versions", "api 1 A\nrequest 0\n\n# note\n  F int8 zero", `1.txt:5:1: want versions, found "zero"`},
		{"field's word", "data D 0\n  F int8 0 hm", `1.txt:2:1: "hm" is not expected here`},
		{"default", "data D 0\n  F int8 0 default 300", `1.txt:2:1: default "300" of int8`},
		{"quote", "data D 0\n  F string 0 default \"a", `1.txt:2:1: a quote is not closed`},
		{"headers", "api 1 A\nrequest 0 headers 0:1", `1.txt:2:1: headers: want VERSIONS=HEADER, found "0:1"`},
		{"older first", "api 1 A\nolder 1.0 request 0", `1.txt:2:1: an older layout without a newer one before it`},
		{"older without an api", "older 1.0 request 0", `1.txt:1:1: request without an api`},
		{"struct first", "struct S 0", `1.txt:1:1: struct without a message`},
		{"release", "api 1 A\naccepted 9.9 0", `1.txt:2:1: the releases are not in releases.txt`},
		{"type", "data D 0\n  F Thing 0", `D: field F: type Thing is not defined`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadCatalogue(fstest.MapFS{"c/1.txt": {Data: []byte(test.src)}}, "c")
			assert.EqualError(t, err, test.want)
		})
	}
}

func FuzzNotation(f *testing.F) {
	for _, name := range []string{"01-Fetch.txt", "cluster-metadata.txt"} {
		src, err := catalogFiles.ReadFile("catalog/" + name)
		require.NoError(f, err)
		f.Add(string(src))
	}
	f.Fuzz(func(t *testing.T, src string) {
		c, err := ReadCatalogue(fstest.MapFS{"c/f.txt": {Data: []byte(src)}}, "c")
		if err != nil {
			return
		}
		for _, a := range c.APIs() {
			c.Plan(a.Key, 0, Request)
		}
	})
}
