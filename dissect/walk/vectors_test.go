package walk_test

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/tree"
)

// vector is a frame that Kafka's own classes encoded.
type vector struct{ *corpus.Vector }

func (v vector) direction() schema.Direction {
	if v.Kind == "response" {
		return schema.Response
	}
	return schema.Request
}

// plan returns the layout of v: the newest of its version, or the older one that fits.
func (v vector) plan(c *schema.Catalogue, frame []byte) *schema.Plan {
	p := c.Plan(v.Key, v.Version, v.direction())
	if v.Release == "4.4.0" || p == nil {
		return p
	}
	var d walk.Decoder
	if r := d.Body(frame, v.BodyOffset, p, nil); r.Fits() && r.End == len(frame) {
		return p
	}
	for _, older := range c.Older(v.Key, v.Version, v.direction()) {
		if r := d.Body(frame, v.BodyOffset, older, nil); r.Fits() && r.End == len(frame) {
			return older
		}
	}
	return p
}

// checker is a sink that checks tiling and counts what it sees.
type checker struct {
	tree.TilingSink
	events int
	tags   int
	body   int32
	issues []tree.Issue
}

func (c *checker) Begin(e tree.Event) bool {
	c.events++
	if e.Has(tree.FlagBody) {
		c.body = e.Span.Off
	}
	if e.Has(tree.FlagUnknownTag) {
		c.tags++
	}
	return c.TilingSink.Begin(e)
}

func (c *checker) Leaf(e tree.Event) {
	c.events++
	c.TilingSink.Leaf(e)
}

func (c *checker) Issue(i tree.Issue) {
	c.issues = append(c.issues, i)
	c.TilingSink.Issue(i)
}

func eachVector(t *testing.T, f func(name string, v vector, frame []byte)) {
	n := 0
	for _, file := range corpus.APIVectors() {
		corpus.Vectors(t, file, func(_ int, v *corpus.Vector) {
			f(fmt.Sprintf("%s v%d %s %s of %s", v.API, v.Version, v.Kind, v.Shape, v.Release), vector{v}, v.Bytes)
			n++
		})
	}
	require.Equal(t, 5159, n)
}

func TestVectorsDecodeWholeAndTile(t *testing.T) {
	c := schema.Default()
	var d walk.Decoder
	eachVector(t, func(name string, v vector, frame []byte) {
		p := v.plan(c, frame)
		if !assert.NotNil(t, p, name) {
			return
		}
		assert.Equal(t, v.HeaderVersion, p.HeaderVersion, name)
		var s checker
		r := d.Frame(frame, int32(len(frame)-4), c.Header(v.direction(), p.HeaderVersion), p, &s)
		assert.True(t, r.Fits(), "%s: %v at %d", name, r.Err.Error(), r.Err.Off)
		assert.Equal(t, len(frame), r.End, name)
		assert.NoError(t, s.Err(len(frame)), name)
		assert.Equal(t, v.BodyOffset, int(s.body), name)
		assert.Len(t, s.issues, s.tags, name)
		for _, i := range s.issues {
			assert.Equal(t, tree.CodeUnknownTag, i.Code, name)
		}
		// The check without a sink agrees.
		r = d.Body(frame, v.BodyOffset, p, nil)
		assert.True(t, r.Fits(), name)
		assert.Equal(t, len(frame), r.End, name)
	})
}

// TestVectorsPrefixSweep cuts frames at every byte, once as if the rest had not been captured
// and once as if the frame ended there.
func TestVectorsPrefixSweep(t *testing.T) {
	c := schema.Default()
	var d walk.Decoder
	eachVector(t, func(name string, v vector, frame []byte) {
		if v.Shape != "full" && v.Shape != "one" {
			return
		}
		p := v.plan(c, frame)
		require.NotNil(t, p, name)
		h := c.Header(v.direction(), p.HeaderVersion)
		step := 1 + len(frame)/200
		for n := 0; n < len(frame); n += step {
			for _, size := range []int{len(frame) - 4, max(n-4, 0)} {
				var s checker
				r := d.Frame(frame[:n:n], int32(size), h, p, &s)
				if err := s.Err(min(n, 4+size)); err != nil {
					t.Fatalf("%s cut at %d, size %d: %v", name, n, size, err)
				}
				if size == len(frame)-4 {
					require.True(t, r.Failed, "%s cut at %d", name, n)
					require.NotEmpty(t, s.issues)
					require.Equal(t, tree.CodeTruncated, s.issues[len(s.issues)-1].Code, "%s cut at %d", name, n)
				}
				require.LessOrEqual(t, r.End, n)
			}
		}
	})
}

