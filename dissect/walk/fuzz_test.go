package walk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/fuzzing"
	"github.com/kdissect/kdissect/internal/fuzzing/seeds"
	"github.com/kdissect/kdissect/tree"
)

// counted is a tree.TilingSink that counts what it is given.
type counted struct {
	tree.TilingSink
	events int
}

func (s *counted) Begin(e tree.Event) bool {
	s.events++
	return s.TilingSink.Begin(e)
}

func (s *counted) Leaf(e tree.Event) {
	s.events++
	s.TilingSink.Leaf(e)
}

// FuzzFrame decodes anything as a frame of any API and version, of which more bytes may be
// missing: events nest and tile, there are not many more than bytes, and memory is bounded. A walk
// that nobody looks at ends at the same place.
func FuzzFrame(f *testing.F) {
	c := schema.Default()
	for _, frame := range seeds.Frames(f) {
		p := frame.Plan
		f.Add(p.API.Key, p.Version, p.Direction == schema.Response, frame.Bytes, uint16(0))
		f.Add(p.API.Key, p.Version, p.Direction == schema.Response, frame.Bytes[:len(frame.Bytes)/2], uint16(len(frame.Bytes)-len(frame.Bytes)/2))
	}
	for _, body := range [][]byte{make([]byte, 80), {0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff}, {0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff}} {
		for key := range int16(10) {
			f.Add(key, int16(0), false, body, uint16(0))
			f.Add(key, int16(9), true, body, uint16(3))
		}
	}
	var decoder walk.Decoder
	f.Fuzz(func(t *testing.T, key, version int16, response bool, b []byte, missing uint16) {
		d := schema.Request
		if response {
			d = schema.Response
		}
		p := c.Plan(key, version, d)
		if p == nil || len(b) < 4 || len(b) > 1<<16 {
			return
		}
		size := int32(len(b)-4) + int32(missing)
		header := c.Header(d, p.HeaderVersion)
		var sink counted
		var r walk.Result
		bytes := fuzzing.Allocated(func() { r = decoder.Frame(b, size, header, p, &sink) })
		require.NoError(t, sink.Err(len(b)))
		require.Less(t, sink.events, 64+8*len(b))
		require.Less(t, bytes, uint64(1<<20+256*len(b)))
		require.LessOrEqual(t, r.End, len(b))
		// A walk that nobody looks at may skip, so that where it fails is not exact.
		unseen := decoder.Frame(b, size, header, p, nil)
		require.Equal(t, r.Failed, unseen.Failed)
		if !r.Failed {
			require.Equal(t, r, unseen)
		}
	})
}
