package dissect_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// kafkaCaptures are all captures of the corpora that hold Kafka in clear, from the folder captures on.
func kafkaCaptures(t *testing.T) (files []string) {
	root := corpus.Path(t, "captures")
	for _, dir := range []string{"lab/broker", "lab/clients", "lab/link", "public/kafka"} {
		list, err := os.ReadDir(filepath.Join(root, dir))
		require.NoError(t, err)
		for _, f := range list {
			if strings.Contains(f.Name(), ".pcap") {
				files = append(files, filepath.Join("captures", dir, f.Name()))
			}
		}
	}
	require.Greater(t, len(files), 190)
	if corpus.Race {
		some := files[:0]
		for i := 0; i < len(files); i += 10 {
			some = append(some, files[i])
		}
		return some
	}
	return files
}

// leaf is a leaf that a walk gave.
type leaf struct {
	desc *tree.Desc
	span tree.Span
	num  int64
	b    []byte
	cut  bool
}

// leaves checks that events nest and tile, those of derived sources too, and keeps the leaves of
// the frame.
type leaves struct {
	tree.TilingSink
	list    []leaf
	sources map[int32]*derived
	keep    bool
	errors  int
}

// derived is a source beside the frame, and how far leaves cover it.
type derived struct{ size, next int32 }

func (s *leaves) Leaf(e tree.Event) {
	s.TilingSink.Leaf(e)
	if d := s.sources[e.Span.Source]; d != nil && !e.Has(tree.FlagComputed) {
		if e.Span.Off != d.next {
			d.next = -1 << 30
		} else {
			d.next = e.Span.End()
		}
	}
	if s.keep && e.Span.Source == 0 && !e.Has(tree.FlagComputed) {
		s.list = append(s.list, leaf{e.Desc, e.Span, e.Value.Num, e.Value.Bytes, e.Has(tree.FlagCut)})
	}
}

func (s *leaves) Issue(i tree.Issue) {
	s.TilingSink.Issue(i)
	if i.Severity == tree.Error {
		s.errors++
	}
}

func (s *leaves) Source(id int32, b []byte, origin tree.Span, codec string) {
	s.TilingSink.Source(id, b, origin, codec)
	if s.sources == nil {
		s.sources = map[int32]*derived{}
	}
	s.sources[id] = &derived{size: int32(len(b))}
}

// err returns what is wrong with the events of a frame of which n bytes are captured.
func (s *leaves) err(n int) error {
	if err := s.Err(n); err != nil {
		return err
	}
	for id, d := range s.sources {
		if d.next != d.size {
			return fmt.Errorf("leaves of source %d end at %d of %d", id, d.next, d.size)
		}
	}
	return nil
}

// sweeper is a dissect.Handler that walks every frame, and many prefixes of many.
type sweeper struct {
	t       *testing.T
	file    string
	decoder *walk.Decoder
	r       *rand.Rand
	swept   map[string]int // by API, version and direction
	frames  int
	sweeps  int
	derived int
}

func (w *sweeper) Exchange(x *dissect.Exchange) {
	for _, f := range []*dissect.Frame{x.Request, x.Response} {
		if f != nil {
			w.frame(f)
		}
	}
}

func (*sweeper) Closed(*dissect.Connection, reassembly.End) {}

func (w *sweeper) frame(f *dissect.Frame) {
	w.frames++
	whole := leaves{keep: true}
	f.Walk(w.decoder, &whole)
	w.derived += len(whole.sources)
	require.NoError(w.t, whole.err(len(f.Bytes)), "%s: %s", w.file, name(f))
	if f.Cut() || f.Kind == dissect.TokenFrame {
		return
	}
	// Of each API and version, a few frames are cut at every byte where they are small, and all at
	// some.
	n := len(f.Bytes)
	kind := fmt.Sprint(f.APIKey, f.Version, f.Plan != nil && f.Plan.Direction == 0)
	w.swept[kind]++
	cuts := 2
	if w.swept[kind] <= 2 {
		cuts = 100
	}
	end := w.decoder.Frame(f.Bytes, f.Size, f.Header, f.Plan, nil).End
	for i := range min(cuts, n) {
		at := w.r.IntN(n)
		if n <= cuts {
			at = i
		}
		w.prefix(f, at, end, whole.list)
	}
}

