package tree_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

type words map[int64]string

func (w words) Name(v int64) string { return w[v] }

// Descriptions of a little message: a frame of a size, a body of a code, a name, a list and a
// secret.
var (
	message = &tree.Desc{Name: "Ping", Kind: tree.KindMessage}
	frame   = &tree.Desc{Name: "Frame", Kind: tree.KindGroup, About: "framing", Region: tree.RegionFrame}
	size    = &tree.Desc{Name: "size", Type: "int32", Kind: tree.KindInt32}
	body    = &tree.Desc{Name: "Ping", Type: "struct", Kind: tree.KindStruct, About: "message body", Region: tree.RegionRequest}
	code    = &tree.Desc{Name: "ErrorCode", Type: "int16", Kind: tree.KindInt16, Names: words{3: "UNKNOWN_TOPIC_OR_PARTITION"}}
	name    = &tree.Desc{Name: "Name", Type: "string", Kind: tree.KindString, Enc: tree.EncCompact}
	list    = &tree.Desc{Name: "Ids", Type: "[]int32", Kind: tree.KindArray, Enc: tree.EncInt32}
	length  = &tree.Desc{Name: "length", Type: "int32", Kind: tree.KindInt32, Enc: tree.EncInt32, About: "number of elements"}
	element = &tree.Desc{Name: "int32", Type: "int32", Kind: tree.KindInt32}
	secret  = &tree.Desc{Name: "Token", Type: "bytes", Kind: tree.KindBytes, Enc: tree.EncInt32, Secret: true}
	when    = &tree.Desc{Name: "At", Type: "int64", Kind: tree.KindInt64, Time: true}
	crc     = &tree.Desc{Name: "crc", Type: "uint32", Kind: tree.KindUint32}
)

var ping = []byte{
	0, 0, 0, 36,
	0, 3,
	3, 'a', 'b',
	0, 0, 0, 1, 0, 0, 0, 7,
	0, 0, 0, 3, 's', '3', 'c',
	0, 0, 1, 0x8b, 0xcf, 0xe5, 0x68, 0,
	0x12, 0x34, 0x56, 0x78,
	0, 0, 0, 0,
}

func span(off, n int32) tree.Span { return tree.Span{Off: off, Len: n} }

// play gives the events of ping.
func play(s tree.Sink) {
	group := func(d *tree.Desc, off, n int32, e tree.Event, inside func()) {
		e.Desc, e.Span = d, span(off, -1)
		s.Begin(e)
		inside()
		e.Span = span(off, n)
		s.End(e)
	}
	group(message, 0, 40, tree.Event{Aux: 2}, func() {
		group(frame, 0, 4, tree.Event{Aux: -1}, func() {
			s.Leaf(tree.Event{Desc: size, Span: span(0, 4), Value: tree.Value{Num: 36}})
		})
		group(body, 4, 36, tree.Event{Flags: tree.FlagBody, Aux: 2}, func() {
			s.Leaf(tree.Event{Desc: code, Span: span(4, 2), Value: tree.Value{Num: 3}})
			s.Leaf(tree.Event{Desc: name, Span: span(6, 3), Value: tree.Value{Bytes: ping[7:9]}, Aux: 3})
			s.Issue(tree.Issue{Severity: tree.Warning, Code: tree.CodeMalformed, Span: span(6, 3), Text: "odd"})
			group(list, 9, 8, tree.Event{Count: 1, Aux: 1}, func() {
				s.Leaf(tree.Event{Desc: length, Span: span(9, 4), Value: tree.Value{Num: 1}, Flags: tree.FlagStructural})
				s.Leaf(tree.Event{Desc: element, Span: span(13, 4), Value: tree.Value{Num: 7}, Flags: tree.FlagElement})
				s.Issue(tree.Issue{Severity: tree.Info, Code: tree.CodeCount, Span: span(9, 8), Text: "few"})
			})
			s.Leaf(tree.Event{Desc: secret, Span: span(17, 7), Value: tree.Value{Bytes: ping[21:24]}, Aux: 3})
			s.Leaf(tree.Event{Desc: when, Span: span(24, 8), Value: tree.Value{Num: 1700000000000}})
			s.Leaf(tree.Event{Desc: crc, Span: span(32, 4), Value: tree.Value{Num: 0x12345678}, Aux: 0x1234, Flags: tree.FlagChecked})
			s.Leaf(tree.Event{Desc: size, Span: span(36, 0), Flags: tree.FlagComputed})
			s.Leaf(tree.Event{Desc: code, Span: span(36, 4)})
		})
	})
}

