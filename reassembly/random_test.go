package reassembly_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sent is a segment of a generated conversation, with where its payload lies in its stream.
type sent struct {
	d        reassembly.Dir
	flags    reassembly.Flags
	seq, ack uint32
	off      int64
	payload  []byte
	wire     int
}

// conversation generates the segments that a perfect capture would show, in order: a handshake,
// data in both directions with acknowledgements, repeated pieces, FINs.
func conversation(r *rand.Rand, streams [2][]byte, isn [2]uint32) []sent {
	var out []sent
	var pos [2]int64 // sent
	add := func(d reassembly.Dir, flags reassembly.Flags, off int64, payload []byte) {
		out = append(out, sent{d: d, flags: flags, seq: isn[d] + 1 + uint32(off), ack: isn[d.Other()] + 1 + uint32(pos[d.Other()]),
			off: off, payload: payload, wire: len(payload)})
	}
	out = append(out, sent{d: fwd, flags: syn, seq: isn[fwd]})
	out = append(out, sent{d: bwd, flags: syn | ack, seq: isn[bwd], ack: isn[fwd] + 1})
	add(fwd, ack, 0, nil)
	for pos[fwd] < int64(len(streams[fwd])) || pos[bwd] < int64(len(streams[bwd])) {
		d := reassembly.Dir(r.IntN(2))
		s := streams[d]
		for range 1 + r.IntN(6) {
			n := min(1+r.IntN(1460), len(s)-int(pos[d]))
			if r.IntN(4) == 0 {
				n = min(n, 1+r.IntN(8))
			}
			if n == 0 {
				break
			}
			add(d, ack, pos[d], s[pos[d]:pos[d]+int64(n)])
			pos[d] += int64(n)
			switch r.IntN(12) {
			case 0: // sent again, cut anew
				from := max(0, pos[d]-int64(r.IntN(4000)))
				to := from + int64(r.IntN(int(pos[d]-from)+1))
				add(d, ack, from, s[from:to])
			case 1:
				add(d, ack, pos[d], nil)
			case 2: // a keep-alive
				add(d, ack, pos[d]-1, nil)
			case 3, 4, 5:
				add(d.Other(), ack, pos[d.Other()], nil)
			}
		}
		if r.IntN(3) > 0 {
			add(d.Other(), ack, pos[d.Other()], nil)
		}
	}
	add(fwd, fin|ack, pos[fwd], nil)
	add(bwd, fin|ack, pos[bwd], nil)
	out[len(out)-1].ack++
	add(fwd, ack, pos[fwd]+1, nil)
	out[len(out)-1].ack++
	return out
}

// spoiling spoils a conversation as captures are spoiled.
type spoiling struct {
	loss     float64
	swaps    bool
	doubles  bool
	snap     bool
	recut    bool // segments cut smaller
	mid      bool
	oneSided bool
}

func (c spoiling) apply(r *rand.Rand, in []sent) []sent {
	var out []sent
	if c.mid {
		in = in[r.IntN(len(in)):]
	}
	for _, s := range in {
		n := 1
		if c.recut && len(s.payload) > 1 && r.IntN(2) == 0 {
			n = 1 + r.IntN(4)
		}
		for n > 1 && len(s.payload) > 1 {
			k := 1 + r.IntN(len(s.payload)-1)
			head := s
			head.payload, head.wire = s.payload[:k], k
			out = append(out, head)
			s.payload, s.wire, s.seq, s.off = s.payload[k:], s.wire-k, s.seq+uint32(k), s.off+int64(k)
			n--
		}
		out = append(out, s)
	}
	if c.snap {
		most := 20 + r.IntN(600)
		for i := range out {
			out[i].payload = out[i].payload[:min(len(out[i].payload), most)]
		}
	}
	only := reassembly.Dir(r.IntN(2))
	kept := out[:0:0]
	for _, s := range out {
		if r.Float64() < c.loss || c.oneSided && s.d != only {
			continue
		}
		kept = append(kept, s)
		if c.doubles && r.IntN(8) == 0 {
			kept = append(kept, s)
		}
	}
	if c.swaps {
		for i := 1; i < len(kept); i++ {
			if r.IntN(12) == 0 {
				kept[i-1], kept[i] = kept[i], kept[i-1]
				i++
			} else if i > 3 && r.IntN(40) == 0 {
				s := kept[i]
				copy(kept[i-2:], kept[i-3:i])
				kept[i-3] = s
			}
		}
	}
	return kept
}

