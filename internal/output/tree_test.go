package output

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/tree"
)

func newTestTree(opt Options, m frames) *Tree {
	w := NewTree(nil, opt)
	w.walk, w.summary.facts.visit = m.walk, visiting(m.walk)
	return w
}

func TestTree(t *testing.T) {
	x := testExchange()
	m := frames{x.Request: message(bodyOf(i32("timeout", 5))), x.Response: message(bodyOf(i32("throttle", 6)))}
	x.Issues = []tree.Issue{{Code: tree.CodeOutOfOrder, Text: "before #6"}}
	x.Response.Issues = []tree.Issue{{Code: tree.CodeTruncated, Text: "3 bytes"}}
	x.Request.Packets = []dissect.PacketMark{{Off: 0, Packet: 10}, {Off: 5, Packet: 11}}
	got := string(newTestTree(Options{Packets: true}, m).Append(nil, x))
	assert.True(t, strings.HasPrefix(got, "#9  2023-11-14 22:13:20.123456  127.0.0.1:60270 > :29092  Metadata v12  #7  c1  3.214 ms  ok\n"+
		"!! out-of-order: before #6\nrequest in packet 10 [0x0000, 5B], packet 11 [0x0005, 9B]\n"), "%s", got)
	assert.Contains(t, got, "\n!! truncated: 3 bytes\nresponse in packets 12-12\n")
	assert.Contains(t, got, "+-- timeout")
	assert.Less(t, strings.Index(got, "timeout"), strings.Index(got, "throttle"))
	assert.True(t, strings.HasSuffix(got, "\n\n"))
}

func TestTreeHidesRestsThatMayBeSecret(t *testing.T) {
	x := testExchange()
	x.Request.APIKey = keySaslAuthenticate
	x.Request.Plan, x.Response = nil, nil
	x.State = dissect.Unanswered
	copy(x.Request.Bytes[4:], "alice-pass")
	r := rest("alice-pass")
	r.e.Span = tree.Span{Off: 4, Len: 10}
	m := frames{x.Request: group("", tree.KindMessage, r)}
	for _, opt := range []Options{{}, {Hex: true}, {Full: true, Hex: true}} {
		w := newTestTree(opt, m)
		assert.NotContains(t, string(w.Append(nil, x)), "616c696365")
		assert.NotContains(t, string(w.Append(nil, x)), "alice")
	}
}

func TestOffset(t *testing.T) {
	for off, want := range map[int32]string{0: "0000", 5: "0005", 0x10: "0010", 0xabc: "0abc", 0x1000: "1000", 0x123456: "123456"} {
		assert.Equal(t, want, string(appendOffset(nil, off)))
	}
}
