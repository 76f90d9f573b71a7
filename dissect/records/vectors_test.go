package records

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/tree"
)

// vectors reads a file of vectors; whole numbers become int64.
func vectors(t testing.TB, name string) (rows []map[string]any) {
	t.Helper()
	corpus.Lines(t, corpus.Path(t, "vectors", name), func(_ int, line json.RawMessage) {
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		var row map[string]any
		require.NoError(t, dec.Decode(&row))
		rows = append(rows, integers(row).(map[string]any))
	})
	require.NotEmpty(t, rows)
	return rows
}

func integers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return v.String()
	case map[string]any:
		for k, x := range v {
			v[k] = integers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = integers(x)
		}
	}
	return v
}

func unhex(t testing.TB, s any) []byte {
	t.Helper()
	b, err := hex.DecodeString(s.(string))
	require.NoError(t, err)
	return b
}

// takeBodies removes the bodies of control records that a payload decoder shows, and returns
// how many there were.
func takeBodies(batches []any) (n int) {
	for _, b := range batches {
		for _, r := range b.(map[string]any)["records"].([]any) {
			rec := r.(map[string]any)
			typ, _ := rec["controlTypeId"].(int64)
			if _, has := rec["controlBody"]; has && typ > 1 {
				delete(rec, "controlBody")
				n++
			}
		}
	}
	return n
}

func TestVectors(t *testing.T) {
	var d Decoder
	for _, row := range vectors(t, "records.ndjson.gz") {
		name := row["case"].(string)
		want := corpus.Camel(row["batches"]).([]any)
		bodies := takeBodies(want)
		var claims claimer
		got, sink, sum := walkJSON(t, &d, unhex(t, row["hex"]), Options{Payload: &claims})
		assertSame(t, name, want, got)
		assert.Equal(t, bodies, claims.walked, "%s: control bodies handed out", name)
		assert.EqualValues(t, row["trailing_partial_bytes"], sum.Partial, name)
		assert.Equal(t, len(want), sum.Batches, name)
		var bad []string
		for _, c := range sink.codes(tree.Warning) {
			if !strings.HasPrefix(c, "checksum: crc 0x") || !strings.HasSuffix(name, "badcrc") {
				bad = append(bad, c)
			}
		}
		assert.Empty(t, bad, name)
		if strings.HasSuffix(name, "badcrc") {
			assert.Len(t, sink.codes(tree.Warning), 1, name)
		}
		if sum.Partial > 0 {
			require.Len(t, sink.codes(tree.Info), 1+len(sink.codes(tree.Warning))+lz4Notices(sink), name)
			last := sink.issues[len(sink.issues)-1]
			assert.Equal(t, tree.CodePartial, last.Code, name)
			assert.Equal(t, tree.Info, last.Severity, name)
		}
	}
}

// claimer is a payload decoder for control records that shows their bodies as one leaf.
type claimer struct{ walked int }

var descBody = &tree.Desc{Name: "body", Type: "bytes", Kind: tree.KindBytes}

func (c *claimer) Claim(rec *Record, part Part) bool {
	return part == Value && rec.Control >= LeaderChange && rec.Control <= KRaftVoters
}

func (c *claimer) Walk(rec *Record, part Part, data []byte, at tree.Span, sink tree.Sink) {
	c.walked++
	sink.Leaf(tree.Event{Desc: descBody, Span: at, Value: tree.Value{Bytes: data}})
}

func lz4Notices(s *jsonSink) (n int) {
	for _, i := range s.issues {
		if i.Code == tree.CodeChecksum && i.Severity == tree.Info {
			n++
		}
	}
	return n
}

func TestSummaryAgreesWithVectors(t *testing.T) {
	for _, row := range vectors(t, "records.ndjson.gz") {
		name := row["case"].(string)
		batches := row["batches"].([]any)
		s := Summarize(unhex(t, row["hex"]), 0)
		require.Equal(t, len(batches), s.Batches, name)
		var records int64
		var codecs CodecSet
		for _, b := range batches {
			b := b.(map[string]any)
			if b["magic"] != int64(2) {
				records++
			} else {
				records += b["count"].(int64)
			}
			for c := None; c <= Zstd; c++ {
				if c.String() == b["codec"] {
					codecs |= 1 << c
				}
			}
		}
		assert.Equal(t, records, s.Records, name)
		assert.Equal(t, codecs, s.Codecs, name)
		if len(batches) > 0 {
			assert.Equal(t, batches[0].(map[string]any)["raw_offset"], s.FirstOffset, name)
			assert.Equal(t, batches[len(batches)-1].(map[string]any)["last_offset"], s.LastOffset, name)
		}
	}
}

