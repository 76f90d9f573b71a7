package output

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/corpus"
)

func TestVectors(t *testing.T) {
	c := schema.Default()
	for _, file := range corpus.APIVectors() {
		t.Run(file, func(t *testing.T) {
			var d walk.Decoder
			frag := NewFragments(Options{Plain: true, Bytes: BytesBase64, ShowSecrets: true})
			n, failed := 0, 0
			corpus.Vectors(t, file, func(line int, v *corpus.Vector) {
				n++
				dir := schema.Request
				if v.Kind == "response" {
					dir = schema.Response
				}
				plan := c.Plan(v.Key, v.Version, dir)
				require.NotNil(t, plan, "%s v%d %s", v.API, v.Version, v.Kind)
				for _, older := range c.Older(v.Key, v.Version, dir) {
					if r := d.Body(v.Bytes, v.BodyOffset, plan, nil); !r.Fits() || r.End != len(v.Bytes) {
						plan = older
					}
				}
				frag.Reset(v.Key)
				d.Frame(v.Bytes, int32(len(v.Bytes)-4), c.Header(dir, v.HeaderVersion), plan, frag)
				ok := sameJSON(t, v.Header, frag.Header()) && sameJSON(t, v.Body, frag.Body()) &&
					sameTags(t, v.UnknownTags, frag.AppendUnknownTags(nil)) && sameTags(t, v.HeaderTags, frag.AppendHeaderUnknownTags(nil)) &&
					sameOrder(t, v.Body, frag.Body())
				if !ok && failed < 10 {
					failed++
					t.Errorf("line %d, %s v%d %s %s: want %.2000s\n%.2000s\ngot %.2000s\n%.2000s\ntags %v\ngot %s", line, v.API, v.Version, v.Kind, v.Shape,
						v.Header, v.Body, frag.Header(), frag.Body(), v.UnknownTags, frag.AppendUnknownTags(nil))
				}
			})
			assert.NotZero(t, n)
		})
	}
}

func exact(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), "%.500s", b)
	return v
}

// sameJSON compares values; numbers that are not integers by their float64.
func sameJSON(t *testing.T, want, got []byte) bool {
	t.Helper()
	return same(exact(t, want), exact(t, got))
}

func same(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for k, v := range w {
			if x, ok := g[k]; !ok || !same(v, x) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for i, v := range w {
			if !same(v, g[i]) {
				return false
			}
		}
		return true
	case json.Number:
		g, ok := got.(json.Number)
		if ok && w != g {
			a, errA := w.Float64()
			b, errB := g.Float64()
			return errA == nil && errB == nil && a == b && bytes.ContainsAny([]byte(w+g), ".eE")
		}
		return ok
	}
	return want == got
}

// sameOrder compares the order of members, which maps lose.
func sameOrder(t *testing.T, want, got []byte) bool {
	t.Helper()
	return reflect.DeepEqual(members(t, want), members(t, got))
}

// members returns all strings of a document in order, names among them.
func members(t *testing.T, b []byte) []string {
	t.Helper()
	var all []string
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return all
		}
		if s, ok := tok.(string); ok {
			all = append(all, s)
		}
	}
}

func sameTags(t *testing.T, want []corpus.Tag, got []byte) bool {
	t.Helper()
	var have []corpus.Tag
	require.NoError(t, json.Unmarshal(got, &have))
	for _, list := range [][]corpus.Tag{want, have} {
		sort.Slice(list, func(i, j int) bool {
			a, b := list[i], list[j]
			return a.Path < b.Path || a.Path == b.Path && (a.Tag < b.Tag || a.Tag == b.Tag && a.Hex < b.Hex)
		})
	}
	return len(want) == 0 && len(have) == 0 || reflect.DeepEqual(want, have)
}