// prefix decodes the first n bytes of a frame, whose end of the body and leaves are known.
func (w *sweeper) prefix(f *dissect.Frame, n, end int, want []leaf) {
	w.sweeps++
	short := *f
	short.Bytes = f.Bytes[:n:n]
	got := leaves{keep: true}
	short.Walk(w.decoder, &got)
	require.NoError(w.t, got.err(n), "%s: %d bytes of %s", w.file, n, name(f))
	same := 0
	for same < len(got.list) && same < len(want) && got.list[same].equal(&want[same]) {
		same++
	}
	for _, l := range got.list[same:] {
		require.True(w.t, l.cut || l.desc.Kind == tree.KindRest, "%s: %d bytes of %s: %s at %v is none of the whole frame's", w.file, n, name(f), l.desc.Name, l.span)
	}
	result := w.decoder.Frame(short.Bytes, f.Size, f.Header, f.Plan, nil)
	require.LessOrEqual(w.t, result.End, n)
	require.Equal(w.t, n < end, result.Failed, "%s: %d bytes of %s, whose body ends at %d", w.file, n, name(f), end)
	if result.Failed {
		require.LessOrEqual(w.t, result.Err.Off, n, "%s: %d bytes of %s", w.file, n, name(f))
	}
}

func (l *leaf) equal(o *leaf) bool {
	return l.desc == o.desc && l.span == o.span && l.num == o.num && bytes.Equal(l.b, o.b)
}

func name(f *dissect.Frame) string {
	return fmt.Sprintf("key %d v%d, packets %d-%d", f.APIKey, f.Version, f.FirstPacket, f.LastPacket)
}

// TestEveryFrameTiles walks every frame of the corpora down to records and payloads, and cut ones.
func TestEveryFrameTiles(t *testing.T) {
	w := &sweeper{t: t, decoder: payload.New(nil, records.Limits{}).Decoder(), r: rand.New(rand.NewPCG(1, 2)), swept: map[string]int{}}
	for _, w.file = range kafkaCaptures(t) {
		readInto(t, dissect.New(dissect.Options{Handler: w}), w.file)
	}
	t.Logf("%d frames of %d kinds with %d derived sources; %d prefixes", w.frames, len(w.swept), w.derived, w.sweeps)
	if !corpus.Race {
		assert.Greater(t, w.frames, 45_000)
		assert.Greater(t, len(w.swept), 600)
	}
}

// splitting cuts every chunk into pieces on its way to a Handler.
type splitting struct {
	reassembly.Handler
	r *rand.Rand
}

func (s splitting) Chunk(c *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	for b := ch.Bytes; len(b) > 0; {
		n := min(len(b), 1+s.r.IntN(1+s.r.IntN(64)))
		ch.Bytes = b[:n:n]
		s.Handler.Chunk(c, d, ch)
		ch.Off += int64(n)
		b = b[n:]
	}
}

// outline writes down what a dissect.Handler is given.
type outline struct{ lines []string }

func (o *outline) Exchange(x *dissect.Exchange) {
	line := fmt.Sprint(x.Number, x.Conn.TCP.ID, x.State, x.Overtook, x.Latency)
	for _, f := range []*dissect.Frame{x.Request, x.Response} {
		if f != nil {
			line += fmt.Sprintf(" %d %d %d %d %v %x %v %v", f.Kind, f.Offset, f.FirstTime, f.LastTime, f.Packets, f.Bytes, f.Issues, f.Plan != nil)
		}
	}
	o.lines = append(o.lines, line)
}

func (o *outline) Closed(c *dissect.Connection, why reassembly.End) {
	o.lines = append(o.lines, fmt.Sprint(c.TCP.ID, why, c.Protocol, c.Broker, c.Counts, c.Skips, c.Gaps, c.Issues))
}

// TestAnyChunkingGivesTheSame cuts the streams of every capture into pieces of any size.
func TestAnyChunkingGivesTheSame(t *testing.T) {
	exchanges := 0
	for i, file := range kafkaCaptures(t) {
		var whole, pieces outline
		readInto(t, dissect.New(dissect.Options{Handler: &whole}), file)
		readInto(t, splitting{dissect.New(dissect.Options{Handler: &pieces}), rand.New(rand.NewPCG(uint64(i), 3))}, file)
		require.Equal(t, len(whole.lines), len(pieces.lines), file)
		for j := range whole.lines {
			require.Equal(t, whole.lines[j], pieces.lines[j], file)
		}
		exchanges += len(whole.lines)
	}
	t.Logf("%d exchanges and connections are the same", exchanges)
}
