package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/tree"
)

// longBody is a body of which the text takes several mebibytes: long values, characters of all
// lengths, bytes that are no text, many elements, and a member that comes late.
func longBody() node {
	runes := strings.Repeat("aé€😀\x01\"\xff\xe2\x82", 40_000)
	kids := []node{str("mixed", runes), raw("blob", strings.Repeat("\x00\xfe", 300_001)), str("continued", strings.Repeat("\x80", 200_000))}
	var elements []node
	for i := range 60_000 {
		elements = append(elements, object("", i32("partitionIndex", int64(i)), str("name", "n"), list("none")))
	}
	kids = append(kids, list("elements", elements...), list("empty"), object("nothing"))
	late := object("late", str("records", runes), i32("leader", 3))
	late.e.Desc.Late = true
	late.kids[0].e.Desc.Order, late.kids[1].e.Desc.Order = 2, 1
	return bodyOf(append(kids, late, str("last", "one"))...)
}

// issueOf is what these tests look at in an issue.
type issueOf struct{ Code, Text string }

// room is a Long of so many bytes.
type room struct {
	text   []byte
	most   int
	spills int
}

func (r *room) Full() bool    { return len(r.text) >= r.most }
func (r *room) Limit() string { return "no room" }

func (r *room) Spill(b []byte, n int) ([]byte, bool) {
	r.spills++
	r.text = append(r.text, b[:n]...)
	return append([]byte(nil), b[n:]...), !r.Full()
}

// TestLongText: a text that is written in pieces is the same as one that is held whole.
func TestLongText(t *testing.T) {
	x := testExchange()
	for name, values := range map[string]BytesForm{"auto": BytesAuto, "hex": BytesHex, "base64": BytesBase64} {
		t.Run(name, func(t *testing.T) {
			m := frames{x.Request: message(longBody()), x.Response: message(longBody())}
			opt := Options{Bytes: values}
			want := lineOf(t, opt, m, x) + "\n"
			var out bytes.Buffer
			j := NewJSON(&out, opt)
			j.walk = m.walk
			for range 2 {
				require.NoError(t, j.Exchange(x))
			}
			require.NoError(t, j.Flush())
			require.True(t, want+want == out.String(), "%d bytes, want %d", out.Len(), 2*len(want))
			assert.Zero(t, j.Limited())
			long := &room{most: 1 << 30}
			opt.Long = long
			j = NewJSON(nil, opt)
			j.walk = m.walk
			got := append(long.text, j.Append(nil, x)...)
			assert.Greater(t, long.spills, 3)
			require.True(t, want == string(append(long.text, got[len(long.text):]...)))
		})
	}
}

// TestLateMembers: an object that is too long to be held keeps its members in the order of the bytes, and
// says so.
func TestLateMembers(t *testing.T) {
	x := testExchange()
	m := frames{x.Request: message(longBody()), x.Response: message(bodyOf())}
	var out bytes.Buffer
	j := NewJSON(&out, Options{Held: 64 << 10})
	j.walk = m.walk
	require.NoError(t, j.Exchange(x))
	require.NoError(t, j.Flush())
	require.True(t, json.Valid(out.Bytes()))
	text := out.String()
	assert.Less(t, strings.Index(text, `"records":`), strings.Index(text, `"leader":3`))
	assert.Contains(t, text[len(text)-600:], `"code":"limit"`)
	assert.Contains(t, text[len(text)-600:], `"path":"request.late"`)
	assert.EqualValues(t, 1, j.Limited())
}

// TestTextAtItsLimit: at any limit the line is valid JSON, holds what fits, and says what does not.
func TestTextAtItsLimit(t *testing.T) {
	x := testExchange()
	m := frames{x.Request: message(longBody()), x.Response: message(longBody())}
	whole := lineOf(t, Options{}, m, x)
	for most := 0; most < len(whole)+(3<<20); most += 3_100_000 {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			long := &room{most: most}
			j := NewJSON(nil, Options{Long: long, Held: 1 << 20})
			j.walk = m.walk
			rest := j.Append(nil, x)
			line := append(long.text, rest...)
			require.True(t, json.Valid(line), "%.300s", line)
			var v struct{ Issues []issueOf }
			require.NoError(t, json.Unmarshal(line, &v))
			if len(line) < len(whole) {
				assert.True(t, slices.ContainsFunc(v.Issues, func(i issueOf) bool {
					return i.Code == "limit" && strings.Contains(i.Text, "no room")
				}), "%+v", v.Issues)
				assert.EqualValues(t, 1, j.Limited())
			}
			assert.Less(t, len(line), most+(3<<20))
		})
	}
}