// TestVectorsHostile overwrites frames with extreme counts and lengths at every offset: the
// result always tiles, and work stays in proportion to the bytes.
func TestVectorsHostile(t *testing.T) {
	c := schema.Default()
	var d walk.Decoder
	patterns := [][]byte{
		{0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xfe}, {0xff, 0xff, 0xff, 0xff, 0x0f}, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, {0, 0, 0, 0}, {0xff},
	}
	eachVector(t, func(name string, v vector, frame []byte) {
		if v.Shape != "full" || len(frame) > 2000 {
			return
		}
		p := v.plan(c, frame)
		h := c.Header(v.direction(), p.HeaderVersion)
		bad := make([]byte, len(frame))
		step := 1 + len(frame)/100
		for off := 4; off < len(frame); off += step {
			for _, pattern := range patterns {
				copy(bad, frame)
				copy(bad[off:], pattern)
				var s checker
				d.Frame(bad, int32(len(bad)-4), h, p, &s)
				if err := s.Err(len(bad)); err != nil {
					t.Fatalf("%s with %x at %d: %v", name, pattern, off, err)
				}
				require.LessOrEqual(t, s.events, 4*len(bad)+64, "%s with %x at %d", name, pattern, off)
			}
		}
	})
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	c := schema.Default()
	var frames [][]byte
	var plans []*schema.Plan
	eachVector(t, func(_ string, v vector, frame []byte) {
		if v.Shape == "rand" && len(v.UnknownTags)+len(v.HeaderTags) == 0 && v.Release == "4.4.0" {
			frames, plans = append(frames, frame), append(plans, c.Plan(v.Key, v.Version, v.direction()))
		}
	})
	require.NotEmpty(t, frames)
	var d walk.Decoder
	var s counter
	run := func() {
		for i, f := range frames {
			d.Frame(f, int32(len(f)-4), c.Header(plans[i].Direction, plans[i].HeaderVersion), plans[i], &s)
		}
	}
	run()
	assert.Zero(t, testing.AllocsPerRun(5, run))
	assert.Greater(t, s.n, len(frames))
}

// counter is a sink that descends everything and keeps nothing.
type counter struct{ n int }

func (c *counter) Begin(tree.Event) bool                   { c.n++; return true }
func (c *counter) Leaf(tree.Event)                         { c.n++ }
func (c *counter) End(tree.Event)                          {}
func (c *counter) Issue(tree.Issue)                        {}
func (c *counter) Source(int32, []byte, tree.Span, string) {}

func TestUnknownLayoutsAreOneLeaf(t *testing.T) {
	c := schema.Default()
	var d walk.Decoder
	frame, err := hex.DecodeString("0000001700120063303006320003636c6900046c696204312e3000")
	require.NoError(t, err)
	var s checker
	r := d.Frame(frame, 0x17, c.Header(schema.Request, 2), nil, &s)
	assert.False(t, r.Failed)
	assert.NoError(t, s.Err(len(frame)))
	s = checker{}
	d.Frame(frame, 0x17, nil, nil, &s)
	assert.NoError(t, s.Err(len(frame)))
	assert.Equal(t, 4, s.events, "message, frame, size, body")
}

func BenchmarkDecode(b *testing.B) {
	c := schema.Default()
	p := c.Plan(1, 12, schema.Response)
	body := fetchBody(50, 20)
	for _, bench := range []struct {
		name string
		sink tree.Sink
	}{{"sink=none", nil}, {"sink=count", &counter{}}, {"sink=builder", &tree.Builder{}}} {
		b.Run(bench.name, func(b *testing.B) {
			var d walk.Decoder
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if t, ok := bench.sink.(*tree.Builder); ok {
					t.Reset(body)
				}
				if r := d.Body(body, 0, p, bench.sink); !r.Fits() {
					b.Fatal(r.Err.Error())
				}
			}
		})
	}
}

// fetchBody encodes a Fetch v12 response without records.
func fetchBody(topics, partitions int) []byte {
	b := make([]byte, 4+2+4)
	b = append(b, byte(topics+1))
	for range topics {
		b = append(b, 7, 't', 'o', 'p', 'i', 'c', 's', byte(partitions+1))
		for i := range partitions {
			b = append(b, 0, 0, 0, byte(i), 0, 0)
			b = append(b, make([]byte, 3*8)...)
			b = append(b, 1)                      // no aborted transactions
			b = append(b, 0xff, 0xff, 0xff, 0xff) // preferred read replica
			b = append(b, 1)                      // empty records
			b = append(b, 0)
		}
		b = append(b, 0)
	}
	return append(b, 0)
}
