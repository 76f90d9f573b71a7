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

// plan is a definition without a fault, for texts that have one each.
const plan = `{
  "apiKey": 99,
  "type": "request",
  "listeners": ["broker", "controller"],
  "name": "PlanRequest",
  "validVersions": "0-1",
  "flexibleVersions": "0+",
  "fields": [
    { "name": "Id", "type": "string", "versions": "0+", "about": "The id of it." },
    { "name": "Parts", "type": "[]Part", "versions": "0+",
      "about": "The parts.", "fields": [
      { "name": "Index", "type": "int32", "versions": "0+" },
      { "name": "Leader", "type": "int32", "versions": "1+", "default": "-1" }
    ]},
    { "name": "Tail", "type": "Tail", "versions": "0+" }
  ],
  "commonStructs": [
    { "name": "Tail", "versions": "0+", "fields": [
      { "name": "Kind", "type": "int8", "versions": "0+" }
    ]}
  ]
}
`

// whole describes all of the messages of a draft that decides about bytes.
func whole(d *Draft) string {
	var b strings.Builder
	for _, m := range d.Messages {
		fmt.Fprintf(&b, "%s %s key %d, versions %s, flexible %s, to %s: %s | %s\n",
			m.Type, m.Name, m.APIKey, m.Versions, m.Flexible, m.Listeners, m.Layout(0), m.Layout(1))
	}
	return b.String()
}

