package output

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/tree"
)

// vectorExchanges makes exchanges of the vectors of an API: requests and responses of the same
// version and shape.
func vectorExchanges(tb testing.TB, api string) (xs []*dissect.Exchange, size int64, walker func(*dissect.Frame, tree.Sink)) {
	tb.Helper()
	c := schema.Default()
	type key struct {
		version int16
		shape   string
	}
	requests := map[key]*dissect.Frame{}
	corpus.Vectors(tb, "api-4.4.0.ndjson.gz", func(_ int, v *corpus.Vector) {
		if v.API != api || len(v.UnknownTags)+len(v.HeaderTags) > 0 { // each unknown tag is an issue
			return
		}
		dir := schema.Request
		if v.Kind == "response" {
			dir = schema.Response
		}
		f := &dissect.Frame{Bytes: v.Bytes, Size: int32(len(v.Bytes) - 4), APIKey: v.Key, Version: v.Version, ClientID: []byte("client"), Header: c.Header(dir, v.HeaderVersion), Plan: c.Plan(v.Key, v.Version, dir)}
		size += int64(len(v.Bytes))
		k := key{v.Version, v.Shape}
		if dir == schema.Request {
			requests[k] = f
			return
		}
		x := testExchange()
		x.Request, x.Response = requests[k], f
		if x.Request != nil {
			xs = append(xs, x)
		}
	})
	var d walk.Decoder
	return xs, size, func(f *dissect.Frame, s tree.Sink) { d.Frame(f.Bytes, f.Size, f.Header, f.Plan, s) }
}

func BenchmarkForms(b *testing.B) {
	for _, api := range []string{"Produce", "Fetch", "Metadata", "OffsetCommit"} {
		xs, size, walker := vectorExchanges(b, api)
		j := NewJSON(nil, Options{})
		s := NewSummary(nil, Options{})
		t := NewTree(nil, Options{})
		j.walk, t.walk = walker, walker
		for _, form := range []struct {
			name string
			add  func([]byte, *dissect.Exchange) []byte
		}{{"json", j.Append}, {"summary", s.Append}, {"tree", t.Append}} {
			b.Run("form="+form.name+"/api="+api, func(b *testing.B) {
				var out []byte
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					for _, x := range xs {
						out = form.add(out[:0], x)
					}
				}
			})
		}
	}
}

// TestSteadyState shows that frames as Kafka makes them cost no allocation once buffers have
// grown.
func TestSteadyState(t *testing.T) {
	for _, api := range []string{"Produce", "Fetch", "Metadata", "OffsetCommit", "DescribeConfigs", "JoinGroup"} {
		xs, _, walker := vectorExchanges(t, api)
		require.NotEmpty(t, xs)
		quiet := &noIssues{}
		walk := func(f *dissect.Frame, s tree.Sink) {
			quiet.Sink = s
			walker(f, quiet)
		}
		s := NewSummary(nil, Options{})
		j := NewJSON(nil, Options{})
		s.facts.visit, j.walk = visiting(walk), walk
		var out []byte
		for name, add := range map[string]func([]byte, *dissect.Exchange) []byte{"summary": s.Append, "json": j.Append} {
			assert.Zero(t, testing.AllocsPerRun(5, func() {
				for _, x := range xs {
					out = add(out[:0], x)
				}
			}), "%s %s", api, name)
		}
	}
}

// noIssues keeps issues from a sink; their texts are made for each.
type noIssues struct{ tree.Sink }

func (noIssues) Issue(tree.Issue) {}
