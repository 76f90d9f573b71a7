package corpus

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

// Vector is a frame, or what is nested in one, that Kafka's own classes encoded, with what its
// JsonConverter made of it.
type Vector struct {
	Release       string          `json:"release"`
	Key           int16           `json:"api_key"`
	API           string          `json:"api"`
	Name          string          `json:"name"` // in place of API where it is no frame
	Version       int16           `json:"version"`
	Kind          string          `json:"kind"` // "request", "response" or none
	Shape         string          `json:"shape"`
	HeaderVersion int16           `json:"header_version"`
	BodyOffset    int             `json:"body_offset"`
	Bytes         Hex             `json:"hex"`
	Header        json.RawMessage `json:"header"`
	Body          json.RawMessage `json:"body"`
	UnknownTags   []Tag           `json:"unknown_tags"`
	HeaderTags    []Tag           `json:"header_unknown_tags"`
}

// Tag is a tagged field that the vector's definition does not have.
type Tag struct {
	Path string `json:"path"`
	Tag  uint32 `json:"tag"`
	Hex  string `json:"hex"`
}

// Hex are bytes that JSON has as hex digits.
type Hex []byte

// UnmarshalText reads the digits.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.AppendDecode(nil, text)
	return err
}

// APIVectors are the files with frames of all APIs, a pair of API and version in one of them.
func APIVectors() []string {
	return []string{"api-4.4.0.ndjson.gz", "api-3.9.2-only.ndjson.gz"}
}

// Vectors calls f with each vector of a file and the number of its line.
func Vectors(t testing.TB, file string, f func(line int, v *Vector)) {
	t.Helper()
	Lines(t, Path(t, "vectors", file), func(n int, v Vector) { f(n, &v) })
}

// Camel returns a JSON value with its members' names in camel case, as the output has them, where
// the vectors of record sets have underscores.
func Camel(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, x := range v {
			parts := strings.Split(name, "_")
			for i, p := range parts[1:] {
				parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
			}
			m[strings.Join(parts, "")] = Camel(x)
		}
		return m
	case []any:
		a := make([]any, len(v))
		for i := range v {
			a[i] = Camel(v[i])
		}
		return a
	}
	return v
}
