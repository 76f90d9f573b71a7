package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/fuzzing"
)

// toy is a protocol whose frames are: size, 0xab 0xcd, payload, and the sum of the payload.
type toy struct {
	unsure bool // leaves whole frames to what follows
	picky  bool // believes only frames that begin a packet
}

func (toy) Size(n int32) bool { return n >= 3 && n < 1<<30 }

func (toy) Header(_, b []byte) Verdict {
	if len(b) < 4 {
		return More
	}
	if n := int32(binary.BigEndian.Uint32(b)); n < 3 || n > 1<<30 {
		return No
	}
	if len(b) < 6 {
		return More
	}
	if b[4] != 0xab || b[5] != 0xcd {
		return No
	}
	return Strong
}

func (j toy) Whole(b []byte, aligned bool) Verdict {
	switch {
	case j.unsure:
		return Weak
	case j.picky && !aligned:
		return No
	}
	var sum byte
	for _, c := range b[6 : len(b)-1] {
		sum += c
	}
	if sum != b[len(b)-1] {
		return No
	}
	return Strong
}

func (j toy) Begins(b []byte) bool { return j.Header(nil, b) == Strong }

func toyFrame(payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)+3))
	b = append(b, 0xab, 0xcd)
	b = append(b, payload...)
	var sum byte
	for _, c := range payload {
		sum += c
	}
	return append(b, sum)
}

// log is a Sink that writes down what it is given.
type log struct {
	lines []string
	spans [][2]int64 // of given and of skipped bytes
	whole int
	t     *testing.T
	data  []byte
}

func (l *log) Frame(f *Frame) {
	l.lines = append(l.lines, fmt.Sprintf("frame %d size %d bytes %d why %v %d+%d", f.Off, f.Size, len(f.Bytes), f.Missing.Why, f.Missing.Off, f.Missing.Len))
	l.spans = append(l.spans, [2]int64{f.Off, int64(len(f.Bytes))})
	if f.Whole() {
		l.whole++
		require.Len(l.t, f.Bytes, int(f.Size)+4)
	}
	if l.data != nil {
		require.Equal(l.t, l.data[f.Off:f.Off+int64(len(f.Bytes))], f.Bytes)
	}
	require.NotEmpty(l.t, f.Marks)
	require.Zero(l.t, f.Marks[0].Off)
}

func (l *log) Skip(s Skip) {
	l.lines = append(l.lines, fmt.Sprintf("skip %d+%d %v", s.Off, s.Len, s.Why))
	l.spans = append(l.spans, [2]int64{s.Off, s.Len})
}

// owner puts a Judge and a Sink together.
type owner struct {
	Judge
	Sink
}

type piece struct {
	off int64
	b   []byte // nil is a gap
	n   int64
}

// run feeds pieces, each a packet, cutting each into chunks of the lengths that cut returns.
func run(t *testing.T, data []byte, pieces []piece, synced bool, l Limits, j Judge, cut func() int) *log {
	out := &log{t: t, data: data}
	pool := NewPool(NewBudget(0))
	var s Splitter
	start := Search
	if synced {
		start = Verify
	}
	l = l.WithDefaults()
	s.Init(owner{j, out}, pool, &l, 0, start)
	packet := int64(0)
	for _, p := range pieces {
		packet++
		if p.b == nil {
			s.Gap(Gap{Off: p.off, Len: p.n, Packet: packet})
			continue
		}
		for off, b := p.off, p.b; len(b) > 0; {
			n := min(len(b), cut())
			s.Chunk(off, append([]byte(nil), b[:n]...), packet, packet)
			off, b = off+int64(n), b[n:]
		}
	}
	s.Finish(packet, packet)
	s.Release()
	assert.Zero(t, pool.Lent(), "buffers are given back")
	return out
}

func all() int { return 1 << 30 }

// stream makes frames with garbage between them, and cuts holes into it.
func stream(r *rand.Rand) ([]byte, []piece) {
	var data []byte
	for range 1 + r.IntN(12) {
		p := make([]byte, r.IntN(60))
		for i := range p {
			// Few values, so that false headers are common.
			p[i] = []byte{0, 0, 0, 5, 0xab, 0xcd, 9}[r.IntN(7)]
		}
		if r.IntN(6) == 0 {
			data = append(data, p...)
		} else {
			data = append(data, toyFrame(p)...)
		}
	}
	var pieces []piece
	off := 0
	for off < len(data) {
		n := min(1+r.IntN(120), len(data)-off)
		pieces = append(pieces, piece{int64(off), data[off : off+n], 0})
		off += n
		if n = min(1+r.IntN(40), len(data)-off); n > 0 && r.IntN(3) == 0 {
			pieces = append(pieces, piece{int64(off), nil, int64(n)})
			off += n
		}
	}
	return data, pieces
}

