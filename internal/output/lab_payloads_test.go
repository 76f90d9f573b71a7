package output

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/corpus"
)

// labLine is a line of JSON output, as far as tests look into it.
type labLine struct {
	RequestHeader *struct {
		RequestAPIKeyName string
		CorrelationID     int64
		ClientID          *string
	}
	Request, Response any
	Connection        string
	Issues            []struct{ Severity, Code, Text, Path string }
}

// jsonLines gives the JSON output of the exchanges of some APIs; numbers are json.Number.
func jsonLines(t *testing.T, file string, apis map[int16]bool, f func(*dissect.Exchange, *labLine)) {
	t.Helper()
	j := NewJSON(nil, Options{Decoder: opener(), Bytes: BytesBase64})
	var line []byte
	exchanges(t, file, func(x *dissect.Exchange) {
		if x.Request == nil || !apis[x.Request.APIKey] {
			return
		}
		line = j.Append(line[:0], x)
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var l labLine
		require.NoError(t, d.Decode(&l))
		f(x, &l)
	})
}

// canonical returns v as JSON with sorted members.
func canonical(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// exact reads JSON without losing digits.
func digits(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

// TestInternalTopics holds the records of Kafka's own topics against Kafka's classes.
func TestInternalTopics(t *testing.T) {
	type internal struct {
		Topic        string
		Partition    int64
		Offset       int64
		RecordType   string
		Key, Value   json.RawMessage
		ValueVersion *int64
	}
	// upper turns GroupMetadataKey into GROUP_METADATA.
	upper := func(name string) string {
		var b strings.Builder
		for i, c := range strings.TrimSuffix(name, "Key") {
			if i > 0 && c >= 'A' && c <= 'Z' {
				b.WriteByte('_')
			}
			b.WriteRune(c)
		}
		return strings.ToUpper(b.String())
	}
	for name, file := range captures(t, "broker", ".internal.ndjson.gz") {
		if strings.HasPrefix(name, "x-") && name != "x-full" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			found := map[recordKey]map[string]any{}
			jsonLines(t, file, map[int16]bool{keyFetch: true}, func(x *dissect.Exchange, l *labLine) {
				for _, topic := range arr(obj(l.Response)["responses"]) {
					name, _ := obj(topic)["topic"].(string)
					if id, ok := obj(topic)["topicId"].(string); ok {
						b, _ := base64.RawURLEncoding.DecodeString(id)
						name, _ = x.TopicName([16]byte(b))
					}
					for _, p := range arr(obj(topic)["partitions"]) {
						for _, b := range arr(obj(p)["records"]) {
							for _, r := range arr(obj(b)["records"]) {
								k := recordKey{topic: name, partition: int32(number(obj(p)["partitionIndex"])), offset: number(obj(r)["offset"])}
								found[k] = obj(r)
							}
						}
					}
				}
			})
			n := 0
			corpus.Lines(t, strings.TrimSuffix(file, ".pcap.gz")+".internal.ndjson.gz", func(line int, w internal) {
				r := found[recordKey{w.Topic, int32(w.Partition), w.Offset}]
				if !assert.NotNil(t, r, "line %d", line) {
					return
				}
				n++
				key := obj(r["keyDecoded"])
				assert.Equal(t, w.RecordType, upper(key["name"].(string)), "line %d", line)
				assert.Equal(t, canonical(t, digits(t, w.Key)), canonical(t, key["body"]), "line %d", line)
				if len(w.Value) == 0 || string(w.Value) == "null" {
					assert.Nil(t, r["value"], "line %d", line)
					return
				}
				value := obj(r["valueDecoded"])
				assert.Equal(t, canonical(t, digits(t, w.Value)), canonical(t, without(value["body"])), "line %d", line)
				assert.Equal(t, *w.ValueVersion, number(value["version"]), "line %d", line)
			})
			assert.Positive(t, n)
			t.Logf("%d records", n)
		})
	}
}

// without returns v without the members that say what bytes hold.
func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, x := range v {
			if !strings.HasSuffix(k, "Decoded") {
				m[k] = without(x)
			}
		}
		return m
	case []any:
		a := make([]any, len(v))
		for i, x := range v {
			a[i] = without(x)
		}
		return a
	}
	return v
}