// TestRandom reassembles thousands of random conversations, spoiled in each way and in all, and
// compares with the streams they were made from.
func TestRandom(t *testing.T) {
	kinds := map[string]spoiling{
		"whole":     {},
		"reordered": {swaps: true, doubles: true, recut: true},
		"lossy":     {loss: 0.03},
		"spoiled":   {loss: 0.05, swaps: true, doubles: true, recut: true, snap: true},
		"cut":       {snap: true, swaps: true, doubles: true},
		"middle":    {mid: true, loss: 0.02, recut: true},
		"one side":  {oneSided: true, loss: 0.05, doubles: true},
		"mostly":    {loss: 0.6, swaps: true},
	}
	rounds := 400
	if testing.Short() || corpus.Race {
		rounds = 60
	}
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			for seed := range rounds {
				randomConnection(t, c, uint64(seed))
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func randomConnection(t *testing.T, c spoiling, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	streams := [2][]byte{randomBytes(r, r.IntN(20000)), randomBytes(r, r.IntN(20000))}
	isn := [2]uint32{r.Uint32(), -uint32(r.IntN(20000))}
	segs := c.apply(r, conversation(r, streams, isn))

	rec := newRecorder(t)
	f := newFeeder(rec, reassembly.Limits{})
	var told [2][]int64 // the packet before each gap
	rec.onGap = func(_ *reassembly.Conn, d reassembly.Dir, _ reassembly.Gap) { told[d] = append(told[d], f.packet) }
	var captured [2][]int64 // the packet that first had each byte
	for d := range captured {
		captured[d] = make([]int64, len(streams[d]))
	}
	// Where it begins in the middle, the Assembler takes the first that sends for the client.
	flip := len(segs) > 0 && segs[0].d == bwd && segs[0].flags&syn == 0
	for i := range segs {
		s := &segs[i]
		for k := range s.payload {
			if p := &captured[s.d][s.off+int64(k)]; *p == 0 {
				*p = f.packet + 1
			}
		}
		f.cut(s.d, s.flags, s.seq, s.ack, string(s.payload), s.wire)
		if i%50 == 0 {
			f.a.Advance(f.time)
		}
	}
	f.a.Flush()
	if len(segs) == 0 {
		assert.Empty(t, rec.conns)
		return
	}
	require.Len(t, rec.conns, 1)
	assert.Zero(t, f.a.Held())
	k := rec.conns[0]
	for side := range streams {
		d := side
		if flip {
			d = 1 - side
		}
		checkDirection(t, c, &k.dirs[d], streams[side], captured[side], told[d], fmt.Sprintf("seed %d side %d", seed, side))
	}
	if c.loss == 0 && !c.mid && !c.oneSided {
		assert.Equal(t, reassembly.EndFIN, k.why)
		assert.Equal(t, 1, k.dirs[0].finished)
		assert.Equal(t, 1, k.dirs[1].finished)
	}
	assert.Zero(t, rec.notes[reassembly.OverlapConflict])
	assert.Zero(t, rec.notes[reassembly.OutOfWindow])
}

// checkDirection checks that the chunks are the stream at their offsets, and that the gaps are what
// had not been captured when they were told.
func checkDirection(t *testing.T, c spoiling, x *direction, stream []byte, captured, told []int64, what string) {
	t.Helper()
	slack := int64(0)
	if c.loss > 0 || c.oneSided {
		slack = 1 // an acknowledged FIN that was lost, with bytes before it, looks like a byte
	}
	begin := int64(0)
	if c.mid || c.loss > 0 || c.oneSided {
		var ok bool
		if begin, ok = x.offsetIn(stream); !ok {
			return // too few bytes to tell
		}
	}
	delivered := make([]bool, len(stream))
	for i, at := range x.at {
		if begin+at >= int64(len(stream)) || stream[begin+at] != x.bytes[i] {
			t.Fatalf("%s: byte %d at %d differs from the stream", what, i, at)
		}
		delivered[begin+at] = true
	}
	late := make([]bool, len(stream))
	for i, g := range x.gaps {
		for at := begin + g.Off; at < min(begin+g.Off+g.Len, int64(len(stream))); at++ {
			if captured[at] != 0 && captured[at] <= told[i] {
				t.Fatalf("%s: gap of %d at %d holds byte %d, captured", what, g.Len, g.Off, at)
			}
			late[at] = true
		}
		assert.NotEqual(t, reassembly.BufferLimit, g.Reason, what)
		assert.True(t, c.snap || g.Reason == reassembly.NotCaptured, what)
	}
	for at := max(begin, 0); at < int64(len(stream)); at++ {
		if captured[at] != 0 && !delivered[at] && !late[at] {
			t.Fatalf("%s: byte %d was captured by packet %d, not delivered; begins at %d", what, at, captured[at], begin)
		}
	}
	if c == (spoiling{}) || c == (spoiling{swaps: true, doubles: true, recut: true}) {
		assert.True(t, bytes.Equal(stream, x.bytes), what)
		assert.Empty(t, x.gaps, what)
	}
	assert.LessOrEqual(t, begin+x.next, int64(len(stream))+slack, what)
}

// TestSplitInvariance has the same streams in any cut and order, with the same result.
func TestSplitInvariance(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		stream := randomBytes(r, 1+r.IntN(60000))
		isn := -uint32(r.IntN(60000))
		type cutting struct{ from, to int }
		var cuts []cutting
		for from := 0; from < len(stream); {
			to := min(len(stream), from+1+r.IntN(3000))
			cuts = append(cuts, cutting{max(0, from-r.IntN(200)), min(len(stream), to+r.IntN(200))})
			if r.IntN(3) == 0 {
				cuts = append(cuts, cuts[r.IntN(len(cuts))])
			}
			from = to
		}
		r.Shuffle(len(cuts), func(i, j int) { cuts[i], cuts[j] = cuts[j], cuts[i] })
		rec := newRecorder(t)
		f := newFeeder(rec, reassembly.Limits{})
		f.handshake(isn, 1)
		for _, c := range cuts {
			f.send(fwd, ack, isn+1+uint32(c.from), 2, string(stream[c.from:c.to]))
		}
		x := &rec.conns[0].dirs[fwd]
		if !bytes.Equal(stream, x.bytes) || len(x.gaps) > 0 || f.a.Held() != 0 {
			t.Fatalf("seed %d: %d bytes of %d, %d gaps", seed, len(x.bytes), len(stream), len(x.gaps))
		}
	}
}
