package output

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/tree"
)

// lineOf returns the JSON line of x, whose frames have the given events.
func lineOf(t *testing.T, opt Options, m frames, x *dissect.Exchange) string {
	t.Helper()
	j := NewJSON(nil, opt)
	j.walk = m.walk
	line := j.Append(nil, x)
	require.True(t, json.Valid(line), "%s", line)
	require.Equal(t, 1, strings.Count(string(line), "\n"))
	return strings.TrimSuffix(string(line), "\n")
}

func TestLine(t *testing.T) {
	x := testExchange()
	m := frames{
		x.Request:  message(bodyOf(list("topics", object("", str("name", "a\"b"))))),
		x.Response: message(bodyOf(i32("throttleTimeMs", 0), null("clusterId", tree.KindString))),
	}
	const head = `{"requestHeader":{"requestApiKey":3,"requestApiVersion":12,"correlationId":7,"clientId":"c1","requestApiKeyName":"METADATA"},` +
		`"request":{"topics":[{"name":"a\"b"}]},"response":{"throttleTimeMs":0,"clusterId":null},` +
		`"connection":"127.0.0.1:29092-127.0.0.1:60270","totalTimeMs":3.214`
	t.Run("plain", func(t *testing.T) {
		assert.Equal(t, head+`}`, lineOf(t, Options{Plain: true}, m, x))
	})
	t.Run("ours", func(t *testing.T) {
		assert.Equal(t, head+`,"capture":{"exchange":9,"connection":4,"state":"paired",`+
			`"requestTime":"2023-11-14T22:13:20.123456789Z","requestPackets":[10,11],"requestBytes":14,`+
			`"responseTime":"2023-11-14T22:13:20.126456789Z","responsePackets":[12,12],"responseBytes":14},"issues":[]}`,
			lineOf(t, Options{}, m, x))
	})
	t.Run("client and issues", func(t *testing.T) {
		x := *x
		x.Conn = testConn("[fe80::1]:9092", "[2001:db8::5]:4000")
		x.Conn.Software, x.Conn.SoftwareVersion, x.Conn.Principal = "librdkafka", "2.3", "User:alice"
		x.Overtook = true
		x.Issues = []tree.Issue{{Severity: tree.Info, Code: tree.CodeOutOfOrder, Text: "before #6"}}
		x.Response.Issues = []tree.Issue{{Severity: tree.Warning, Code: tree.CodeTruncated, Span: tree.Span{Off: 9}, Text: "gap", Path: "topics[1]"}}
		defer func() { x.Response.Issues = nil }()
		line := lineOf(t, Options{}, m, &x)
		assert.Contains(t, line, `"connection":"fe80::1:9092-2001:db8::5:4000"`)
		assert.Contains(t, line, `,"clientInformation":{"softwareName":"librdkafka","softwareVersion":"2.3"},"principal":"User:alice","capture"`)
		assert.Contains(t, line, `"state":"paired","overtook":true`)
		assert.Contains(t, line, `"issues":[{"severity":"info","code":"out-of-order","text":"before #6","path":""},`+
			`{"severity":"warning","code":"truncated","text":"gap","path":"response.topics[1]","offset":9}]`)
	})
	t.Run("half missing", func(t *testing.T) {
		x := *x
		x.Response, x.State = nil, dissect.Unanswered
		line := lineOf(t, Options{}, m, &x)
		assert.Contains(t, line, `"response":null,`)
		assert.Contains(t, line, `"totalTimeMs":null`)
		assert.NotContains(t, line, "responseTime")
	})
	t.Run("orphan", func(t *testing.T) {
		x := *x
		x.Request, x.State = nil, dissect.Orphan
		m := frames{x.Response: message(rest("secret?"))}
		assert.Contains(t, lineOf(t, Options{}, m, &x), `{"requestHeader":null,"request":null,"response":{"raw":"<hidden, 7 bytes>"},`)
		assert.Contains(t, lineOf(t, Options{ShowSecrets: true}, m, &x), `"response":{"raw":"c2VjcmV0Pw=="},`)
	})
	t.Run("cut", func(t *testing.T) {
		x := *x
		r := *x.Response
		r.Size = 20
		x.Response, x.State = &r, dissect.Interrupted
		m := frames{x.Request: m[x.Request], &r: message(bodyOf(i32("throttleTimeMs", 0)), rest("abc"))}
		line := lineOf(t, Options{}, m, &x)
		assert.Contains(t, line, `"response":{"throttleTimeMs":0},`)
		assert.Contains(t, line, `"responseBytes":24,"responseMissingBytes":10`)
		assert.Contains(t, lineOf(t, Options{Plain: true}, m, &x), `"response":null,`)
	})
}