func build(t *testing.T) *tree.Tree {
	t.Helper()
	var check tree.TilingSink
	play(&check)
	require.NoError(t, check.Err(len(ping)))
	var b tree.Builder
	b.Reset(ping)
	play(&b)
	return b.Tree()
}

func TestText(t *testing.T) {
	var x tree.Text
	got := string(x.Append(nil, build(t)))
	assert.Equal(t, strings.TrimPrefix(`
Ping message v2 [0x0000, 40B]
+-- Frame [0x0000, 4B] framing
|   +-- size int32 = 36 [0x0000, 4B]
+-- Ping struct [0x0004, 36B] message body
    +-- ErrorCode int16 = 3 (UNKNOWN_TOPIC_OR_PARTITION) [0x0004, 2B]
    +-- Name string = "ab" (compact, len+1=3) [0x0006, 3B]
    |   !! malformed: odd
    +-- Ids []int32 = 1 element [0x0009, 8B]
    |   |   !! count: few
    |   +-- length int32 = 1 (int32, n) [0x0009, 4B] number of elements
    |   +-- int32[0] int32 = 7 [0x000d, 4B]
    +-- Token bytes = <hidden, 3 bytes> (int32 len=3) [0x0011, 7B]
    +-- At int64 = 1700000000000 (2023-11-14T22:13:20Z) [0x0018, 8B]
    +-- crc uint32 = 0x12345678 (BAD, computed 0x00001234) [0x0020, 4B]
    +-- ErrorCode int16 = 0 [0x0024, 4B]
`, "\n"), got)
	x.Secrets = true
	assert.Contains(t, string(x.Append(nil, build(t))), `Token bytes = "s3c"`)
}

// The parts of a line are those of the text.
func TestLine(t *testing.T) {
	tr := build(t)
	x := tree.Text{}
	lines := strings.Split(string(x.Append(nil, tr)), "\n")
	got := make(map[string]tree.Line)
	for i := range tr.Nodes {
		l := x.Line(tr, int32(i))
		got[l.Name] = l
		text := l.Name
		if l.Type != "" {
			text += " " + l.Type
		}
		if l.Value != "" {
			text += " = " + l.Value
		}
		if l.Note != "" {
			text += " (" + l.Note + ")"
		}
		if tr.Nodes[i].Flags&tree.FlagComputed == 0 {
			assert.Contains(t, strings.Join(lines, "\n"), text+" [")
		}
	}
	assert.Equal(t, tree.Line{Name: "Ping", Type: "message v2"}, x.Line(tr, 0))
	assert.Equal(t, tree.Line{Name: "Frame"}, got["Frame"])
	assert.Equal(t, tree.Line{Name: "Name", Type: "string", Value: `"ab"`, Note: "compact, len+1=3"}, got["Name"])
	assert.Equal(t, tree.Line{Name: "int32[0]", Type: "int32", Value: "7"}, got["int32[0]"])
	assert.Equal(t, "<hidden, 3 bytes>", got["Token"].Value)
}

func TestTextCutsLongValues(t *testing.T) {
	long := []byte(strings.Repeat("ü", 100))
	about := &tree.Desc{Name: "X", Type: "string", Kind: tree.KindString, About: strings.Repeat("a", 79)}
	var b tree.Builder
	b.Reset(long)
	b.Leaf(tree.Event{Desc: about, Span: span(0, 200), Value: tree.Value{Bytes: long}})
	var x tree.Text
	got := string(x.Append(nil, b.Tree()))
	assert.Equal(t, `X string = "`+strings.Repeat("ü", 60)+`"... 200B [0x0000, 200B] `+strings.Repeat("a", 75)+"...\n", got)
	x.Full = true
	assert.Contains(t, string(x.Append(nil, b.Tree())), `"`+string(long)+`" [`)
}