// TestConsumerProtocol holds subscriptions and assignments against Kafka's classes.
func TestConsumerProtocol(t *testing.T) {
	type embedded struct {
		API, Connection, Field   string
		CorrelationID            int64
		Version                  int64
		Subscription, Assignment json.RawMessage
	}
	groups := map[int16]bool{11: true, 14: true, 15: true}
	for name, file := range captures(t, "broker", ".cprotocol.ndjson.gz") {
		if strings.HasPrefix(name, "x-") && name != "x-full" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			lines := map[string]map[string]any{}
			jsonLines(t, file, groups, func(_ *dissect.Exchange, l *labLine) {
				port := l.Connection[strings.LastIndexByte(l.Connection, ':')+1:]
				lines[fmt.Sprint(port, l.RequestHeader.CorrelationID, l.RequestHeader.RequestAPIKeyName)] =
					map[string]any{"request": l.Request, "response": l.Response}
			})
			n := 0
			corpus.Lines(t, strings.TrimSuffix(file, ".pcap.gz")+".cprotocol.ndjson.gz", func(line int, w embedded) {
				client := strings.Split(w.Connection, "-")[1]
				l := lines[fmt.Sprint(client[strings.LastIndexByte(client, ':')+1:], w.CorrelationID, w.API)]
				if !assert.NotNil(t, l, "line %d", line) {
					return
				}
				decoded := obj(at(l, w.Field+"Decoded"))
				want, what := w.Subscription, "ConsumerProtocolSubscription"
				if len(w.Assignment) > 0 {
					want, what = w.Assignment, "ConsumerProtocolAssignment"
				}
				assert.Equal(t, what, decoded["name"], "line %d %s", line, w.Field)
				assert.Equal(t, w.Version, number(decoded["version"]))
				if body := obj(decoded["body"]); name == "f2-streams-classic" && body["userData"] != nil {
					what := map[bool]string{true: "SubscriptionInfoData", false: "AssignmentInfo"}[len(w.Assignment) == 0]
					assert.Equal(t, what, obj(body["userDataDecoded"])["name"], "line %d", line)
					assert.EqualValues(t, 11, number(obj(obj(body["userDataDecoded"])["body"])["version"]))
				}
				assert.Equal(t, canonical(t, digits(t, want)), canonical(t, without(decoded["body"])), "line %d", line)
				n++
			})
			assert.Positive(t, n)
		})
	}
}

// at follows a path such as request.protocols[0].metadata.
func at(v any, path string) any {
	for _, part := range strings.Split(path, ".") {
		name, index, isIndex := strings.Cut(strings.TrimSuffix(strings.ReplaceAll(part, "]Decoded", "Decoded]"), "]"), "[")
		v = obj(v)[name]
		if isIndex {
			var i int
			_, _ = fmt.Sscan(index, &i)
			list := arr(v)
			if i >= len(list) {
				return nil
			}
			v = list[i]
		}
	}
	return v
}

// TestStreamsTopology holds the topology in a group's record against what the broker answers
// about the group.
func TestStreamsTopology(t *testing.T) {
	file := corpus.Path(t, "captures", "lab", "broker", "f3-streams-topology.pcap.gz")
	topologies := map[string]map[string]any{}
	jsonLines(t, file, map[int16]bool{keyFetch: true}, func(_ *dissect.Exchange, l *labLine) {
		for _, topic := range arr(obj(l.Response)["responses"]) {
			for _, p := range arr(obj(topic)["partitions"]) {
				for _, b := range arr(obj(p)["records"]) {
					for _, r := range arr(obj(b)["records"]) {
						value := obj(obj(r)["valueDecoded"])
						if value["name"] != "StreamsGroupTopologyValue" {
							continue
						}
						group := obj(obj(obj(r)["keyDecoded"])["body"])["groupId"].(string)
						topologies[group] = obj(value["body"])
					}
				}
			}
		}
	})
	require.NotEmpty(t, topologies)
	compared := 0
	jsonLines(t, file, map[int16]bool{89: true}, func(_ *dissect.Exchange, l *labLine) {
		for _, g := range arr(obj(l.Response)["groups"]) {
			record := topologies[obj(g)["groupId"].(string)]
			answer := obj(obj(g)["topology"])
			if record == nil || answer == nil {
				continue
			}
			compared++
			assert.Equal(t, record["epoch"], answer["epoch"])
			have, want := arr(record["subtopologies"]), arr(answer["subtopologies"])
			if !assert.Len(t, have, len(want)) || !assert.NotEmpty(t, want) {
				continue
			}
			for i := range want {
				a, r := obj(want[i]), obj(have[i])
				for _, same := range []string{"subtopologyId", "sourceTopics", "repartitionSinkTopics"} {
					assert.Equal(t, a[same], r[same], same)
				}
				for _, topics := range []string{"stateChangelogTopics", "repartitionSourceTopics"} {
					assert.Equal(t, namesOf(a[topics]), namesOf(r[topics]), topics)
				}
			}
		}
	})
	assert.Positive(t, compared)
}

