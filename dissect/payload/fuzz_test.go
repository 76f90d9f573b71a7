package payload_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// fuzzLimits keep what a small input may decompress to small, so that allocations can be told
// from those of untrusted counts.
var fuzzLimits = records.Limits{Decompressed: 64 << 10, Total: 256 << 10}

// FuzzBody decodes a body whose bytes may hold payloads: leaves tile it, and memory is bounded.
func FuzzBody(f *testing.F) {
	c := schema.Default()
	add := func(body []byte, p *schema.Plan) {
		f.Add(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{byte(p.Direction)}, uint16(p.API.Key)), uint16(p.Version)), body)
	}
	add(join(f, "consumer", "stream", []byte{0, 3, 0, 0, 0, 0, 0, 0, 0, 0}))
	add(join(f, "connect", "default", []byte{0, 0, 0, 1, 'u', 0, 0, 0, 0, 0, 0, 0, 1}))
	add(scram(f))
	push := c.Plan(72, 0, schema.Request)
	add(encode(f, push, map[string]any{"metrics": b64(otlp())}), push)
	f.Fuzz(func(t *testing.T, head, body []byte) {
		if len(head) != 5 || head[0] > 1 || len(body) > 1<<16 {
			return
		}
		p := c.Plan(int16(binary.BigEndian.Uint16(head[1:])), int16(binary.BigEndian.Uint16(head[3:])), schema.Direction(head[0]))
		if p == nil {
			return
		}
		d := payload.New(c, fuzzLimits)
		bounded(t, len(body), func() {
			var check tree.TilingSink
			r := d.Decoder().Body(body, 0, p, &check)
			require.NoError(t, check.Err(r.End))
		})
	})
}

// FuzzRecords decodes a record set of one of Kafka's own topics.
func FuzzRecords(f *testing.F) {
	topics := []string{"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata", "__remote_log_metadata"}
	f.Add(byte(0), batch(f, []byte{0, 2, 0, 1, 'g'}, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}))
	f.Add(byte(3), batch(f, nil, []byte{1, 20, 0, 0}))
	f.Fuzz(func(t *testing.T, topic byte, set []byte) {
		if len(set) > 1<<16 {
			return
		}
		d := payload.New(schema.Default(), fuzzLimits)
		root := tree.Event{Desc: &tree.Desc{Name: "set", Kind: tree.KindGroup}, Span: tree.Span{Len: int32(len(set))}}
		bounded(t, len(set), func() {
			var check tree.TilingSink
			check.Begin(root)
			d.Records(set, root.Span, topics[int(topic)%len(topics)], &check, records.Options{})
			check.End(root)
			require.NoError(t, check.Err(len(set)))
		})
	})
}

// bounded fails where f allocates more than n bytes of input can be worth: descriptions are made
// once for each field met, decompression is under fuzzLimits.
func bounded(t *testing.T, n int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20+2048*n))
}