func TestTextOfDerivedSource(t *testing.T) {
	packed := &tree.Desc{Name: "records", Type: "bytes", Kind: tree.KindBytes}
	group := &tree.Desc{Name: "Batch", Kind: tree.KindGroup}
	plain := []byte("hello, hello, hello")
	var b tree.Builder
	b.Reset([]byte{1, 2, 3, 4})
	b.Begin(tree.Event{Desc: group, Aux: -1})
	b.Leaf(tree.Event{Desc: packed, Span: span(0, 4), Value: tree.Value{Bytes: []byte{1, 2, 3, 4}}})
	b.Source(1, plain, span(0, 4), "gzip")
	b.Leaf(tree.Event{Desc: name, Span: tree.Span{Source: 1, Off: 7, Len: 5}, Value: tree.Value{Bytes: plain[7:12]}, Aux: 6})
	b.End(tree.Event{Desc: group, Span: span(0, 4), Aux: -1})
	clear(plain) // the tree holds a copy
	var x tree.Text
	assert.Equal(t, strings.TrimPrefix(`
Batch [0x0000, 4B]
+-- records bytes = gzip, 4B -> 19B as #1 [0x0000, 4B]
+-- Name string = "hello" (compact, len+1=6) [#1:0x0007, 5B]
`, "\n"), string(x.Append(nil, b.Tree())))
}

func TestGridMasksSecrets(t *testing.T) {
	var g tree.Grid
	got := string(g.Append(nil, build(t)))
	assert.Equal(t, strings.TrimPrefix(`
0x0000  00 00 00 24 00 03 03 61 62 00 00 00 01 00 00 00  ...$...ab.......
0x0010  07 ** ** ** ** ** ** ** 00 00 01 8b cf e5 68 00  .*******......h.
0x0020  12 34 56 78 00 00 00 00                          .4Vx....
`, "\n"), got)
	g.Secrets = true
	assert.Contains(t, string(g.Append(nil, build(t))), "73 33 63")
	g.Color = true
	regions, _ := g.Map(build(t), 0)
	assert.Equal(t, tree.RegionFrame, regions[3])
	assert.Equal(t, tree.RegionRequest, regions[4])
}

func TestTilingSinkFindsFaults(t *testing.T) {
	leaf := func(off, n int32) tree.Event { return tree.Event{Desc: size, Span: span(off, n)} }
	begin := tree.Event{Desc: frame, Span: span(0, -1)}
	end := tree.Event{Desc: frame, Span: span(0, 4)}
	for _, c := range []struct {
		name string
		play func(tree.Sink)
		want string
	}{
		{"hole", func(s tree.Sink) { s.Begin(begin); s.Leaf(leaf(1, 3)); s.End(end) }, "begins at 1, want 0"},
		{"overlap", func(s tree.Sink) { s.Begin(begin); s.Leaf(leaf(0, 3)); s.Leaf(leaf(2, 2)); s.End(end) }, "begins at 2, want 3"},
		{"short", func(s tree.Sink) {
			s.Begin(begin)
			s.Leaf(leaf(0, 3))
			s.End(tree.Event{Desc: frame, Span: span(0, 3)})
		}, "leaves end at 3"},
		{"open", func(s tree.Sink) { s.Begin(begin); s.Leaf(leaf(0, 4)) }, "not ended"},
		{"end without begin", func(s tree.Sink) { s.End(end) }, "no group is open"},
		{"wrong end", func(s tree.Sink) { s.Begin(begin); s.Leaf(leaf(0, 4)); s.End(tree.Event{Desc: body}) }, "want that of Frame"},
		{"group ends before its leaves", func(s tree.Sink) {
			s.Begin(begin)
			s.Leaf(leaf(0, 4))
			s.End(tree.Event{Desc: frame, Span: span(0, 2)})
		}, "its leaves at 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s tree.TilingSink
			c.play(&s)
			assert.ErrorContains(t, s.Err(4), c.want)
		})
	}
}

func TestBuilderIsReused(t *testing.T) {
	var b tree.Builder
	run := func() { b.Reset(ping); play(&b) }
	run()
	assert.LessOrEqual(t, testing.AllocsPerRun(20, run), 6.0, "the closures of play")
	var x tree.Text
	dst := x.Append(nil, b.Tree())
	assert.LessOrEqual(t, testing.AllocsPerRun(20, func() { dst = x.Append(dst[:0], b.Tree()) }), 4.0, "quoted strings")
}