func texts(found []Finding) string {
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func TestReadDraftOfASoundDefinition(t *testing.T) {
	for _, src := range []string{plan, "// License\n/* more */\n" + plan + "\n// end\n", "\ufeff" + plan, strings.ReplaceAll(plan, "\n", "\r\n")} {
		d := ReadDraft("f", src)
		assert.Empty(t, texts(d.Findings))
		assert.Equal(t, whole(ReadDraft("f", plan)), whole(d))
	}
	m := ReadDraft("f", plan).Messages[0]
	assert.Equal(t, "F Id:string Parts:[]struct{Index:int32 Leader:int32=-1} Tail:struct{Kind:int8}", m.Layout(1))
}

// TestDraftRepairs has a text for each kind of damage that pasting does. All of them are read as
// the definition was meant, with what was assumed told at its place.
func TestDraftRepairs(t *testing.T) {
	edit := func(pairs ...string) string {
		s := plan
		for i := 0; i < len(pairs); i += 2 {
			require.Contains(t, s, pairs[i])
			s = strings.Replace(s, pairs[i], pairs[i+1], 1)
		}
		return s
	}
	lines := func(prefix func(i int) string) string {
		var b strings.Builder
		for i, line := range strings.Split(strings.TrimSpace(plan), "\n") {
			b.WriteString(prefix(i) + line + "\n")
		}
		return b.String()
	}
	for _, test := range []struct{ name, src, want string }{
		{"missing comma between members", edit(`"name": "Id",`, `"name": "Id"`), `f:9:19: repaired: a comma is missing behind the string "Id"; assumed before the string "type"`},
		{"missing comma between fields", edit(`of it." },`, `of it." }`), `f:9:83: repaired: a comma is missing behind "}"; assumed before { "name": "Parts"`},
		{"trailing comma", edit(`"default": "-1" }`, `"default": "-1", },`), "f:13:77: repaired: a comma before \"}\"; left out\nf:13:80: repaired: a comma before \"]\"; left out"},
		{"comma too many", edit(`of it." },`, `of it." },,`), `f:9:84: repaired: a comma too many; left out`},
		{"semicolon", edit(`"name": "Id",`, `"name": "Id";`), `f:9:19: repaired: ; read as a comma`},
		{"missing colon", edit(`"type": "string"`, `"type" "string"`), `f:9:27: repaired: the colon behind "type" is missing; assumed`},
		{"equals sign", edit(`"type": "string"`, `"type" = "string"`), `f:9:28: repaired: = read as a colon`},
		{"arrow for a colon", edit(`"type": "string"`, `"type" => "string"`), `f:9:28: repaired: => read as a colon`},
		{"newline in a string", edit("The id of it.", "The id\n\t\tof it."), `f:9:73: repaired: a newline inside a string; read as a space`},
		{"tab in a string", edit("The id of it.", "The id\tof it."), `f:9:73: repaired: a tab inside a string; read as a space`},
		{"quotation marks in a string", edit("The id of it.", `The "id" of it.`), "f:9:71: repaired: a quotation mark inside a string; read as part of it\nf:9:74: repaired: a quotation mark inside a string; read as part of it"},
		{"needless escape", edit(`[]Part`, `\[\]Part`), "f:10:33: repaired: \\ in front of what needs none; left out\nf:10:35: repaired: \\ in front of what needs none; left out"},
		{"word without quotation marks", edit(`"versions": "1+"`, `"versions": 1+`), `f:13:56: repaired: "1+" without quotation marks; read as a string`},
		{"array type without quotation marks", edit(`"[]Part"`, `[]Part`), `f:10:32: repaired: "[]Part" without quotation marks; read as a string`},
		{"text without quotation marks", edit(`"The id of it."`, `The id of it.`), `f:9:66: repaired: text without quotation marks; read as the string "The id of it."`},
		{"member name without quotation marks", edit(`"type": "string"`, `type: "string"`), `f:9:21: repaired: "type" without quotation marks; read as a member's name`},
		{"single quotation marks", edit(`"Id"`, `'Id'`), `f:9:15: repaired: ' read as "`},
		{"single quotation marks around an apostrophe", edit(`"The id of it."`, `'The client's id'`), `f:9:66: repaired: ' read as "`},
		{"typographic quotation marks", edit(`"Id"`, `“Id”`), `f:9:15: repaired: “ read as "`},
		{"a typographic mark at the end only", edit(`"Id"`, `"Id”`), `f:9:18: repaired: ” read as "`},
		{"backquotes", edit(`"Id"`, "`Id`"), "f:9:15: repaired: ` read as \""},
		{"HTML quotation marks", edit(`"Id"`, `&quot;Id&quot;`), `f:9:15: repaired: &quot; read as "`},
		{"missing opening quotation mark", edit(`"Id"`, `Id"`), `f:9:15: repaired: the opening quotation mark is missing; assumed here`},
		{"missing closing quotation mark", edit(`"Id"`, `"Id`), `f:9:18: repaired: the closing quotation mark is missing; assumed here`},
		{"missing closing quotation mark at the end of a line", edit(`of it." }`, `of it. }`), `f:9:80: repaired: the closing quotation mark is missing; assumed here`},
		{"missing closing quotation mark of a name", edit(`"name": "Id"`, `"name: "Id"`), `f:9:12: repaired: the closing quotation mark is missing; assumed here`},
		{"missing brace", edit(`"default": "-1" }`, `"default": "-1"`), `f:13:77: repaired: } is missing before "]"; assumed`},
		{"missing brace between fields", edit(`of it." },`, `of it.",`), `f:9:82: repaired: } is missing before "{"; assumed`},
		{"missing bracket", edit("\n    ]},\n    { \"name\": \"Tail\"", "\n    },\n    { \"name\": \"Tail\""), `f:13:79: repaired: ] is missing before "}"; assumed`},
		{"missing brackets at the end", strings.TrimRight(plan, " }]\n"), "f:19:57: repaired: }]}]} is missing at the end of the text; assumed"},
		{"missing opening brace of a field", edit(`{ "name": "Leader"`, `"name": "Leader"`), `f:13:7: repaired: the { before the string "name" is missing; assumed`},
		{"missing opening bracket", edit(`"fields": [
      { "name": "Kind"`, `"fields":
      { "name": "Kind"`), `f:19:7: repaired: the [ in front of the fields is missing; assumed`},
		{"missing opening brace of the definition", plan[strings.Index(plan, `"apiKey"`):], `f:1:1: repaired: the { before the definition is missing; assumed`},
		{"surplus brace", edit(`"default": "-1" }`, `"default": "-1" }}`), `f:13:79: repaired: "}" closes nothing; left out`},
		{"surplus brackets at the end", plan + "]}\n", "f:23:1: repaired: \"]\" behind the end of the definition; left out\nf:23:2: repaired: \"}\" behind the end of the definition; left out"},
		{"closed too early", edit("  ],\n  \"commonStructs\"", "  ]},\n  \"commonStructs\""), `f:16:4: repaired: } before the string "commonStructs" closes the definition too early; left out`},
		{"text around", "Request schema\n\nIt's {new}:\n```json\n" + plan + "```\n\nSee \"below\" for the response, and don't worry.\n",
			"f:1:1: repaired: text in front of the definition; left out\nf:27:1: repaired: text behind the definition; left out"},
		{"hash comment", edit(`of it." },`, "of it.\" }, # new\n"), `f:9:85: repaired: a remark without //; left out`},
		{"arrow remark", edit(`of it." },`, "of it.\" }, <-- new in \"1+\"\n"), `f:9:85: repaired: a remark without //; left out`},
		{"HTML comment", edit(`of it." },`, "of it.\" }, <!-- {new} -->"), `f:9:85: repaired: a comment of HTML; left out`},
		{"HTML tags", edit(`of it." },`, "of it.\" },<br/>"), `f:9:84: repaired: the HTML tag <br/> left out`},
		{"non-breaking spaces", edit(`    { "name": "Id"`, " \u00a0 \u00a0{ \"name\": \"Id\""), `f:9:2: repaired: a non-breaking space between tokens; read as a space`},
		{"HTML space", edit(`"name": "Id"`, `"name":&nbsp;"Id"`), `f:9:14: repaired: a non-breaking space between tokens; read as a space`},
		{"zero-width space", edit(`"name": "Id"`, "\"name\": \u200b\"Id\""), `f:9:15: repaired: a zero-width space between tokens; read as a space`},
		{"zero-width space in a name", edit(`"name": "Id"`, "\"name\": \"Id\u200b\""), `f:9:15: repaired: white space or quotation marks beside "Id"; left out`},
		{"dash in versions", edit(`"0-1"`, `"0–1"`), `f:6:20: repaired: validVersions "0–1" read as "0-1"`},
		{"member name in another case", edit(`"versions": "1+"`, `"Version": "1+"`), `f:13:44: repaired: "Version" read as "versions"`},
		{"about given twice", edit(`"The id of it."`, `"The id of it.", "about": "An id."`), `f:9:83: repaired: "about" is given twice; the second left out`},
		{"no type", edit(`  "type": "request",`+"\n", ""), `f:1:1: repaired: the definition has no type; request by its name`},
		{"diff", lines(func(int) string { return "+" }), `f:1:1: repaired: the + and - of a diff at the start of the lines; left out`},
		{"quoted mail", lines(func(int) string { return "> " }), `f:1:1: repaired: the > of a quotation at the start of the lines; left out`},
		{"listing", lines(func(i int) string { return fmt.Sprintf("%3d ", i+1) }), `f:1:1: repaired: line numbers at the start of the lines; left out`},
		{"struct used beside its definition", strings.Replace(plan[:strings.Index(plan, `  "commonStructs"`)]+"}", `{ "name": "Tail", "type": "Tail", "versions": "0+" }
  ],`, `{ "name": "Tail", "type": "Tail", "versions": "0+", "fields": [ { "name": "Kind", "type": "int8", "versions": "0+" } ] }
  ]`, 1), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := ReadDraft("f", test.src)
			assert.Equal(t, whole(ReadDraft("f", plan)), whole(d))
			assert.Equal(t, test.want, strings.TrimSpace(texts(d.Findings)))
			if len(d.Messages) == 1 && !strings.Contains(test.name, "client") && !strings.Contains(test.name, "apostrophe") {
				assert.Equal(t, "The id of it.", strings.ReplaceAll(d.Messages[0].Fields[0].About, `"`, ""))
			}
		})
	}
}