// Every prefix of every vector walks without a fault, whether its sender or its capture cut it.
func TestPrefixSweep(t *testing.T) {
	var d Decoder
	for _, row := range vectors(t, "records.ndjson.gz") {
		data := unhex(t, row["hex"])
		step := 1 + len(data)/2000
		for n := 0; n <= len(data); n += step {
			check(t, &d, data[:n:n], Options{})
			c, _ := check(t, &d, data[:n:n], Options{Missing: len(data) - n})
			if n == len(data) {
				continue
			}
			for _, i := range c.issues {
				if i.Code == tree.CodeMalformed && !strings.HasSuffix(row["case"].(string), "badcrc") {
					t.Fatalf("%s cut at %d: %+v", row["case"], n, i)
				}
			}
		}
	}
}

func TestTopicBatches(t *testing.T) {
	var d Decoder
	for _, row := range vectors(t, "topic-batches.ndjson.gz") {
		got, sink, _ := walkJSON(t, &d, unhex(t, row["hex"]), Options{})
		assert.Empty(t, sink.codes(tree.Warning))
		var records []any
		for _, b := range got {
			records = append(records, b.(map[string]any)["records"].([]any)...)
		}
		want := row["records"].([]any)
		require.Len(t, records, len(want), row["topic"])
		for i, w := range want {
			w, g := w.(map[string]any), records[i].(map[string]any)
			assert.Equal(t, w["offset"], g["offset"])
			for _, part := range []string{"key", "value"} {
				if w[part] == nil {
					assert.Nil(t, g[part])
					continue
				}
				if m, ok := w[part].(map[string]any); ok && m["hex"] != nil {
					assert.Equal(t, base64.StdEncoding.EncodeToString(unhex(t, m["hex"])), g[part])
				}
			}
		}
	}
}

// Record sets from fetch answers that others published, behind a response header.
func TestPublicRecordSets(t *testing.T) {
	dir := corpus.Path(t, "captures", "public", "hex")
	four, six := "alpha beta gamma delta", "alpha beta gamma delta epsilon zeta"
	for name, want := range map[string]string{
		"v1-v1": four, "v1c-v1c": four, "v2-v2": four, "v2c-v2c": four, "v2bc-v1": four,
		"v2b-v1": "alpha beta alpha beta", "v2bc-v1c": "alpha beta alpha beta",
		"v1c-v1-v1c": six, "v2c-v2-v2c": six,
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "segmentio+kafka-go+"+name+".hex"))
			require.NoError(t, err)
			frame := unhex(t, strings.TrimSpace(string(text)))
			var d Decoder
			got, sink, _ := walkJSON(t, &d, frame[recordSetAt(t, frame):], Options{})
			assert.Empty(t, sink.codes(tree.Warning))
			var keys []string
			for i, b := range got {
				assert.Equal(t, true, b.(map[string]any)["crcValid"], "batch %d", i)
				for _, r := range b.(map[string]any)["records"].([]any) {
					r := r.(map[string]any)
					key, err := base64.StdEncoding.DecodeString(r["key"].(string))
					require.NoError(t, err)
					assert.EqualValues(t, len(keys), r["offset"])
					keys = append(keys, string(key))
				}
			}
			assert.Equal(t, want, strings.Join(keys, " "))
		})
	}
}

// recordSetAt returns where the record set of a fetch answer with one partition starts: behind
// the one int32 that is the number of bytes left.
func recordSetAt(t *testing.T, frame []byte) int {
	for off := 4; off+4 < len(frame); off++ {
		if readInt(frame[off:], 4) == int64(len(frame)-off-4) {
			return off + 4
		}
	}
	require.Fail(t, "no record set")
	return 0
}
