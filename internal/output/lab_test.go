package output

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// each is a dissect.Handler that is one function.
type each func(*dissect.Exchange)

func (f each) Exchange(x *dissect.Exchange)               { f(x) }
func (f each) Closed(*dissect.Connection, reassembly.End) {}

// exchanges runs a capture through the pipeline.
func exchanges(t testing.TB, path string, f func(*dissect.Exchange)) {
	t.Helper()
	r, err := capture.Open(context.Background(), []string{path}, capture.Options{})
	require.NoError(t, err)
	defer r.Close()
	a := reassembly.New(reassembly.Limits{}, dissect.New(dissect.Options{Handler: each(f)}))
	var s reassembly.Segment
	for {
		err := r.NextSegment(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		a.Advance(s.Time)
		a.Segment(&s)
	}
	a.Flush()
}

func opener() *walk.Decoder { return payload.New(nil, records.Limits{}).Decoder() }

// captures returns the names of the lab's captures that have a file with the suffix beside them,
// each with the capture's path.
func captures(t *testing.T, dir, suffix string) map[string]string {
	t.Helper()
	files := corpus.Files(t, "captures", "lab", dir, "*"+suffix)
	found := map[string]string{}
	for _, f := range files {
		base := strings.TrimSuffix(f, suffix)
		for _, ext := range []string{".pcap.gz", ".pcapng.gz", ".pcap", ".pcapng"} {
			if _, err := os.Stat(base + ext); err == nil {
				found[filepath.Base(base)] = base + ext
				break
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

// kept is a record as a test compares it.
type kept struct {
	Offset  int64
	TS      int64
	Key     string // hex, "null"
	Value   string
	Headers string
	Codec   string
}

func hexOrNull(b []byte, null bool) string {
	if null {
		return "null"
	}
	return hex.EncodeToString(b)
}

func keep(r *Record) kept {
	var h []string
	for _, x := range r.Headers {
		h = append(h, string(x.Key)+"="+hexOrNull(x.Value, x.Null))
	}
	return kept{r.Offset, r.Timestamp, hexOrNull(r.Key, r.NullKey), hexOrNull(r.Value, r.NullValue), strings.Join(h, ","), string(r.Batch.Codec)}
}

// setKey names the record set of a partition in an exchange.
type setKey struct {
	kind      string
	port      uint16
	corr      int32
	topic     string
	partition int32
}

// gatherer collects the records of a capture.
type gatherer struct {
	sets    map[setKey][]kept
	batches map[setKey][]RecordBatch
	each    func(*Record)
	issues  []tree.Issue
}

func (g *gatherer) key(s *RecordSet, topic string) setKey {
	kind := "produce"
	switch {
	case s.Fetched && s.Frame.Plan.API.Key == keyShareFetch:
		kind = "sharefetch"
	case s.Fetched:
		kind = "fetch"
	}
	_, client := ends(s.Exchange.Conn)
	return setKey{kind, client.Port, s.Frame.CorrelationID, topic, s.Partition}
}

func (g *gatherer) Wanted(*RecordSet) bool { return true }
func (g *gatherer) Batch(s *RecordSet, b *RecordBatch) bool {
	if g.batches != nil {
		k := g.key(s, labTopic(s))
		g.batches[k] = append(g.batches[k], *b)
	}
	return true
}
func (g *gatherer) Record(r *Record) {
	if g.each != nil {
		g.each(r)
	}
	if g.sets != nil {
		k := g.key(r.Set, labTopic(r.Set))
		g.sets[k] = append(g.sets[k], keep(r))
	}
}
func (g *gatherer) Issue(_ *RecordSet, i tree.Issue) { g.issues = append(g.issues, i) }

// labTopic is the topic as the lab's record files name it: by id where that was sent.
func labTopic(s *RecordSet) string {
	if s.TopicID != [16]byte{} {
		return base64.RawURLEncoding.EncodeToString(s.TopicID[:])
	}
	return s.Topic
}

// TestRecordsOfClients holds records against an independent decoder.
func TestRecordsOfClients(t *testing.T) {
	type header [2]*string
	type record struct {
		Offset      int64
		TS          int64
		Key, Value  *string
		ValueLen    *int
		ValueSha256 string
		Headers     []header
	}
	type line struct {
		Kind       string
		ClientPort uint16
		Corr       int32
		Topic      string
		TopicID    *string `json:"topicId"`
		Partition  int32
		Batches    []struct {
			Magic                         int8
			BaseOffset                    int64
			Codec                         string
			Control, Transactional, CRCOk bool
			ProducerID                    int64
			ProducerEpoch                 int16
			BaseSequence                  int32
			Records                       []record
		}
	}
	total := 0
	for name, file := range captures(t, "clients", ".records.ndjson.gz") {
		if strings.Contains(name, "tls") {
			continue // encrypted
		}
		t.Run(name, func(t *testing.T) {
			g := &gatherer{sets: map[setKey][]kept{}, batches: map[setKey][]RecordBatch{}}
			r := NewRecordReader(opener(), g, false, false)
			exchanges(t, file, r.Exchange)
			seen := map[setKey]bool{}
			base := strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), filepath.Ext(strings.TrimSuffix(file, ".gz")))
			corpus.Lines(t, base+".records.ndjson.gz", func(n int, l line) {
				k := setKey{l.Kind, l.ClientPort, l.Corr, l.Topic, l.Partition}
				if l.TopicID != nil {
					k.topic = id64(t, *l.TopicID)
				}
				seen[k] = true
				var want []kept
				batches := g.batches[k]
				if !assert.Len(t, batches, len(l.Batches), "%v", k) {
					return
				}
				for i, b := range l.Batches {
					have := batches[i]
					assert.Equal(t, b.Magic, have.Magic)
					assert.Equal(t, b.CRCOk, have.CRCValid)
					assert.Equal(t, b.Control, have.Control)
					assert.Equal(t, b.Transactional, have.Transactional)
					if b.Magic == 2 {
						assert.Equal(t, [2]int64{b.BaseOffset, b.ProducerID}, [2]int64{have.BaseOffset, have.ProducerID})
						assert.Equal(t, b.BaseSequence, have.BaseSequence)
						assert.Equal(t, b.ProducerEpoch, have.ProducerEpoch)
					}
					for _, r := range b.Records {
						w := kept{Offset: r.Offset, TS: r.TS, Key: orNull(r.Key), Value: orNull(r.Value), Codec: b.Codec}
						if r.ValueLen != nil {
							w.Value = fmt.Sprintf("%d bytes %s", *r.ValueLen, r.ValueSha256)
						}
						var hs []string
						for _, h := range r.Headers {
							hs = append(hs, *h[0]+"="+orNull(h[1]))
						}
						w.Headers = strings.Join(hs, ",")
						want = append(want, w)
					}
				}
				have := append([]kept(nil), g.sets[k]...)
				for i := range have {
					if i < len(want) && strings.Contains(want[i].Value, " bytes ") {
						raw, _ := hex.DecodeString(have[i].Value)
						have[i].Value = fmt.Sprintf("%d bytes %x", len(raw), sha256.Sum256(raw))
					}
					if l.Kind == "produce" { // there, offsets count from 0; here they are the answer's
						have[i].Offset = 0
						want[min(i, len(want)-1)].Offset = 0
						if i < len(want) && have[i].TS != want[i].TS { // log append time from the answer
							have[i].TS = want[i].TS
						}
					}
				}
				assert.Equal(t, want, have, "%v", k)
				total += len(want)
			})
			for k := range g.sets {
				assert.True(t, seen[k], "not in the list: %v", k)
			}
		})
	}
	t.Logf("%d records", total)
}

func orNull(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// id64 returns a topic id in Kafka's form, whichever it was written in.
func id64(t *testing.T, s string) string {
	t.Helper()
	if len(s) == 22 {
		return s
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	require.NoError(t, err)
	return base64.RawURLEncoding.EncodeToString(b)
}

// event is a record as the client program saw it.
type event struct {
	Ev, ClientID, Codec, Topic string
	Partition                  int32
	Offset, Timestamp          int64
	Key, Value                 *string
	ValueLen                   *int
	ValueSha256                string
	Headers                    [][2]*string
}

func (e *event) content(t *testing.T) string {
	t.Helper()
	part := func(s *string) string {
		if s == nil {
			return "null"
		}
		b, err := base64.StdEncoding.DecodeString(*s)
		require.NoError(t, err)
		return hex.EncodeToString(b)
	}
	value := ""
	if e.ValueLen != nil {
		value = fmt.Sprintf("%d bytes %s", *e.ValueLen, e.ValueSha256)
	} else {
		value = part(e.Value)
	}
	var hs []string
	for _, h := range e.Headers {
		hs = append(hs, *h[0]+"="+part(h[1]))
	}
	return part(e.Key) + " " + value + " " + strings.Join(hs, ",")
}

type recordKey struct {
	topic     string
	partition int32
	offset    int64
}

// TestRecordsOfEvents holds records against what client programs sent and received.
func TestRecordsOfEvents(t *testing.T) {
	for name, file := range captures(t, "broker", ".events.ndjson.gz") {
		if strings.HasPrefix(name, "i-tls") || strings.HasPrefix(name, "x-drop") || strings.HasPrefix(name, "x-snap") {
			continue // encrypted, or with loss
		}
		t.Run(name, func(t *testing.T) {
			type found struct {
				content, long, codec string
				ts                   int64
			}
			have := map[bool]map[recordKey][]found{true: {}, false: {}}
			loose := map[string]int{} // produced without an offset
			g := &gatherer{each: func(r *Record) {
				k := keep(r)
				topic := r.Set.Topic
				if topic == "" && name == "x-midstream" {
					topic = "busy.karma-shipments_323"
				}
				f := found{content: k.Key + " " + k.Value + " " + k.Headers, codec: k.Codec, ts: k.TS}
				f.long = fmt.Sprintf("%s %d bytes %x %s", k.Key, len(r.Value), sha256.Sum256(r.Value), k.Headers)
				if !r.Set.Fetched && k.Offset < 0 {
					loose[fmt.Sprint(topic, r.Set.Partition, f.content)]++
					loose[fmt.Sprint(topic, r.Set.Partition, f.long)]++
					return
				}
				at := recordKey{topic, r.Set.Partition, k.Offset}
				have[r.Set.Fetched][at] = append(have[r.Set.Fetched][at], f)
			}}
			r := NewRecordReader(opener(), g, false, false)
			exchanges(t, file, r.Exchange)
			missing, compared := 0, 0
			base := strings.TrimSuffix(file, ".pcap.gz")
			if strings.HasPrefix(name, "x-") && name != "x-midstream" {
				base = filepath.Join(filepath.Dir(file), "x-full")
			}
			corpus.Lines(t, base+".events.ndjson.gz", func(n int, e event) {
				if e.Ev != "produced" && e.Ev != "consumed" {
					return
				}
				content := e.content(t)
				if e.Ev == "produced" && e.Offset < 0 {
					compared++
					if e.Topic == "big" {
						e.Topic = "big.delta-invoices_771"
					}
					k := fmt.Sprint(e.Topic, e.Partition, content)
					if !assert.Positive(t, loose[k], "line %d: %.200s", n, k) {
						return
					}
					loose[k]--
					return
				}
				all := have[e.Ev == "consumed"][recordKey{e.Topic, e.Partition, e.Offset}]
				if len(all) == 0 {
					missing++
					return
				}
				compared++
				for _, f := range all {
					if f.content != content && f.long != content {
						continue
					}
					if e.Codec != "" && !strings.HasPrefix(e.Codec, "tx") && e.Ev == "produced" {
						assert.Equal(t, e.Codec, f.codec, "line %d", n)
					}
					if e.Ev == "consumed" {
						assert.Equal(t, e.Timestamp, f.ts, "line %d", n)
					}
					return
				}
				assert.Fail(t, "no record equals", "line %d: %.200s; have %.200v", n, content, all)
			})
			if name == "x-midstream" { // begins and ends amid what the events hold
				assert.Equal(t, 620+615, compared)
			} else {
				assert.Zero(t, missing, "events without record")
			}
			assert.Positive(t, compared)
			t.Logf("%d records", compared)
		})
	}
}

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

func obj(v any) map[string]any { m, _ := v.(map[string]any); return m }
func arr(v any) []any          { a, _ := v.([]any); return a }

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

func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
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

// TestSequencesOfTheLab: what is out of sequence is what brokers that went away made producers
// send again, and what packets that were lost left out.
func TestSequencesOfTheLab(t *testing.T) {
	for name, want := range map[string]string{
		"a-producer": "", "b-txn": "", "x-full": "", "x-dup": "", "x-reorder": "", "x-reseg": "", "x-midstream": "",
		"j1-cluster-start": "sent before", "j2-cluster-kill": "sent before", "x-drop3": "missing behind",
	} {
		finder, c := NewBatchFinder(), &BatchChecker{}
		var texts []string
		exchanges(t, corpus.Path(t, "captures", "lab", "broker", name+".pcap.gz"), func(x *dissect.Exchange) {
			for _, i := range c.Check(x.Number, finder.Find(x)) {
				texts = append(texts, i.Text)
			}
		})
		if want == "" {
			assert.Empty(t, texts, name)
			continue
		}
		if assert.NotEmpty(t, texts, name) {
			assert.Contains(t, strings.Join(texts, "\n"), want, name)
		}
	}
}
