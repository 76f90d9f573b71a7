package output

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// words are the error codes of the tests.
type words map[int64]string

func (w words) Name(v int64) string { return w[v] }

var errorWords = words{3: "UNKNOWN_TOPIC_OR_PARTITION", 6: "NOT_LEADER_OR_FOLLOWER", 27: "REBALANCE_IN_PROGRESS"}

func topic(name string) node { return str("name", name).role(schema.RoleTopicName) }
func topicID(id byte) node   { return uuid("topicId", [16]byte{id}).role(schema.RoleTopicID) }
func part(n int64) node      { return i32("partition", n).role(schema.RolePartition) }
func offset(n int64) node    { return i64("offset", n).role(schema.RoleOffset) }
func highWater(n int64) node { return i64("highWatermark", n).role(schema.RoleHighWatermark) }
func errCode(n int64) node {
	return i16("errorCode", n).role(schema.RoleErrorCode).names(errorWords)
}

// batch makes a record batch of magic 2 with the given base offset and count.
func batch(base byte, count byte) string {
	b := make([]byte, 61)
	b[7] = base
	b[11] = 61 - 12
	b[16] = 2
	b[60] = count
	return string(b)
}

// exchangeOf makes an exchange of an API with the bodies of both halves.
func exchangeOf(key int16, name string, request, response []node) (*dissect.Exchange, frames) {
	x := testExchange()
	api := &schema.API{Key: key, Name: name, LogName: strings.ToUpper(name)}
	for _, f := range []*dissect.Frame{x.Request, x.Response} {
		f.APIKey, f.Plan = key, &schema.Plan{API: api, Version: f.Version}
	}
	m := frames{x.Request: message(bodyOf(request...)), x.Response: message(bodyOf(response...))}
	return x, m
}

// newTestSummary returns a summary that takes events from m and knows the name of topic id 1.
func newTestSummary(opt Options, m frames) *Summary {
	s := NewSummary(nil, opt)
	s.facts.visit = visiting(m.walk)
	s.facts.resolve = func(_ *dissect.Exchange, id [16]byte) string {
		if id == [16]byte{1} {
			return "orders"
		}
		return ""
	}
	return s
}

// tail returns the state and the details of x's line.
func tail(t *testing.T, opt Options, x *dissect.Exchange, m frames) string {
	t.Helper()
	s := newTestSummary(opt, m)
	line := string(s.Append(nil, x))
	assert.Equal(t, 1, strings.Count(line, "\n"))
	assert.NotContains(t, line, " \n")
	for _, cut := range []string{" ms  ", " -  "} {
		if _, rest, ok := strings.Cut(line, cut); ok {
			return strings.TrimSuffix(rest, "\n")
		}
	}
	return line
}

func TestSummaryLine(t *testing.T) {
	x, m := exchangeOf(1, "Fetch", nil, nil)
	x.Request.ClientID = []byte("consumer-1\x1b[")
	s := newTestSummary(Options{}, m)
	assert.Equal(t, "22:13:20.123456  127.0.0.1:60270 > :29092            Fetch v12                #7       consumer-1\\x1b[              3.214 ms  ok  no news\n", string(s.Append(nil, x)))
	x.Conn = testConn("[fe80::1]:9092", "[2001:db8::5]:4000")
	assert.Contains(t, string(s.Append(nil, x)), "  [2001:db8::5]:4000 > [fe80::1]:9092  ")
	s.opt.Color = true
	assert.Contains(t, string(s.Append(nil, x)), "\x1b[1mFetch v12")
}

