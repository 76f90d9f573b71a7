package output

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

func TestValueForms(t *testing.T) {
	for _, c := range []struct{ form, hex, json, text string }{
		{"auto", "c3a9", `"é"`, "é"},
		{"auto", "ff00", `{"base64":"/wA="}`, "0xff00"},
		{"text", "ff41", `"\ufffdA"`, `\xffA`},
		{"json", "7b2261223a205b312c20225c22205c5c225d207d", `{"a":[1,"\" \\"]}`, `{"a": [1, "\" \\"] }`},
		{"json", "7b", `"{"`, "{"},
		{"hex", "00ff", `"00ff"`, "00ff"},
		{"base64", "00ff", `"AP8="`, "AP8="},
		{"int", "fffffffe", "-2", "-2"},
		{"int", "31", `"1"`, `"1"`},
		{"long", "7fffffffffffffff", "9223372036854775807", "9223372036854775807"},
		{"double", "3ff8000000000000", "1.5", "1.5"},
		{"uuid", "0123456789abcdef0123456789abcdef", `"01234567-89ab-cdef-0123-456789abcdef"`, "01234567-89ab-cdef-0123-456789abcdef"},
		{"confluent", "000000002a" + "0a0161", `{"schemaId":42,"data":"\n\u0001a"}`, `{"schemaId":42,"data":"\n\u0001a"}`},
		{"confluent", "000000002a" + "00" + "0a0161", `{"schemaId":42,"messageIndexes":[0],"data":"\n\u0001a"}`, ""},
		{"confluent", "000000002a" + "040204" + "0801", `{"schemaId":42,"messageIndexes":[1,2],"data":"\u0008\u0001"}`, ""},
		{"confluent", "000000002a" + "7b7d", `{"schemaId":42,"data":{}}`, ""},
		{"confluent", "01", `"\u0001"`, ""},
	} {
		f, ok := ParseValueForm(c.form)
		require.True(t, ok)
		p, err := hex.DecodeString(c.hex)
		require.NoError(t, err)
		got := string(f.appendJSON(nil, p))
		got = strings.ReplaceAll(got, "\uFFFD", `\ufffd`)
		assert.Equal(t, c.json, got, "%s %s", c.form, c.hex)
		if c.text != "" {
			assert.Equal(t, c.text, string(f.appendText(nil, p)), "%s %s", c.form, c.hex)
		}
	}
	_, ok := ParseValueForm("avro")
	assert.False(t, ok)
}

func TestRecordChecks(t *testing.T) {
	type b struct {
		producer int64
		epoch    int16
		first    int32
		last     int32
	}
	run := func(batches ...b) []string {
		var c RecordChecks
		var texts []string
		for i, x := range batches {
			set := &RecordSet{Exchange: &dissect.Exchange{Number: int64(i + 1)}, Frame: &dissect.Frame{FirstPacket: int64(10 * (i + 1))}, Topic: "t"}
			issue, found := c.Batch(set, &RecordBatch{ProducerID: x.producer, ProducerEpoch: x.epoch, BaseSequence: x.first, LastSequence: x.last})
			if found {
				assert.Equal(t, tree.CodeSequence, issue.Code)
				assert.Equal(t, tree.Warning, issue.Severity)
				texts = append(texts, issue.Text)
			}
		}
		return texts
	}
	for _, c := range []struct {
		name    string
		batches []b
		want    []string
	}{
		{"in order", []b{{7, 0, 0, 4}, {7, 0, 5, 5}, {8, 0, 0, 0}, {7, 0, 6, 9}}, nil},
		{"begun before the capture", []b{{7, 0, 100, 104}, {7, 0, 105, 105}}, nil},
		{"gap", []b{{7, 0, 0, 4}, {7, 0, 7, 9}, {7, 0, 10, 10}},
			[]string{"producer 7: sequence 7-9 in exchange 2, packet 20, batch 0, 2 missing behind 0-4 in exchange 1, packet 10, batch 0"}},
		{"repeat", []b{{7, 0, 0, 4}, {7, 0, 0, 4}, {7, 0, 5, 5}},
			[]string{"producer 7: sequence 0-4 in exchange 2, packet 20, batch 0, sent before: 0-4 was in exchange 1, packet 10, batch 0"}},
		{"wrap", []b{{7, 0, 2147483646, 2147483647}, {7, 0, 0, 3}}, nil},
		{"wrap within a batch", []b{{7, 0, 2147483647, 1}, {7, 0, 2, 3}}, nil},
		{"new epoch", []b{{7, 0, 0, 4}, {7, 1, 0, 4}}, nil},
		{"epoch back", []b{{7, 1, 0, 4}, {7, 0, 5, 5}},
			[]string{"producer 7: epoch 0 in exchange 2, packet 20, batch 0, behind epoch 1 in exchange 1, packet 10, batch 0"}},
		{"no producer id", []b{{-1, -1, -1, -1}, {-1, -1, -1, -1}}, nil},
	} {
		assert.Equal(t, c.want, run(c.batches...), c.name)
	}
}