// TestDraftFaults has what cannot be repaired: a fault with its place and an excerpt, and of the
// fields the sound ones.
func TestDraftFaults(t *testing.T) {
	edit := func(old, with string) string {
		require.Contains(t, plan, old)
		return strings.Replace(plan, old, with, 1)
	}
	const parts = "Parts:[]struct{Index:int32 Leader:int32=-1}"
	const tail = "Tail:struct{Kind:int8}"
	for _, test := range []struct{ name, src, want, sound string }{
		{"dots", edit(`of it." },`, `of it." }, ...`), `f:9:85: error: something is left out here; there: ...ut": "The id of it." }, ...`, "F Id:string " + parts + " " + tail},
		{"ellipsis", edit(`of it." },`, `of it." }, …`), `f:9:85: error: something is left out here`, "F Id:string " + parts + " " + tail},
		{"unknown type", edit(`"type": "string"`, `"type": "String"`), `f:9:29: error: field Id: type String is not defined; did you mean string?; there:`, "F " + parts + " " + tail},
		{"two words for a type", edit(`"type": "string"`, `"type": int32 or so`), `f:9:29: repaired: text without quotation marks; read as the string "int32 or so"`, ""},
		{"Java's array", edit(`"[]Part"`, `"Part[]"`), `f:10:32: error: "Part[]" is no type: want NAME or []NAME; there:`, "F Id:string " + tail},
		{"two versions", edit(`"versions": "1+"`, `"versions": "1+", "versions": "0+"`), `f:13:62: error: "versions" is given twice, as "1+" and "0+"; there:`, "F Id:string Parts:[]struct{Index:int32} " + tail},
		{"no versions", edit(`, "versions": "1+"`, ``), `f:13:7: error: field Leader has no versions; there:`, "F Id:string Parts:[]struct{Index:int32} " + tail},
		{"no value", edit(`"versions": "1+"`, `"versions": `), `f:13:56: error: "versions" has no value, but ","; there:`, "F Id:string Parts:[]struct{Index:int32} " + tail},
		{"struct without fields", edit(`"fields": [
      { "name": "Kind", "type": "int8", "versions": "0+" }
    ]`, `"fields": []`), `f:18:5: error: struct Tail has no fields; there:`, "F Id:string " + parts},
		{"struct not defined", edit(`"name": "Tail", "versions"`, `"name": "Tale", "versions"`), `f:15:31: error: field Tail: type Tail is not defined; there:`, "F Id:string " + parts},
		{"struct in itself", edit(`"type": "int8"`, `"type": "Tail"`), `f:19:33: error: field Kind: struct Tail contains itself; there:`, "F Id:string " + parts},
		{"text cut off", plan[:strings.Index(plan, `{ "name": "Leader"`)], `f:13:7: error: the text ends in the middle of the definition`, "F Id:string Parts:[]struct{Index:int32}"},
		{"text cut off in a string", plan[:strings.Index(plan, `der", "type"`)], `f:13:17: error: the string is not closed; there:`, "F Id:string Parts:[]struct{Index:int32}"},
		{"brackets missing in the middle", edit("    ]},\n", ""), `f:16:3: error: brackets are missing before the string "commonStructs", and where cannot be told; there:`, ""},
		{"brackets missing in the middle, without more", strings.Replace(plan[:strings.Index(plan, "  ],\n  \"common")]+"  ]\n}\n", "    ]},\n", "", 1),
			`f:17:1: error: ]} is missing, and where cannot be told`, ""},
		{"the definition begins before", `apiKey": 1,` + "\n" + plan[strings.Index(plan, `  "type"`):], `f:2:3: error: the definition may begin in front of this; there:`, ""},
		{"comment not closed", edit(`of it." },`, `of it." }, /* new`), `f:9:85: error: the comment is not closed; there:`, "F Id:string"},
		{"validVersions", edit(`"validVersions": "0-1"`, `"validVersions": "TBD"`), `f:6:20: error: validVersions: versions "TBD": want N, N-M, N+ or none; there:`, ""},
		{"validVersions without an end", edit(`"validVersions": "0-1"`, `"validVersions": "0+"`), `f:6:20: error: validVersions 0+ do not end; there:`, "F Id:string Parts:[]struct{Index:int32 Leader:int32=-1} " + tail},
		{"api key", edit("99", "99?"), `f:2:13: error: apiKey is not a number from 0 to 32767; there:`, "F Id:string " + parts + " " + tail},
		{"default", edit(`"default": "-1"`, `"default": "none"`), `f:13:73: error: field Leader: default "none" of int32; there:`, "F Id:string Parts:[]struct{Index:int32 Leader:int32} " + tail},
		{"prose", "Nothing here, but {a: 1}.", `f:1:1: error: no definition is found`, ""},
		{"empty", "", `f:1:1: error: no definition is found`, ""},
		{"a field alone", `{ "name": "Id", "type": "string", "versions": "0+" }`, `f:1:1: error: the definition has no validVersions`, ""},
		{"deep", strings.Repeat(`{"fields":[`, 200), `error: nested more than 100 deep`, ""},
		{"large", strings.Repeat(" ", maxDraft+1), `f:1:1: error: the text is larger than 1 MiB`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := ReadDraft("f", test.src)
			assert.NotZero(t, d.Faults())
			assert.Contains(t, texts(d.Findings), test.want)
			got := ""
			if len(d.Messages) > 0 {
				got = d.Messages[0].Layout(1)
			}
			if test.sound != "" || len(d.Messages) == 0 {
				assert.Equal(t, test.sound, got)
			}
		})
	}
}