// TestManyIssues bounds the text of issues.
func TestManyIssues(t *testing.T) {
	x := testExchange()
	var out bytes.Buffer
	j := NewJSON(&out, Options{})
	j.walk = func(f *dissect.Frame, s tree.Sink) {
		message(bodyOf()).give(s)
		for i := 0; f == x.Request && i < 40_000; i++ {
			s.Issue(tree.Issue{Code: tree.CodeChecksum, Text: "crc 0x00000000, computed 0x11111111"})
		}
	}
	require.NoError(t, j.Exchange(x))
	require.NoError(t, j.Flush())
	var v struct{ Issues []issueOf }
	require.NoError(t, json.Unmarshal(out.Bytes(), &v))
	last := v.Issues[len(v.Issues)-1]
	assert.Equal(t, "limit", last.Code)
	assert.Equal(t, fmt.Sprintf("%d more issues are left out", 40_000-(len(v.Issues)-1)), last.Text)
}

// TestLongTree: a tree that is written in pieces is the same as one that is held whole, and one
// that is at its limit says so.
func TestLongTree(t *testing.T) {
	x := testExchange()
	x.Request.Bytes = bytes.Repeat([]byte("aé€\x01\xff\xe2\x82"), 90_000)
	m := frames{x.Request: longFrame(x.Request), x.Response: longFrame(x.Response)}
	opt := Options{Full: true, Hex: true}
	whole := newTestTree(opt, m)
	want := string(whole.Append(nil, x))
	var out bytes.Buffer
	pieces := NewTree(&out, opt)
	pieces.walk, pieces.summary.facts.visit = m.walk, visiting(m.walk)
	require.NoError(t, pieces.Exchange(x))
	require.NoError(t, pieces.Flush())
	require.True(t, want == out.String(), "%d bytes, want %d", out.Len(), len(want))
	assert.Zero(t, pieces.Limited())
	for most := 0; most < len(want)-(2<<20); most += 900_000 {
		long := &room{most: most}
		opt.Long = long
		cut := newTestTree(opt, m)
		rest := cut.Append(nil, x)
		text := string(append(long.text, rest...))
		assert.Contains(t, text, "\n!! limit: no room: what follows of the ")
		assert.True(t, strings.HasSuffix(text, "left out\n\n"))
		assert.EqualValues(t, 1, cut.Limited())
	}
}

// longFrame is a frame whose bytes are one string and then numbers.
func longFrame(f *dissect.Frame) node {
	half := len(f.Bytes) / 2
	text := str("text", string(f.Bytes[:half]))
	text.e.Span.Len = int32(half)
	kids := []node{text}
	for i := half; i+4 <= len(f.Bytes) && i < half+40_000; i += 4 {
		n := i32("n", int64(i))
		n.e.Span = tree.Span{Off: int32(i), Len: 4}
		kids = append(kids, n)
	}
	return message(bodyOf(kids...))
}

// TestLongRecords: a long value is the same in pieces, in every form.
func TestLongRecords(t *testing.T) {
	for name, p := range map[string][]byte{
		"text":   []byte(strings.Repeat("aé€😀\x01\"", 200_000)),
		"bytes":  bytes.Repeat([]byte("a\xff\xe2\x82"), 300_001),
		"json":   []byte(`{"a": "` + strings.Repeat("x", 200_000) + `"}`),
		"schema": append([]byte{0, 0, 0, 0, 1}, bytes.Repeat([]byte(`{}`), 100_000)...),
	} {
		for i, form := range ValueForms {
			var out bytes.Buffer
			r := NewRecords(&out, RecordOptions{})
			rest := r.longJSON(nil, ValueForm(i), p)
			assert.True(t, string(ValueForm(i).appendJSON(nil, p)) == out.String()+string(rest), "%s as %s", name, form)
			out.Reset()
			rest = r.longText(nil, ValueForm(i), p)
			assert.True(t, string(ValueForm(i).appendText(nil, p)) == out.String()+string(rest), "%s as %s, for people", name, form)
		}
	}
}