func TestOffsetsOfAFetch(t *testing.T) {
	var c RecordChecks
	set := &RecordSet{Exchange: &dissect.Exchange{Number: 3}, Frame: &dissect.Frame{FirstPacket: 5}, Fetched: true}
	for i, x := range []struct {
		base, last int64
		want       string
	}{{10, 12, ""}, {13, 13, ""}, {13, 20, "offset 13 in exchange 3, packet 5, batch 2, behind offset 13 in exchange 3, packet 5, batch 1"}} {
		issue, _ := c.Batch(set, &RecordBatch{Index: int32(i), BaseOffset: x.base, LastOffset: x.last})
		assert.Equal(t, x.want, issue.Text)
	}
	// A further set may begin anywhere.
	_, found := c.Batch(set, &RecordBatch{BaseOffset: 0, LastOffset: 1})
	assert.False(t, found)
}

// someRecord is a fetched record.
func someRecord() *Record {
	conn := &dissect.Connection{TCP: &reassembly.Conn{}, Broker: reassembly.Backward}
	x := &dissect.Exchange{Number: 4, Conn: conn, Request: &dissect.Frame{ClientID: []byte("c1")}}
	set := &RecordSet{Exchange: x, Frame: &dissect.Frame{FirstPacket: 9, FirstTime: 1700000000000000000}, Fetched: true, Topic: "orders", Partition: 3, BaseOffset: -1, AppendTime: -1}
	batch := &RecordBatch{Magic: 2, Codec: []byte("gzip"), TimestampType: []byte("CreateTime"), ProducerID: 7, CRCValid: true}
	return &Record{Set: set, Batch: batch, Offset: 12, Timestamp: 1700000000001, Sequence: 5, Key: []byte("k"), Value: []byte(`{"a": 1}`),
		Headers: []RecordHeader{{Key: []byte("h"), Value: []byte("v")}, {Key: []byte("n"), Null: true}}}
}