func TestAnyChunkingGivesTheSame(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		data, pieces := stream(r)
		synced := r.IntN(2) == 0
		j := toy{unsure: r.IntN(3) == 0, picky: r.IntN(3) == 0}
		l := Limits{Chain: 2}
		if r.IntN(4) == 0 {
			l.MaxFrame, l.KeepOver = 30, 8
		}
		want := run(t, data, pieces, synced, l, j, all)
		one := run(t, data, pieces, synced, l, j, func() int { return 1 })
		require.Equal(t, want.lines, one.lines, "seed %d, byte by byte", seed)
		some := run(t, data, pieces, synced, l, j, func() int { return 1 + r.IntN(9) })
		require.Equal(t, want.lines, some.lines, "seed %d, random", seed)

		// Nothing is given twice, and each captured byte is given, skipped, or in a frame over the limit.
		seen := make([]int, len(data))
		for _, s := range want.spans {
			for i := s[0]; i < s[0]+s[1]; i++ {
				seen[i]++
			}
		}
		captured := make([]int, len(data))
		for _, p := range pieces {
			for i := range p.b {
				captured[p.off+int64(i)] = 1
			}
		}
		if l.MaxFrame == 0 {
			require.Equal(t, captured, seen, "seed %d: %v", seed, want.lines)
		}
	}
}

func TestFrames(t *testing.T) {
	a, b, c := toyFrame([]byte("first")), toyFrame([]byte("the second")), toyFrame([]byte("third"))
	data := append(append(append([]byte(nil), a...), b...), c...)
	la, lb := int64(len(a)), int64(len(b))
	gap := func(from, to int64) []piece {
		return []piece{{0, data[:from], 0}, {from, nil, to - from}, {to, data[to:], 0}}
	}
	frame := func(off int64, b []byte) string {
		return fmt.Sprintf("frame %d size %d bytes %d why  0+0", off, len(b)-4, len(b))
	}
	for _, tc := range []struct {
		name   string
		pieces []piece
		synced bool
		want   []string
	}{
		{"in step", []piece{{0, data, 0}}, true, []string{frame(0, a), frame(la, b), frame(la+lb, c)}},
		{"searched", []piece{{0, data, 0}}, false, []string{frame(0, a), frame(la, b), frame(la+lb, c)}},
		{"begun inside", []piece{{0, data[3:], 0}}, false, []string{
			fmt.Sprintf("skip 0+%d no frame found", la-3), frame(la-3, b), frame(la+lb-3, c)}},
		{"gap inside a frame", gap(la+8, la+11), true, []string{frame(0, a),
			fmt.Sprintf("frame %d size %d bytes 8 why missing 8+3", la, lb-4),
			fmt.Sprintf("skip %d+%d behind a gap in their frame", la+11, lb-11), frame(la+lb, c)}},
		{"gap up to a frame's end", gap(la+8, la+lb), true, []string{frame(0, a),
			fmt.Sprintf("frame %d size %d bytes 8 why missing 8+%d", la, lb-4, lb-8), frame(la+lb, c)}},
		{"gap over a boundary", gap(la-2, la+3), true, []string{
			fmt.Sprintf("frame 0 size %d bytes %d why missing %d+2", la-4, la-2, la-2),
			fmt.Sprintf("skip %d+%d no frame found", la+3, lb-3), frame(la+lb, c)}},
		{"a frame lost whole", gap(la, la+lb), true, []string{frame(0, a), frame(la+lb, c)}},
		{"a prefix cut", gap(la+2, la+6), true, []string{frame(0, a),
			fmt.Sprintf("skip %d+2 a part of a size prefix", la),
			fmt.Sprintf("skip %d+%d no frame found", la+6, lb-6), frame(la+lb, c)}},
		{"the end", []piece{{0, data[:la+7], 0}}, true, []string{frame(0, a),
			fmt.Sprintf("frame %d size %d bytes 7 why the stream ended 7+%d", la, lb-4, lb-7)}},
		{"a gap of unknown length", []piece{{0, data[:la+7], 0}, {la + 7, nil, -1}, {la + 7, c, 0}}, true, []string{frame(0, a),
			fmt.Sprintf("frame %d size %d bytes 7 why missing 7+%d", la, lb-4, lb-7), frame(la+7, c)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, run(t, nil, tc.pieces, tc.synced, Limits{}, toy{}, all).lines)
		})
	}
}