// TestDraftRules has a definition for each rule of Kafka's generator.
func TestDraftRules(t *testing.T) {
	const head = `{"apiKey": 1, "type": "data", "name": "M", "validVersions": "0-3", "flexibleVersions": "2+",` + "\n"
	field := func(members string) string {
		return head + ` "fields": [ { "name": "A", ` + members + ` } ] }`
	}
	for _, test := range []struct{ name, src, want string }{
		{"versions outside", field(`"type": "int8", "versions": "4+"`), `f:2:57: warning: field A is never there: its versions 4+ lie outside of 0-3`},
		{"versions partly outside", field(`"type": "int8", "versions": "2-4"`), `f:2:57: warning: the versions 2-4 of field A lie outside of 0-3`},
		{"inner versions outside", field(`"type": "S", "versions": "1", "fields": [{ "name": "B", "type": "int8", "versions": "2+" }]`), `f:2:113: warning: field B is never there: its versions 2+ lie outside of 1`},
		{"null number", field(`"type": "int8", "versions": "0+", "nullableVersions": "0+"`), `f:2:83: rule: field A: int8 cannot be null`},
		{"null outside", field(`"type": "string", "versions": "2+", "nullableVersions": "0-1"`), `f:2:85: warning: field A: its nullableVersions 0-1 lie outside of its versions 2+`},
		{"null as default", field(`"type": "string", "versions": "0+", "nullableVersions": "1+", "default": "null"`), `f:2:102: rule: field A: null is its default, and not all of its versions are nullable`},
		{"tag in versions that are not flexible", field(`"type": "int8", "versions": "0+", "taggedVersions": "1+", "tag": 0`), `f:2:81: rule: field A: taggedVersions 1+ lie outside of the flexible versions 2+`},
		{"tag outside", field(`"type": "int8", "versions": "3+", "taggedVersions": "2+", "tag": 0`), `f:2:81: rule: field A: taggedVersions 2+ lie outside of its versions 3+`},
		{"tag that ends", field(`"type": "int8", "versions": "2+", "taggedVersions": "2-3", "tag": 0`), `f:2:81: rule: field A: taggedVersions 2-3 do not stay open; want N+`},
		{"tag null in part", field(`"type": "string", "versions": "2+", "taggedVersions": "2+", "tag": 0, "nullableVersions": "3+"`), `f:2:119: rule: field A: nullable in 3+, tagged in 2+; want all tagged versions to be nullable, or none`},
		{"tags with a hole", field(`"type": "int8", "versions": "2+", "taggedVersions": "2+", "tag": 1`), `f:2:94: rule: the tags of M are not contiguous: 1 is used, and 0 is not`},
		{"tag twice", field(`"type": "int8", "versions": "2+", "taggedVersions": "2+", "tag": 0 }, { "name": "B", "type": "int8", "versions": "2+", "taggedVersions": "2+", "tag": 0`), `f:2:179: error: A and B of M have the same tag 0; there:`},
		{"tag alone", field(`"type": "int8", "versions": "2+", "tag": 0`), `f:2:14: error: field A has a tag but no taggedVersions; there:`},
		{"name twice", field(`"type": "int8", "versions": "0+" }, { "name": "A", "type": "int8", "versions": "0+"`), `f:2:75: rule: M has two fields named A`},
		{"struct twice", field(`"type": "S", "versions": "0+", "fields": [{ "name": "X", "type": "int8", "versions": "0+" }] }, { "name": "B", "type": "S", "versions": "0+", "fields": [{ "name": "Y", "type": "int16", "versions": "0+" }]`), `f:2:148: rule: struct S is defined twice`},
		{"struct not used", head + ` "fields": [], "commonStructs": [ { "name": "S", "versions": "0+", "fields": [{ "name": "X", "type": "int8", "versions": "0+" }] } ] }`, `f:2:35: warning: struct S is not used`},
		{"fields of a number", field(`"type": "int8", "versions": "0+", "fields": [{ "name": "X", "type": "int8", "versions": "0+" }]`), `f:2:37: error: field A: type int8 has no fields; there:`},
		{"no fields", field(`"type": "S", "versions": "0+", "fields": []`), `f:2:70: error: field A: struct S has no fields; there:`},
		{"map key", field(`"type": "int8", "versions": "0+", "mapKey": true`), `f:2:73: rule: field A: only the elements of arrays have map keys, and M is none`},
		{"zero copy", field(`"type": "string", "versions": "0+", "zeroCopy": true`), `f:2:77: rule: field A: only bytes are zeroCopy`},
		{"flexible number", field(`"type": "int8", "versions": "0+", "flexibleVersions": "none"`), `f:2:83: rule: field A: only strings and bytes have flexibleVersions of their own`},
		{"entity type", field(`"type": "int8", "versions": "0+", "entityType": "groupId"`), `f:2:77: rule: field A: a groupId is of type string`},
		{"unknown entity type", field(`"type": "int8", "versions": "0+", "entityType": "group"`), `f:2:77: warning: field A: unknown entityType "group"`},
		{"unknown member", field(`"type": "int8", "versions": "0+", "comment": "x"`), `f:2:63: rule: unknown member "comment"; left out`},
		{"flexible versions that end", strings.Replace(field(`"type": "int8", "versions": "0+"`), "2+", "2-3", 1), `f:1:88: rule: flexibleVersions 2-3 do not stay open; want none or N+`},
		{"name of a request", strings.Replace(field(`"type": "int8", "versions": "0+"`), "data", "request", 1), `f:1:42: rule: the name of a request ends with Request`},
		{"listener", strings.Replace(field(`"type": "int8", "versions": "0+"`), `"apiKey": 1`, `"apiKey": 1, "listeners": ["brokers"]`, 1), `f:1:28: rule: unknown listener "brokers"`},
		{"records in an array", field(`"type": "[]records", "versions": "0+"`), `f:2:37: error: field A: records form no array; there:`},
		{"comment with dots", field("// ... as in version 1\n" + `"type": "int8", "versions": "0+"`), `f:2:29: warning: the comment may stand for fields that are left out`},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Contains(t, texts(ReadDraft("f", test.src).Findings), test.want)
		})
	}
}

