package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// quirks has what Kafka's own files have somewhere: comments of both kinds, defaults as numbers,
// bools and the literal null, a tag and an ignorable in quotes, a field without versions, a
// shared struct used in place and in an array, a field with flexible versions of its own.
const quirks = `// a comment
{
  /* another,
     over two lines */
  "apiKey": 7, "type": "request", "listeners": ["broker", "controller"], "name": "QuirkRequest",
  "validVersions": "0-3", "flexibleVersions": "2+", "latestVersionUnstable": true, "deprecatedVersions": "0",
  "fields": [
    { "name": "A", "type": "int32", "versions": "0+", "default": -1, "about": "first // no comment" },
    { "name": "B", "type": "bool", "versions": "1-2", "default": true, "ignorable": "true" },
    { "name": "C", "type": "string", "taggedVersions": "2+", "tag": "0", "nullableVersions": "2+", "default": "null" },
    { "name": "D", "type": "Inner", "versions": "0+", "nullableVersions": "3+", "default": null },
    { "name": "E", "type": "[]Inner", "versions": "0+" },
    { "name": "F", "type": "string", "versions": "1+", "flexibleVersions": "none", "entityType": "topicName" },
    { "name": "G", "type": "[]Own", "versions": "0+", "fields": [
      { "name": "H", "type": "uuid", "versions": "0+", "mapKey": true },
      { "name": "I", "type": "bytes", "versions": "0+", "zeroCopy": true } ]}
  ],
  "commonStructs": [
    { "name": "Inner", "versions": "0+", "fields": [ { "name": "X", "type": "uint16", "versions": "0+", "default": "0x10" } ] }
  ]
}`

func TestParseDefinition(t *testing.T) {
	m, err := ParseDefinition("quirks.json", quirks)
	require.NoError(t, err)
	assert.Equal(t, "QuirkRequest", m.Name)
	assert.Equal(t, int16(7), m.APIKey)
	assert.Equal(t, TypeRequest, m.Type)
	assert.Equal(t, []string{"broker", "controller"}, m.Listeners)
	assert.Equal(t, Versions{3, 3}, m.Unstable)
	assert.Equal(t, int16(1), m.HeaderVersion(1))
	assert.Equal(t, int16(2), m.HeaderVersion(2))
	assert.Equal(t, "first // no comment", m.Fields[0].About)
	assert.Equal(t, "A:int32=-1 D:struct{X:uint16=0x10} E:[]struct{X:uint16=0x10} G:[]struct{H:uuid I:bytes}", m.Layout(0))
	assert.Equal(t, "F A:int32=-1 B:bool=true C:string?@0=null D:struct{X:uint16=0x10} E:[]struct{X:uint16=0x10} "+
		"F:string~ G:[]struct{H:uuid I:bytes}", m.Layout(2))
	assert.True(t, m.Fields[1].Ignorable)
	assert.True(t, m.Fields[6].Fields[0].MapKey)
	assert.True(t, m.Fields[6].Fields[1].ZeroCopy)

	plan := New(nil, []*Message{m}, nil).Data("QuirkRequest", 3)
	assert.Equal(t, "F A:int32 D:struct?{X:uint16} E:[]struct{X:uint16} F:string G:[]struct{H:uuid I:bytes} C:string?@0", wireLayout(plan, false))
	assert.Equal(t, int64(16), plan.Root.Fields[1].Struct.Fields[0].Zero.Num)
	assert.Equal(t, "first // no comment", plan.Root.Fields[0].Desc.About)
	assert.False(t, plan.Root.Fields[3].Compact)
	assert.True(t, plan.Body.Late)
}

func TestParseDefinitionWithoutVersions(t *testing.T) {
	m, err := ParseDefinition("none.json", `{"apiKey": 4, "type": "request", "name": "LeaderAndIsrRequest", "validVersions": "none"}`)
	require.NoError(t, err)
	assert.True(t, m.Versions.Empty())
}