func TestRecordLines(t *testing.T) {
	for _, c := range []struct {
		name   string
		opt    RecordOptions
		change func(*Record)
		want   string
	}{
		{"text", RecordOptions{}, nil,
			"2023-11-14 22:13:20.000000  fetched   c1  orders[3]@12  2023-11-14 22:13:20.001  k = {\"a\": 1}  {h=v, n=null}  #5  gzip  producer 7/0\n"},
		{"text of a tombstone", RecordOptions{}, func(r *Record) { r.NullValue, r.Headers, r.Batch.CRCValid = true, nil, false },
			"2023-11-14 22:13:20.000000  fetched   c1  orders[3]@12  2023-11-14 22:13:20.001  k = null  #5  gzip  producer 7/0  crc BAD\n"},
		{"text of a secret", RecordOptions{}, func(r *Record) { r.HideValue, r.Headers = true, nil },
			"2023-11-14 22:13:20.000000  fetched   c1  orders[3]@12  2023-11-14 22:13:20.001  k = <hidden, 8 bytes>  #5  gzip  producer 7/0\n"},
		{"text of what is known", RecordOptions{}, func(r *Record) {
			r.Headers, r.DecodedKey, r.DecodedValue = nil, []byte(`,"keyDecoded":{"name":"K"}`), []byte(`,"payloadDecoded":{"name":"V"}`)
		}, `2023-11-14 22:13:20.000000  fetched   c1  orders[3]@12  2023-11-14 22:13:20.001  {"name":"K"} = {"name":"V"}  #5  gzip  producer 7/0` + "\n"},
		{"raw", RecordOptions{Form: RecordRaw}, nil, "{\"a\": 1}\n"},
		{"raw secret", RecordOptions{Form: RecordRaw}, func(r *Record) { r.HideValue = true }, "<hidden, 8 bytes>\n"},
		{"json", RecordOptions{Form: RecordJSON, Value: ValueJSON}, nil,
			`{"topic":"orders","partition":3,"offset":12,"tstype":"create","ts":1700000000001,"headers":["h","v","n",null],"key":"k","payload":{"a":1},"sequence":5,"direction":"fetched","time":"2023-11-14T22:13:20.000000000Z","clientId":"c1","connection":"` +
				`:0-:0","exchange":4,"packet":9,"batch":{"magic":2,"codec":"gzip","baseOffset":0,"crcValid":true,"producerId":7,"producerEpoch":0,"isTransactional":false,"isControl":false,"partitionLeaderEpoch":0}}` + "\n"},
		{"json of an answer with another time", RecordOptions{Form: RecordJSON}, func(r *Record) {
			r.Set.Fetched, r.Set.Acked, r.Set.AppendTime, r.Set.Error, r.Headers = false, true, 1700000000001, 6, nil
		}, `{"topic":"orders","partition":3,"offset":12,"tstype":"logappend","ts":1700000000001,"key":"k","payload":"{\"a\": 1}","sequence":5,"direction":"produced","errorCode":6,"time":"2023-11-14T22:13:20.000000000Z","clientId":"c1","connection":"` +
			`:0-:0","exchange":4,"packet":9,"batch":{"magic":2,"codec":"gzip","baseOffset":0,"crcValid":true,"producerId":7,"producerEpoch":0,"isTransactional":false,"isControl":false,"partitionLeaderEpoch":0}}` + "\n"},
		{"control records only when asked", RecordOptions{}, func(r *Record) { r.ControlType = []byte("COMMIT") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			w := NewRecords(&out, c.opt)
			r := someRecord()
			if c.change != nil {
				c.change(r)
			}
			require.True(t, w.Wanted(r.Set))
			w.Batch(r.Set, r.Batch)
			w.Record(r)
			require.NoError(t, w.Flush())
			got := out.String()
			if i := strings.Index(got, `"connection":"`); i >= 0 { // an address of nothing
				j := i + len(`"connection":"`)
				got = got[:j] + ":0-:0" + got[j+strings.IndexByte(got[j:], '"'):]
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestRecordsLimitAndDirection(t *testing.T) {
	var out bytes.Buffer
	w := NewRecords(&out, RecordOptions{Limit: 1, Form: RecordRaw})
	r := someRecord()
	require.True(t, w.Wanted(r.Set))
	w.Record(r)
	assert.True(t, w.Full())
	w.Record(r)
	assert.False(t, w.Wanted(r.Set))
	require.NoError(t, w.Flush())
	assert.Equal(t, 1, strings.Count(out.String(), "\n"))
	assert.False(t, NewRecords(&out, RecordOptions{Produced: true}).Wanted(r.Set))
	assert.True(t, NewRecords(&out, RecordOptions{Fetched: true}).Wanted(r.Set))
	topic := func(name string, _ [16]byte) bool { return name == "other" }
	assert.False(t, NewRecords(&out, RecordOptions{Topic: topic}).Wanted(r.Set))
}