func TestDetails(t *testing.T) {
	acks := func(n int64) node { return i16("acks", n).role(schema.RoleAcks) }
	session := func(id, epoch int64) []node {
		return []node{i32("sessionId", id).role(schema.RoleSessionID), i32("sessionEpoch", epoch).role(schema.RoleSessionEpoch)}
	}
	group := str("groupId", "g1").role(schema.RoleGroupID)
	for _, c := range []struct {
		name              string
		key               int16
		request, response []node
		want              string
	}{
		{"produce", 0,
			[]node{acks(1), list("topics", object("", topic("a"), list("p", object("", part(0), recordSet("records", batch(0, 5)+batch(5, 7))), object("", part(1), recordSet("records", batch(0, 2))))), object("", topic("b"), list("p", object("", part(3), null("records", tree.KindRecords)))))},
			[]node{list("responses", object("", topic("b"), list("p", object("", part(3), errCode(3), offset(-1)))), object("", topic("a"), list("p", object("", part(1), errCode(0), offset(70)), object("", part(0), errCode(0), offset(1234))))), i32("throttle", 15).role(schema.RoleThrottle)},
			"UNKNOWN_TOPIC_OR_PARTITION  throttled 15 ms  acks=1  a[0] @1234 +12 122B [1] @70 +2 61B  b[3] UNKNOWN_TOPIC_OR_PARTITION"},
		{"fetch with a new session, ids", 1,
			append(session(0, 0), list("topics", object("", topicID(1), list("p", object("", part(0), offset(9)), object("", part(1), offset(5)))), object("", topicID(2), list("p", object("", part(0), offset(1)))))),
			[]node{errCode(0), i32("sessionId", 77).role(schema.RoleSessionID), list("responses", object("", topicID(1), list("p", object("", part(0), errCode(0), highWater(60), recordSet("records", batch(9, 50))), object("", part(1), errCode(6), highWater(-1), recordSet("records", "")))), object("", topicID(2), list("p", object("", part(0), errCode(0), highWater(1), recordSet("records", "")))))},
			"NOT_LEADER_OR_FOLLOWER  new session 77  orders[0] @9 +50 61B hw 60 [1] NOT_LEADER_OR_FOLLOWER @5 +0  AgAAAAAAAAAAAAAAAAAAAA[0] @1 +0 hw 1"},
		{"incremental fetch", 1, append(session(77, 4), list("topics")), []node{errCode(0), list("responses")}, "ok  session 77/4  no news"},
		{"closing fetch", 1, append(session(77, -1), list("topics")), []node{errCode(0), list("responses")}, "ok  close session 77  no news"},
		{"full fetch", 1, append(session(0, -1), list("topics")), []node{list("responses")}, "ok  full  no news"},
		{"metadata", 3, []node{list("topics", object("", topic("a")), object("", topic("c")))},
			[]node{list("brokers", object("", i32("n", 1).role(schema.RoleNodeID), str("h", "h1").role(schema.RoleHost)), object("", i32("n", 2).role(schema.RoleNodeID), str("h", "h2").role(schema.RoleHost))),
				list("topics", object("", errCode(0), topic("a"), list("p", object("", errCode(0), part(0)), object("", errCode(0), part(1)))), object("", errCode(3), topic("c"), list("p")))},
			"UNKNOWN_TOPIC_OR_PARTITION  2 brokers  a (2 partitions)  c UNKNOWN_TOPIC_OR_PARTITION"},
		{"metadata by id", 3, []node{list("topics", object("", topicID(7)), object("", topicID(1)))},
			[]node{list("topics", object("", topic("c"), topicID(1), list("p", object("", part(0)))), object("", errCode(3), topicID(7)))},
			"UNKNOWN_TOPIC_OR_PARTITION  BwAAAAAAAAAAAAAAAAAAAA UNKNOWN_TOPIC_OR_PARTITION  c (1 partition)"},
		{"join", 11, []node{group, str("m", "").role(schema.RoleMemberID)}, []node{errCode(27), i32("g", 5).role(schema.RoleGenerationID), str("m", "m-1").role(schema.RoleMemberID), list("members", object("", str("m", "m-2").role(schema.RoleMemberID)))},
			"REBALANCE_IN_PROGRESS  group g1  member m-1  generation 5"},
		{"offset commit", 8, []node{group, list("topics", object("", topic("a"), list("p", object("", part(0), offset(10)), object("", part(1), offset(11)))))},
			[]node{list("topics", object("", topic("a"), list("p", object("", part(0), errCode(0)), object("", part(1), errCode(0)))))},
			"ok  group g1  a[0] @10 [1] @11"},
		{"lists of scalars", 24, []node{str("t", "tx-1").role(schema.RoleTransactionalID), i64("p", 4000).role(schema.RoleProducerID), list("topics", object("", topic("a"), list("p", part(0), part(1), part(7)))), list("names", topic("x"), topic("y"))},
			[]node{errCode(0)}, "ok  txn tx-1  pid 4000  a[0,1,7]  x  y"},
		{"coordinator", 10, []node{str("k", "g1").role(schema.RoleCoordinatorKey)}, []node{errCode(0), i32("n", 2).role(schema.RoleNodeID), str("h", "b2").role(schema.RoleHost), i32("p", 9092).role(schema.RolePort)}, "ok  g1  at 2=b2:9092"},
		{"errors in other places", 20, nil, []node{errCode(3), list("x", object("", errCode(6)), object("", errCode(6)), object("", errCode(99)))}, "UNKNOWN_TOPIC_OR_PARTITION  NOT_LEADER_OR_FOLLOWER x2  error 99"},
		{"sasl", 17, []node{str("m", "PLAIN").role(schema.RoleMechanism)}, []node{errCode(0)}, "ok  PLAIN"},
		{"offsets sought", 2, []node{list("topics", object("", topic("a"), list("p", object("", part(0), i64("t", -1).role(schema.RoleTimestamp).names(words{-1: "latest"})))))},
			[]node{list("topics", object("", topic("a"), list("p", object("", part(0), errCode(0), offset(88)))))}, "ok  a[0] latest @88"},
		{"flat states", 6, []node{list("s", object("", topic("a"), part(0)), object("", topic("a"), part(1)), object("", topic("b"), part(0)))}, []node{errCode(0)}, "ok  a[0,1]  b[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, m := exchangeOf(c.key, "Api", c.request, c.response)
			assert.Equal(t, c.want, tail(t, Options{}, x, m))
		})
	}
}

