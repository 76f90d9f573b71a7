package output

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/internal/corpus"
)

// setVector is a record set that Kafka's own classes made.
type setVector struct {
	Case, Topic, Hex string
	Batches          any
	Trailing         int `json:"trailing_partial_bytes"`
	Records          []struct {
		Offset     int64
		Key, Value *struct {
			Name string
			Body any
		}
	}
}

// contains reports whether have has all of want; objects may have more.
func contains(want, have any) bool {
	switch want := want.(type) {
	case map[string]any:
		m, ok := have.(map[string]any)
		for k, w := range want {
			h, found := m[k]
			ok = ok && found && contains(w, h)
		}
		return ok
	case []any:
		a, ok := have.([]any)
		ok = ok && len(a) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = contains(want[i], a[i])
		}
		return ok
	}
	w, isNumber := want.(json.Number)
	if h, ok := have.(json.Number); ok && isNumber && w != h && strings.ContainsAny(w.String(), ".eE") {
		a, _ := w.Float64()
		b, _ := h.Float64()
		return a == b // written in another of its forms
	}
	return reflect.DeepEqual(want, have)
}

func TestRecordSetVectors(t *testing.T) {
	for _, file := range []string{"records.ndjson.gz", "topic-batches.ndjson.gz"} {
		t.Run(file, func(t *testing.T) {
			w := NewRecordSets(payload.New(nil, records.Limits{}), Options{Bytes: BytesBase64, ShowSecrets: true})
			text := NewRecordSets(payload.New(nil, records.Limits{}), Options{ShowSecrets: true})
			n, encoded := 0, 0
			corpus.Lines(t, corpus.Path(t, "vectors", file), func(line int, raw json.RawMessage) {
				n++
				var v setVector
				d := json.NewDecoder(bytes.NewReader(raw))
				d.UseNumber()
				require.NoError(t, d.Decode(&v))
				set, err := hex.DecodeString(v.Hex)
				require.NoError(t, err)
				var out map[string]any
				d = json.NewDecoder(bytes.NewReader(w.Append(nil, set, v.Topic)))
				d.UseNumber()
				require.NoError(t, d.Decode(&out))
				if v.Batches != nil {
					assert.True(t, contains(corpus.Camel(v.Batches), out["batches"]), "%s: %v", v.Case, out["batches"])
					assert.EqualValues(t, v.Trailing, number(out["trailingPartialBytes"]), v.Case)
				}
				checkDecoded(t, line, &v, out)
				if backAgain(t, line, out, set, true) {
					encoded++
					d = json.NewDecoder(bytes.NewReader(text.Append(nil, set, v.Topic)))
					d.UseNumber()
					require.NoError(t, d.Decode(&out))
					backAgain(t, line, out, set, false)
				}
			})
			assert.Positive(t, n)
			assert.Positive(t, encoded)
			t.Logf("%d sets, %d of them uncompressed", n, encoded)
		})
	}
}

// checkDecoded compares what keys and values hold.
func checkDecoded(t *testing.T, line int, v *setVector, out map[string]any) {
	t.Helper()
	var all []any
	for _, b := range arr(out["batches"]) {
		all = append(all, arr(obj(b)["records"])...)
	}
	for i, w := range v.Records {
		have := obj(all[i])
		assert.Equal(t, w.Offset, number(have["offset"]))
		if w.Key != nil && w.Key.Name != "" && w.Key.Body != nil {
			assert.Equal(t, w.Key.Name, obj(have["keyDecoded"])["name"], "line %d", line)
			assert.True(t, contains(w.Key.Body, obj(have["keyDecoded"])["body"]), "line %d: %v", line, have)
		}
		if w.Value != nil && w.Value.Name != "" && w.Value.Body != nil {
			assert.Equal(t, w.Value.Name, obj(have["valueDecoded"])["name"], "line %d", line)
			assert.True(t, contains(w.Value.Body, obj(have["valueDecoded"])["body"]), "line %d: %v", line, have)
		}
	}
}

// backAgain encodes what was decoded, unless that was compressed, and compares the bytes.
func backAgain(t *testing.T, line int, out map[string]any, set []byte, isBase64 bool) bool {
	t.Helper()
	b, err := records.Encoder{Base64: isBase64}.Encode(nil, out["batches"])
	if errors.Is(err, records.ErrCompressed) {
		return false
	}
	require.NoError(t, err, "line %d", line)
	if rest, ok := out["trailing"].(string); ok {
		raw, err := base64.StdEncoding.DecodeString(rest)
		require.NoError(t, err)
		b = append(b, raw...)
	}
	assert.Equal(t, hex.EncodeToString(set), hex.EncodeToString(b), "line %d", line)
	return true
}