func TestToken(t *testing.T) {
	x := testExchange()
	x.Request.Kind, x.Response.Kind = dissect.TokenFrame, dissect.TokenFrame
	copy(x.Request.Bytes[4:], "alice-pass")
	lineOf := func(opt Options) string { return string(NewJSON(nil, opt).Append(nil, x)) }
	line := lineOf(Options{})
	assert.Contains(t, line, `{"requestHeader":null,"request":{"saslToken":"<hidden, 10 bytes>"},"response":{"saslToken":"<hidden, 10 bytes>"},`)
	assert.NotContains(t, line, "alice")
	assert.Contains(t, lineOf(Options{ShowSecrets: true}), `"request":{"saslToken":"YWxpY2UtcGFzcw=="}`)
	assert.Contains(t, lineOf(Options{Plain: true, ShowSecrets: true}), `"requestHeader":null,"request":{},"response":{},`)

	copy(x.Request.Bytes[4:], "\x00bob\x00magic")
	line = lineOf(Options{})
	assert.Contains(t, line, `"request":{"saslToken":"<hidden, 10 bytes>","saslTokenDecoded":{"name":"PlainMessage","authzid":"","user":"bob","password":"<hidden, 5 bytes>"}},`)
	assert.NotContains(t, line, "magic")
	assert.Contains(t, lineOf(Options{ShowSecrets: true}), `"password":"bWFnaWM="`)
}

// bodyText returns the JSON of a body's events.
func bodyText(t *testing.T, opt Options, kids ...node) string {
	t.Helper()
	f := NewFragments(opt)
	f.Reset(-1)
	message(bodyOf(kids...)).give(f)
	require.True(t, json.Valid(f.Body()), "%s", f.Body())
	return string(f.Body())
}

func TestBody(t *testing.T) {
	derived := i64("offset", 2)
	derived.e.Desc.Derived, derived.e.Aux = true, 1002
	checked := num("crc", tree.KindUint32, 4294967295)
	checked.e.Flags, checked.e.Aux = tree.FlagChecked, 4294967295
	batch := object("", i64("baseOffset", 5), checked, list("records",
		object("", derived, raw("key", "k\u00e9y"), raw("value", "\xff\x00"), null("none", tree.KindBytes)))).flags(tree.FlagElement)
	zero := [16]byte{}
	for _, c := range []struct {
		name string
		opt  Options
		kids []node
		want string
	}{
		{"empty", Options{}, nil, `{}`},
		{"numbers", Options{}, []node{i16("a", -1), i64("b", math.MinInt64), num("c", tree.KindUint32, math.MaxUint32), num("d", tree.KindBool, 1), num("e", tree.KindBool, 0)},
			`{"a":-1,"b":-9223372036854775808,"c":4294967295,"d":true,"e":false}`},
		{"floats", Options{}, []node{flt("a", 2048), flt("b", math.SmallestNonzeroFloat64), flt("c", math.NaN()), flt("d", math.Inf(-1)), flt("e", math.MaxFloat64)},
			`{"a":2048,"b":5e-324,"c":"NaN","d":"-Infinity","e":1.7976931348623157e+308}`},
		{"texts", Options{}, []node{str("a", "<é>\u2028\x01\t\\"), str("b", "x\xffy"), null("c", tree.KindString), uuid("d", zero), raw("e", "ab"), raw("f", "")},
			"{\"a\":\"<é>\u2028\\u0001\\t\\\\\",\"b\":\"x\uFFFDy\",\"c\":null,\"d\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"e\":\"YWI=\",\"f\":\"\"}"},
		{"arrays", Options{}, []node{list("a"), list("b", i32("", 1), i32("", 2)), nullList("c"), null("d", tree.KindStruct), list("e", object("", i32("x", 1)), object(""))},
			`{"a":[],"b":[1,2],"c":null,"d":null,"e":[{"x":1},{}]}`},
		{"tagged in place", Options{}, []node{i32("a", 1).order(0), i32("c", 3).order(2), tags(tagged(0, object("b", str("t", "x"), str("s", "y"))).at(1), unknown(7, "zz"), tagged(9, i32("d", 4)).at(3))},
			`{"a":1,"b":{"t":"x","s":"y"},"c":3,"d":4}`},
		{"tagged sent backwards", Options{}, []node{i32("c", 3).order(2), tags(tagged(1, i32("b", 2)).at(1), tagged(0, i32("a", 1)).at(0))},
			`{"a":1,"b":2,"c":3}`},
		{"records", Options{}, []node{recordSet("records", "12345", batch)},
			`{"recordsSizeInBytes":5,"records":[{"baseOffset":5,"crc":4294967295,"crcValid":true,"records":[{"offset":1002,"key":"kéy","value":{"base64":"/wA="},"none":null}]}]}`},
		{"records plain", Options{Plain: true}, []node{recordSet("records", "12345", batch)}, `{"recordsSizeInBytes":5}`},
		{"records plain base64", Options{Plain: true, Bytes: BytesBase64}, []node{recordSet("records", "12345", batch)}, `{"records":"MTIzNDU="}`},
		{"records hex", Options{Bytes: BytesHex}, []node{recordSet("x", "", object("", raw("key", "k\xff")))}, `{"xSizeInBytes":0,"x":[{"key":"6bff"}]}`},
		{"records base64", Options{Bytes: BytesBase64}, []node{recordSet("x", "", object("", raw("key", "k")))}, `{"xSizeInBytes":0,"x":[{"key":"aw=="}]}`},
		{"null records", Options{}, []node{null("records", tree.KindRecords)}, `{"records":null}`},
		{"secret", Options{}, []node{raw("authBytes", "hunter22").secret(), str("s", "pw").secret(), i32("n", 1)}, `{"authBytes":"<hidden, 8 bytes>","s":"<hidden, 2 bytes>","n":1}`},
		{"secret shown", Options{ShowSecrets: true}, []node{raw("authBytes", "a").secret()}, `{"authBytes":"YQ=="}`},
		{"keys of users", Options{}, []node{i32("a\"\n", 1), i32("é", 2), i32("", 3)}, `{"a\"\n":1,"é":2}`},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, bodyText(t, c.opt, c.kids...)) })
	}
}