func namesOf(v any) []any {
	var names []any
	for _, x := range arr(v) {
		names = append(names, obj(x)["name"])
	}
	return names
}

// TestTelemetry looks for the metrics' names and values in every push.
func TestTelemetry(t *testing.T) {
	pushes, logged := 0, 0
	corpus.Lines(t, corpus.Path(t, "captures", "lab", "broker", "m-telemetry.requests.ndjson.gz"), func(_ int, l labLine) {
		if l.RequestHeader.RequestAPIKeyName == "PUSH_TELEMETRY" {
			logged++
		}
	})
	jsonLines(t, corpus.Path(t, "captures", "lab", "broker", "m-telemetry.pcap.gz"), map[int16]bool{72: true}, func(x *dissect.Exchange, l *labLine) {
		request := obj(l.Request)
		if request["metrics"] == "" {
			return
		}
		pushes++
		metrics := obj(request["metricsDecoded"])
		assert.Equal(t, "MetricsData", metrics["name"])
		points := 0
		for _, resource := range arr(obj(metrics["body"])["resourceMetrics"]) {
			for _, scope := range arr(obj(resource)["scopeMetrics"]) {
				for _, m := range arr(obj(scope)["metrics"]) {
					assert.Contains(t, obj(m)["name"], ".")
					for _, kind := range []string{"sum", "gauge"} {
						for _, p := range arr(obj(obj(m)[kind])["dataPoints"]) {
							_, isDouble := obj(p)["asDouble"] // a number or "NaN"
							_, isInt := obj(p)["asInt"].(json.Number)
							assert.True(t, isDouble != isInt, "%v", m)
							points++
						}
					}
				}
			}
		}
		assert.Positive(t, points, "exchange %d", x.Number)
	})
	assert.Equal(t, logged, pushes)
}

// TestEnvelopes holds forwarded requests against the broker's log of them.
func TestEnvelopes(t *testing.T) {
	type logged struct {
		IsForwarded   bool
		RequestHeader struct {
			RequestAPIKeyName string
			RequestAPIKey     json.Number
			CorrelationID     json.Number
			ClientID          *string
		}
		Request, Response json.RawMessage
		Principal         string
	}
	total := 0
	for name, file := range captures(t, "broker", ".requests.ndjson.gz") {
		if !strings.HasPrefix(name, "j") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := map[string]int{}
			corpus.Lines(t, strings.TrimSuffix(file, ".pcap.gz")+".requests.ndjson.gz", func(_ int, l logged) {
				if !l.IsForwarded {
					return
				}
				client := "null"
				if l.RequestHeader.ClientID != nil {
					client = *l.RequestHeader.ClientID
				}
				want[strings.Join([]string{l.RequestHeader.RequestAPIKey.String(), l.RequestHeader.CorrelationID.String(), client,
					canonical(t, digits(t, l.Request)), canonical(t, digits(t, l.Response)), l.Principal}, " ")]++
			})
			n := 0
			const envelope = 58
			jsonLines(t, file, map[int16]bool{envelope: true}, func(x *dissect.Exchange, l *labLine) {
				request, response := obj(l.Request), obj(l.Response)
				if request == nil || response == nil || response["responseData"] == nil {
					return
				}
				n++
				asked, answered := obj(request["requestDataDecoded"]), obj(response["responseDataDecoded"])
				who := obj(obj(request["requestPrincipalDecoded"])["body"])
				h := obj(asked["header"])
				client, isName := h["clientId"].(string)
				if !isName {
					client = "null"
				}
				k := strings.Join([]string{fmt.Sprint(h["requestApiKey"]), fmt.Sprint(h["correlationId"]), client,
					canonical(t, without(asked["body"])), canonical(t, without(answered["body"])), fmt.Sprintf("%v:%v", who["type"], who["name"])}, " ")
				assert.Positive(t, want[k], "exchange %d: %.300s", x.Number, k)
				want[k]--
			})
			total += n
			left := 0
			for k, m := range want {
				if m > 0 {
					left += m
					t.Logf("in the log only: %.200s", k)
				}
			}
			t.Logf("%d envelopes, %d in the log only", n, left)
			assert.Zero(t, left)
		})
	}
	assert.Positive(t, total)
}