// TestDraftIsNeverReadAsAnother takes away or doubles each punctuation mark of a definition: that
// is repaired, or it is a fault, but never another definition.
func TestDraftIsNeverReadAsAnother(t *testing.T) {
	want := whole(ReadDraft("f", plan))
	repaired, faults := 0, 0
	for i, c := range []byte(plan) {
		if strings.IndexByte(`{}[]:,"`, c) < 0 {
			continue
		}
		for _, src := range []string{plan[:i] + plan[i+1:], plan[:i] + string(c) + plan[i:]} {
			d := ReadDraft("f", src)
			switch {
			case d.Faults() > 0:
				faults++
			default:
				repaired++
				assert.Equal(t, want, whole(d), src)
				assert.NotEmpty(t, d.Findings, src)
			}
		}
	}
	assert.Less(t, faults, 10)
	assert.Greater(t, repaired, 400)
}

// TestDraftWithoutAKey has what people write for a key that is not assigned yet.
func TestDraftWithoutAKey(t *testing.T) {
	for _, key := range []string{`TBD`, `"TBD"`, `“TBD”`, `<TBD>`, `??`, `N/A`, `null`, `"null"`, `None`, `-1`, ``, `TBD (the next free one)`, `TBD /* see KIP */`, `XX`} {
		d := ReadDraft("f", strings.Replace(plan, "99", key, 1))
		require.Len(t, d.Messages, 1, key)
		assert.Equal(t, int16(NoKey), d.Messages[0].APIKey, key)
		assert.Zero(t, d.Faults(), "%s: %s", key, texts(d.Findings))
		assert.NotEmpty(t, d.Findings, key)
	}
	for _, key := range []string{`88 or 89`, `"1x"`, `99999`, `-2`, `[1]`} {
		assert.NotZero(t, ReadDraft("f", strings.Replace(plan, "99", key, 1)).Faults(), key)
	}
	d := ReadDraft("f", strings.Replace(plan, "99", `"99"`, 1))
	assert.Empty(t, d.Findings)
	assert.Equal(t, int16(99), d.Messages[0].APIKey)
}