// A judge may ask that a frame begins a packet; the ends of chunks and the bytes that are passed
// over before do not count.
func TestAlignmentIsThatOfPackets(t *testing.T) {
	a, b := toyFrame([]byte("first")), toyFrame([]byte("second"))
	junk := make([]byte, 3000)
	for _, tc := range []struct {
		name   string
		pieces []piece
		whole  int
	}{
		{"a packet each", []piece{{0, junk[:7], 0}, {7, a, 0}}, 1},
		{"inside a packet", []piece{{0, append(junk[:7:7], a...), 0}}, 0},
		{"behind what was forgotten", []piece{{0, junk, 0}, {3000, a, 0}}, 1},
		{"inside, behind what was forgotten", []piece{{0, append(junk[:3000:3000], a...), 0}}, 0},
		{"at the start", []piece{{0, a, 0}}, 1},
		{"behind a gap", []piece{{0, junk[:7], 0}, {7, nil, 9}, {16, a, 0}}, 1},
		{"the next one in the same packet", []piece{{0, append(append([]byte(nil), a...), b...), 0}}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, cut := range []func() int{all, func() int { return 1 }, func() int { return 700 }} {
				assert.Equal(t, tc.whole, run(t, nil, append([]piece(nil), tc.pieces...), false, Limits{}, toy{picky: true}, cut).whole)
			}
		})
	}
}

// A frame that begins behind another one is known by its size alone.
func TestGapInAHeaderBehindAGap(t *testing.T) {
	a, b, c := toyFrame(make([]byte, 20)), toyFrame(make([]byte, 20)), toyFrame([]byte("third"))
	data := append(append(append([]byte(nil), a...), b...), c...)
	la, lb := int64(len(a)), int64(len(b))
	out := run(t, nil, []piece{{0, data[:8], 0}, {8, nil, la - 8}, {la, data[la : la+5], 0}, {la + 5, nil, lb - 5}, {la + lb, c, 0}}, true, Limits{}, toy{}, all)
	assert.Equal(t, []string{
		fmt.Sprintf("frame 0 size %d bytes 8 why missing 8+%d", la-4, la-8),
		fmt.Sprintf("frame %d size %d bytes 5 why missing 5+%d", la, lb-4, lb-5),
		fmt.Sprintf("frame %d size %d bytes %d why  0+0", la+lb, len(c)-4, len(c)),
	}, out.lines)
}

func TestBadSizeIsSearchedOver(t *testing.T) {
	for _, size := range []int32{0, -1, -1 << 31, 1<<31 - 1} {
		a, b := toyFrame([]byte("abc")), toyFrame([]byte("defg"))
		data := append(append(append([]byte(nil), a...), binary.BigEndian.AppendUint32(nil, uint32(size))...), b...)
		out := run(t, data, []piece{{0, data, 0}}, true, Limits{}, toy{}, all)
		assert.Equal(t, 2, out.whole, "size %d: %v", size, out.lines)
	}
}

// TestInChunk has frames told apart that lie in the chunk itself, and those out of other memory.
func TestInChunk(t *testing.T) {
	a := toyFrame([]byte("abc"))
	var got []bool
	var s Splitter
	limits := Limits{}.WithDefaults()
	s.Init(owner{toy{}, told(func(f *Frame) { got = append(got, f.InChunk) })}, NewPool(NewBudget(0)), &limits, 0, InStep)
	off := int64(0)
	for _, parts := range [][][]byte{{a}, {a[:3]}, nil, {[]byte("garbage"), a, a}, {a, a[:5]}, {a[5:], a}} {
		if parts == nil {
			s.Gap(Gap{Off: off, Len: -1})
		}
		b := bytes.Join(parts, nil)
		s.Chunk(off, b, 1, 1)
		off += int64(len(b))
	}
	assert.Equal(t, []bool{true, false, false, true, false, true}, got)
}

// told is a Sink that is a function.
type told func(*Frame)

func (f told) Frame(g *Frame) { f(g) }
func (told) Skip(Skip)        {}

