package output

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/tree"
)

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