func TestDraftOfSeveralDefinitions(t *testing.T) {
	response := strings.NewReplacer("PlanRequest", "PlanResponse", `"request"`, `"response"`, `  "listeners": ["broker", "controller"],`+"\n", "").Replace(plan)
	d := ReadDraft("f", "Request\n"+plan+"\nResponse, see { \"name\": \"x\" }:\n"+response+"\nDone.")
	require.Len(t, d.Messages, 2)
	assert.Equal(t, "PlanResponse", d.Messages[1].Name)
	assert.Equal(t, "f:1:1: repaired: text in front of the definition; left out\n"+
		"f:25:1: repaired: text between the definitions; left out\n"+
		"f:25:15: warning: the object is no definition; left out\n"+
		"f:25:30: repaired: text between the definitions; left out\n"+
		"f:48:1: repaired: text behind the definition; left out\n", texts(d.Findings))
}

// TestReferenceDrafts reads drafts as they stand on pages of proposals.
func TestReferenceDrafts(t *testing.T) {
	read := func(t *testing.T, name string) (string, *Draft) {
		src, err := os.ReadFile(corpus.Path(t, "reference", "drafts", name))
		require.NoError(t, err)
		return string(src), ReadDraft(name, string(src))
	}
	for _, test := range []struct {
		name string
		want []string
	}{
		{"StreamsGroupHeartbeatRequest.draft.json", []string{
			`:2:13: repaired: apiKey "TBD" is no number; read as not assigned`,
			`:23:63: repaired: a newline inside a string; read as a space`,
			`:24:133: repaired: a newline inside a string; read as a space`,
			`:56:6: repaired: a comma is missing behind "}"; assumed before { "name": "ActiveTasks"`,
			`:58:2: repaired: a non-breaking space between tokens; read as a space`,
		}},
		{"StreamsGroupDescribeResponse.draft1.json", []string{
			`:2:13: repaired: apiKey "TBD" is no number; read as not assigned`,
			`:91:3: repaired: a non-breaking space between tokens; read as a space`,
		}},
		{"StreamsGroupDescribeResponse.draft2.json", []string{
			`:2:13: repaired: apiKey "TBD" is no number; read as not assigned`,
			`:44:2: repaired: a non-breaking space between tokens; read as a space`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			src, d := read(t, test.name)
			require.Len(t, d.Messages, 1)
			assert.Zero(t, d.Faults())
			assert.Equal(t, int16(-1), d.Messages[0].APIKey)
			n := 0
			d.Messages[0].eachField(func(*Message, string, *FieldDef) { n++ })
			assert.Equal(t, strings.Count(src, `"type"`)-1, n, "each field has a type")
			for _, w := range test.want {
				assert.Contains(t, texts(d.Findings), test.name+w)
			}
		})
	}
	t.Run("garbled", func(t *testing.T) {
		_, d := read(t, "StreamsGroupTopologyValue.garbled.json")
		assert.Equal(t, 6, d.Faults(), texts(d.Findings))
		for _, w := range []string{":24:9: error: field CopartitionGroups has no type", ":25:152: error: a field is an object",
			`:26:11: error: the string "fields" belongs to no field`, `:27:67: error: field StateChangelogTopicsSourceTopics: type []TopicInfoint32 is not defined`} {
			assert.Contains(t, texts(d.Findings), w)
		}
		require.Len(t, d.Messages, 1)
		assert.Equal(t, "F TopologyId:string Topology:[]struct{SubtopologyId:string SourceTopics:[]string SourceTopicRegex:[]string "+
			"StateChangelogTopics:[]struct{Name:string Partitions:int32 TopicConfigs:[]struct?=null{key:string value:string}} "+
			"RepartitionSinkTopics:[]string RepartitionSourceTopics:[]struct{Name:string Partitions:int32 TopicConfigs:[]struct?=null{key:string value:string}}}",
			d.Messages[0].Layout(0))
	})
}