// at gives the field of a tagged group its place in the schema.
func (n node) at(i int32) node {
	n.kids[len(n.kids)-1].e.Desc.Order = i
	return n
}

func flt(key string, v float64) node { return num(key, tree.KindFloat64, int64(math.Float64bits(v))) }

func nullList(key string) node {
	n := list(key)
	n.e.Count = -1
	return n.flags(tree.FlagNull)
}

func TestFragments(t *testing.T) {
	f := NewFragments(Options{})
	for range 2 {
		f.Reset(-1)
		m := message(bodyOf(list("topics", object("", list("partitions", object("", i32("p", 1), tags(unknown(5, "\x01"), unknown(6, ""))))), object("", tags(tagged(1, object("t", tags(unknown(8, "t"))))))), tags(unknown(9, "xy"))))
		m.kids[1].kids = append(m.kids[1].kids, tags(unknown(2, "h")))
		m.give(f)
		f.Issue(tree.Issue{Severity: tree.Warning, Code: tree.CodeNull, Path: "topics[0]"})
		assert.Equal(t, `{"requestApiKey":3,"correlationId":7}`, string(f.Header()))
		assert.Equal(t, `{"topics":[{"partitions":[{"p":1}]},{"t":{}}]}`, string(f.Body()))
		assert.Equal(t, `[{"path":"topics[0].partitions[0]","tag":5,"hex":"01"},{"path":"topics[0].partitions[0]","tag":6,"hex":""},{"path":"topics[1].t","tag":8,"hex":"74"},{"path":"","tag":9,"hex":"7879"}]`, string(f.AppendUnknownTags(nil)))
		assert.Equal(t, `[{"path":"","tag":2,"hex":"68"}]`, string(f.AppendHeaderUnknownTags(nil)))
		assert.Equal(t, `[{"severity":"warning","code":"null","text":"","path":"topics[0]","offset":0}]`, string(f.AppendIssues(nil)))
	}
}

func TestQuotedAgreesWithStandardLibrary(t *testing.T) {
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	for _, s := range []string{"", "plain text of some length", "12345678\"", "1234567\\90", string(all), "é\xc3", "\xed\xa0\x80", "日本語 text \x7f"} {
		for i := range min(len(s), 9) {
			var got string
			require.NoError(t, json.Unmarshal(appendQuoted(nil, []byte(s[i:])), &got))
			std, err := json.Marshal(s[i:])
			require.NoError(t, err)
			var want string
			require.NoError(t, json.Unmarshal(std, &want))
			assert.Equal(t, want, got)
		}
	}
}

func TestMillis(t *testing.T) {
	for ns, want := range map[int64]string{0: "0.000", 499: "0.000", 500: "0.001", 999499: "0.999", 1e6: "1.000", 12345678: "12.346", -1500: "-0.002", 3600e9: "3600000.000"} {
		assert.Equal(t, want, string(appendMillis(nil, ns)))
	}
}

func TestClock(t *testing.T) {
	var c clock
	for ns, want := range map[int64]string{
		0: "1970-01-01T00:00:00.000000000Z", -1: "1969-12-31T23:59:59.999999999Z",
		1700000000123456789: "2023-11-14T22:13:20.123456789Z", 951782400e9: "2000-02-29T00:00:00.000000000Z",
	} {
		assert.Equal(t, want, string(c.appendRFC3339(nil, ns)))
	}
}

func TestJSONAllocatesNothing(t *testing.T) {
	x := testExchange()
	set := recordSet("records", "12345", object("", raw("key", "k")))
	m := frames{x.Request: message(bodyOf(list("topics", object("", str("name", "a"))))), x.Response: message(bodyOf(i32("c", 3).order(2), set, tags(tagged(1, i32("b", 2))), unknown(3, "x")))}
	j := NewJSON(nil, Options{})
	j.walk = m.walk
	var b []byte
	assert.Zero(t, testing.AllocsPerRun(100, func() { b = j.Append(b[:0], x) }))
}