func TestOversizeFrameIsSteppedOver(t *testing.T) {
	a, b := toyFrame(make([]byte, 5000)), toyFrame([]byte("next"))
	data := append(append([]byte(nil), a...), b...)
	out := run(t, data, []piece{{0, data, 0}}, true, Limits{MaxFrame: 1000, KeepOver: 64}, toy{}, func() int { return 100 })
	assert.Equal(t, []string{
		fmt.Sprintf("frame 0 size %d bytes 64 why over the limit 64+%d", len(a)-4, len(a)-64),
		fmt.Sprintf("frame %d size %d bytes %d why  0+0", len(a), len(b)-4, len(b)),
	}, out.lines)
}

func TestPoolLimitNamesWhatIsGivenUp(t *testing.T) {
	pool := NewPool(NewBudget(2048))
	out := &log{t: t}
	var s Splitter
	limits := Limits{}.WithDefaults()
	s.Init(owner{toy{}, out}, pool, &limits, 0, InStep)
	a := toyFrame(make([]byte, 9000))
	for off := 0; off < len(a); off += 700 {
		s.Chunk(int64(off), a[off:min(off+700, len(a))], 1, 1)
	}
	require.Len(t, out.lines, 1)
	assert.Contains(t, out.lines[0], "over the limit")
	assert.Zero(t, pool.Lent())
}

func TestInStepAllocatesNothing(t *testing.T) {
	a := toyFrame(make([]byte, 3000))
	var s Splitter
	limits := Limits{}.WithDefaults()
	s.Init(owner{toy{}, discard{}}, NewPool(NewBudget(0)), &limits, 0, InStep)
	off := int64(0)
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		for _, part := range [][]byte{a, a[:1000], a[1000:]} {
			s.Chunk(off, part, 1, 1)
			off += int64(len(part))
		}
	}))
}

type discard struct{}

func (discard) Frame(*Frame) {}
func (discard) Skip(Skip)    {}

// FuzzSplitter gives a stream with a gap in chunks of any size: the frames are the same, and memory
// is bounded, whatever sizes the stream claims.
func FuzzSplitter(f *testing.F) {
	a := toyFrame([]byte("abc"))
	f.Add([]byte("\x00\x00\x00\x05\xab\xcd\x01\x02\x03"), uint16(3), true, uint16(0), uint16(0))
	f.Add(append(append([]byte{1, 2}, a...), a...), uint16(2), false, uint16(4), uint16(3))
	f.Add(append(a, 0x7f, 0xff, 0xff, 0xff, 0xab, 0xcd), uint16(1), true, uint16(40), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16, synced bool, at, lost uint16) {
		if len(data) > 4096 {
			return
		}
		from := min(int(at), len(data))
		to := min(from+int(lost), len(data))
		pieces := []piece{{0, data[:from], 0}, {int64(from), nil, int64(to - from)}, {int64(to), data[to:], 0}}
		if from == to {
			pieces = []piece{{0, data, 0}}
		}
		allocated := fuzzing.Allocated(func() {
			want := run(t, data, pieces, synced, Limits{}, toy{picky: cut&1 != 0}, all)
			got := run(t, data, pieces, synced, Limits{}, toy{picky: cut&1 != 0}, func() int { return 1 + int(cut) })
			require.Equal(t, want.lines, got.lines)
		})
		require.Less(t, allocated, uint64(2<<20+4096*len(data)))
	})
}

// A buffer is made as large as what is to come only while there is room, and within reason.
func TestBuffersGrowAheadWhileThereIsRoom(t *testing.T) {
	pool := NewPool(NewBudget(1 << 20))
	grown := func(total int64) int {
		b, ok := pool.AppendTo(nil, make([]byte, 600), total)
		require.True(t, ok)
		b, ok = pool.AppendTo(b, make([]byte, 600), total)
		require.True(t, ok)
		defer pool.Put(b)
		return cap(b.B)
	}
	assert.Equal(t, 2048, grown(0))
	assert.Equal(t, 4096, grown(4000))
	assert.Equal(t, 16384, grown(1<<30), "no more than so many times what has come")
	small := NewPool(NewBudget(8192))
	b, ok := small.AppendTo(nil, make([]byte, 600), 1<<30)
	require.True(t, ok)
	_, ok = small.AppendTo(b, make([]byte, 600), 1<<30)
	assert.True(t, ok, "what is to come is no reason to refuse what is there")
	held := pool.Get(1 << 18)
	assert.Equal(t, 2048, grown(1<<30))
	pool.Put(held)
	assert.Equal(t, 16384, grown(1<<30))
}