// TestDraftsOfJars: Kafka's own definitions need no repair, and break no rule.
func TestDraftsOfJars(t *testing.T) {
	dir := os.Getenv("KDISSECT_JARS")
	if dir == "" {
		t.Skip("KDISSECT_JARS names no folder with Kafka's jars")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	require.NoError(t, err)
	n := 0
	for _, file := range files {
		drafts, err := ReadDrafts(file)
		require.NoError(t, err)
		for _, d := range drafts {
			n++
			assert.Len(t, d.Messages, 1, d.File)
			for _, f := range d.Findings {
				assert.Equal(t, Warning, f.Severity, f.String())
			}
		}
	}
	assert.Greater(t, n, 100)
}

func FuzzReadDraft(f *testing.F) {
	f.Add(plan)
	f.Add(quirks)
	f.Add("text {\n" + `"name": “X” , fields: [ { name 'A' "type": []int32 versions=0+ ] ... }`)
	f.Fuzz(func(t *testing.T, src string) {
		d := ReadDraft("f", src)
		if len(d.Messages) == 0 && d.Faults() == 0 {
			t.Fatal("want a definition or a fault")
		}
		if len(d.Findings) > maxFindings+maxFaults {
			t.Fatalf("%d findings", len(d.Findings))
		}
		for _, x := range d.Findings {
			if x.Pos.Line < 1 || x.Pos.Col < 1 || strings.ContainsAny(x.Excerpt, "\x1b\n\r") {
				t.Fatalf("%q", x)
			}
		}
		for _, m := range d.Messages {
			if m.Versions.Empty() {
				continue
			}
			if m.Type == TypeRequest || m.Type == TypeResponse {
				m.Type = TypeData
			}
			if New(nil, []*Message{m}, nil).Data(m.Name, m.Versions.Min) == nil {
				t.Fatal("no plan")
			}
		}
	})
}