func TestStates(t *testing.T) {
	x, m := exchangeOf(1, "Fetch", nil, nil)
	response := x.Response
	x.Response, x.State = nil, dissect.Unanswered
	assert.Equal(t, "unanswered  request 14B in packet 10-11", tail(t, Options{}, x, m))
	x.Request, x.Response, x.State = nil, response, dissect.Orphan
	assert.Equal(t, "orphan  response 14B in packet 12", tail(t, Options{}, x, m))
	x, m = exchangeOf(1, "Fetch", nil, nil)
	x.State, x.Response.Bytes = dissect.Interrupted, x.Response.Bytes[:6]
	assert.Equal(t, "interrupted  request 14B in packet 10-11  response 6B of 14B in packet 12", tail(t, Options{}, x, m))
	x, m = exchangeOf(0, "Produce", []node{i16("acks", 0).role(schema.RoleAcks)}, nil)
	x.Response, x.State = nil, dissect.NoResponse
	assert.Equal(t, "sent  acks=0", tail(t, Options{}, x, m))
	x.Request.Kind = dissect.TokenFrame
	line := string(newTestSummary(Options{}, m).Append(nil, x))
	assert.Contains(t, line, "SASL token  ")
	assert.NotContains(t, line, "#7")
}

func TestIssueInSummary(t *testing.T) {
	x, m := exchangeOf(3, "Metadata", nil, nil)
	s := newTestSummary(Options{}, m)
	s.facts.visit = visiting(func(f *dissect.Frame, sink tree.Sink) {
		m.walk(f, sink)
		sink.Issue(tree.Issue{Severity: tree.Info, Code: tree.CodeTrailing})
		sink.Issue(tree.Issue{Severity: tree.Error, Code: tree.CodeMalformed, Text: "count 9 of 2"})
		sink.Issue(tree.Issue{Severity: tree.Error, Code: tree.CodeTruncated})
	})
	assert.Contains(t, string(s.Append(nil, x)), "  malformed  no topics  ! malformed: count 9 of 2\n")
	assert.True(t, s.facts.Failed())
}

func TestElision(t *testing.T) {
	var topics []node
	for range 3 {
		var parts []node
		for p := range 4 {
			parts = append(parts, object("", part(int64(p)), errCode(int64(p/3*6)), offset(1000)))
		}
		topics = append(topics, object("", topic(strings.Repeat("t", len(topics)+1)), list("p", parts...)))
	}
	x, m := exchangeOf(9, "OffsetFetch", nil, []node{list("topics", topics...)})
	assert.Equal(t, "NOT_LEADER_OR_FOLLOWER x3  t[0] @1000 [1] @1000 [2] @1000 [3] NOT_LEADER_OR_FOLLOWER +8 more, 2 of them with errors", tail(t, Options{Width: 60}, x, m))
	assert.Equal(t, "NOT_LEADER_OR_FOLLOWER x3  t[0] @1000 [1] @1000 [2] @1000 [3] NOT_LEADER_OR_FOLLOWER  tt[0] @1000 [1] @1000 [2] @1000 [3] NOT_LEADER_OR_FOLLOWER"+
		"  ttt[0] @1000 [1] @1000 [2] @1000 [3] NOT_LEADER_OR_FOLLOWER", tail(t, Options{Width: 60, Wide: true}, x, m))
}

func TestFacts(t *testing.T) {
	x, m := exchangeOf(9, "OffsetFetch", []node{str("g", "g1").role(schema.RoleGroupID), list("topics", object("", topic("a")), object("", topicID(1)))}, []node{errCode(27), list("groups", str("", "g2").role(schema.RoleGroupID))})
	f := newTestSummary(Options{}, m).facts
	for range 2 {
		f.Collect(x)
		assert.Equal(t, int16(9), f.API().Key)
		var topics []string
		for i := range f.Topics() {
			topics = append(topics, f.TopicName(&f.Topics()[i]))
		}
		assert.Equal(t, []string{"a", "orders"}, topics)
		assert.Equal(t, [][]byte{[]byte("g1"), []byte("g2")}, f.Groups())
		assert.Equal(t, []ErrorCode{{27, 1}}, f.Errors())
		assert.Equal(t, "REBALANCE_IN_PROGRESS", f.ErrorName(27))
		assert.True(t, f.Failed())
	}
	x.Response = nil
	x.State = dissect.NoResponse
	f.Collect(x)
	assert.False(t, f.Failed())
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 999: "999B", 1000: "1.0kB", 12345: "12.3kB", 999999: "999kB", 1e6: "1.0MB", 1 << 62: "4.6EB"} {
		assert.Equal(t, want, string(appendSize(nil, n)))
	}
}

func TestSummaryAllocatesNothing(t *testing.T) {
	x, m := exchangeOf(1, "Fetch", []node{list("topics", object("", topicID(1), list("p", object("", part(0), offset(9)))))},
		[]node{errCode(6), list("responses", object("", topicID(1), list("p", object("", part(0), errCode(6), recordSet("records", batch(9, 50)))), object("", topic("b"), list("p", part(1)))))})
	s := newTestSummary(Options{}, m)
	var b []byte
	assert.Zero(t, testing.AllocsPerRun(100, func() { b = s.Append(b[:0], x) }))
}