func TestParseDefinitionErrors(t *testing.T) {
	field := func(members string) string {
		return `{"name": "M", "type": "data", "validVersions": "0", "flexibleVersions": "0+", "fields": [` + "\n" + members + `]}`
	}
	for _, test := range []struct {
		name, src, want string
	}{
		{"empty", "", `f:1:1: no definition is found: an object with name, type and validVersions`},
		{"not an object", `[]`, `f:1:1: no definition is found: an object with name, type and validVersions`},
		{"no name", `{"validVersions": "0"}`, `f:1:1: the definition has no name`},
		{"no type", `{"name": "M", "validVersions": "0"}`, `f:1:1: the definition has no type`},
		{"no versions", `{"name": "M", "type": "data"}`, `f:1:1: the definition has no validVersions`},
		{"odd versions", `{"name": "M", "type": "data", "validVersions": "0-x"}`, `f:1:48: validVersions: versions "0-x": want N, N-M, N+ or none`},
		{"unknown type", `{"name": "M", "validVersions": "0", "type": "page"}`, `f:1:45: unknown type "page" of definition`},
		{"api key", `{"name": "M", "type": "data", "validVersions": "0", "apiKey": 99999}`, `f:1:63: apiKey is not a number from 0 to 32767`},
		{"what a draft may have", field(`{"name": "A", "type": "int8", "versions": "0",}`), `f:2:46: a comma before "}"; left out`},
		{"surplus brackets", field(`{"name": "A", "type": "int8", "versions": "0"}`) + " ]}", `f:2:50: "]" behind the end of the definition; left out`},
		{"two definitions", field("") + field(""), `f:1:1: 2 definitions in one text`},
		{"field without a type", field(`{"name": "A", "versions": "0"}`), `f:2:1: field A has no type`},
		{"field without versions", field(`{"name": "A", "type": "int8"}`), `f:2:1: field A has no versions`},
		{"tag alone", field(`{"name": "A", "type": "int8", "versions": "0", "tag": 1}`), `f:2:1: field A has a tag but no taggedVersions`},
		{"taggedVersions alone", field(`{"name": "A", "type": "int8", "versions": "0", "taggedVersions": "0"}`), `f:2:1: field A has taggedVersions but no tag`},
		{"default out of range", field(`{"name": "A", "type": "int8", "versions": "0", "default": "128"}`), `f:2:59: field A: default "128" of int8`},
		{"default null", field(`{"name": "A", "type": "string", "versions": "0", "default": "null"}`), `f:2:61: field A: default null, but no version is nullable`},
		{"unknown field type", field(`{"name": "A", "type": "Thing", "versions": "0"}`), `f:2:23: field A: type Thing is not defined`},
		{"boolean", field(`{"name": "A", "type": "int8", "versions": "0", "mapKey": "maybe"}`), `f:2:58: mapKey is neither true nor false`},
		{"struct in itself", `{"name": "M", "type": "data", "validVersions": "0", "fields": [{"name": "A", "type": "S", "versions": "0"}],
			"commonStructs": [{"name": "S", "versions": "0", "fields": [{"name": "B", "type": "[]S", "versions": "0"}]}]}`,
			`f:1:86: field A: struct S contains itself`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := ParseDefinition("f", test.src)
			assert.EqualError(t, err, test.want)
			assert.Nil(t, m)
			var pos *PosError
			assert.ErrorAs(t, err, &pos)
		})
	}
}

func TestStructsThatMultiply(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"name": "M", "type": "data", "validVersions": "0", "fields": [{"name": "A", "type": "S0", "versions": "0"}], "commonStructs": [`)
	for i := range 40 {
		fmt.Fprintf(&b, `{"name": "S%d", "versions": "0", "fields": [{"name": "A", "type": "S%d", "versions": "0"}, {"name": "B", "type": "S%d", "versions": "0"}]},`, i, i+1, i+1)
	}
	b.WriteString(`{"name": "S40", "versions": "0", "fields": [{"name": "A", "type": "int8", "versions": "0"}]}]}`)
	_, err := ParseDefinition("f", b.String())
	assert.EqualError(t, err, "f:1:1: M: more than 100000 fields")
}

func TestTokenPositions(t *testing.T) {
	src := "{ \"a\\u00e9\" : -1.5e3, // x\n  /* y\n z */ TBD\n\"é\" }"
	lex := &lexer{src: src}
	var got []string
	for {
		tok := lex.next()
		got = append(got, newLines(src).pos(tok.off).String()+" "+tok.text)
		assert.LessOrEqual(t, tok.off, tok.end)
		if tok.kind == tokEnd {
			break
		}
	}
	assert.Equal(t, []string{"1:1 {", "1:3 aé", "1:13 :", "1:15 -1.5e3", "1:21 ,", "3:7 TBD", "4:1 é", "4:5 }", "4:6 "}, got)
	assert.Equal(t, tokEnd, lex.next().kind)
}

func TestReadSource(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "definitions-1.2.3")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "common", "message"), 0o777))
	write := func(name, text string) string {
		path := filepath.Join(dir, "common", "message", name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	file := write("Quirk.json", quirks)
	write("other.json", `{"manifest": true}`)
	write("notes.txt", "none")

	s, err := ReadSource(dir)
	require.NoError(t, err)
	assert.Equal(t, "1.2.3", s.Release)
	require.Len(t, s.Messages, 1)

	s, err = ReadSource(file)
	require.NoError(t, err)
	assert.Empty(t, s.Release)
	assert.Equal(t, "QuirkRequest", s.Messages[0].Name)

	write("broken.json", `{"validVersions": "0", }`)
	_, err = ReadSource(dir)
	assert.ErrorContains(t, err, "broken.json:1:1: the definition has no name")

	_, err = ReadSource(filepath.Join(dir, "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadSourceOfReference(t *testing.T) {
	s, err := ReadSource(corpus.Path(t, "reference", "ConsumerGroupDescribeResponse.json"))
	require.NoError(t, err)
	assert.Equal(t, Default().API(69).Response.Layout(1), s.Messages[0].Layout(1))
}

func FuzzParseDefinition(f *testing.F) {
	f.Add(quirks)
	f.Add(`{"name": "M", "type": "data", "validVersions": "0-32767", "fields": []}`)
	f.Fuzz(func(t *testing.T, src string) {
		m, err := ParseDefinition("f", src)
		if (m == nil) == (err == nil) {
			t.Fatal("want a definition or an error")
		}
		if m == nil || m.Versions.Empty() {
			return
		}
		c := New(nil, []*Message{m}, nil)
		if c.Data(m.Name, m.Versions.Min) == nil {
			t.Fatal("no plan")
		}
	})
}
