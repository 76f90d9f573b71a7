package capture

import (
	"math/rand"
	"testing"
	"time"

	"github.com/kdissect/kdissect/reassembly"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// piece is one fragment of the payload of an IP packet.
type piece struct {
	off  int
	last bool
	data []byte
}

func split(payload []byte, size int) []piece {
	var out []piece
	for off := 0; off < len(payload); off += size {
		end := min(off+size, len(payload))
		out = append(out, piece{off, end == len(payload), payload[off:end]})
	}
	return out
}

func (p piece) ip4(id int) []byte {
	frag := p.off / 8
	if !p.last {
		frag |= 0x2000
	}
	return ip4Raw(protoTCP, 20+len(p.data), id, frag, nil, p.data)
}

func (p piece) ip6(id int) []byte {
	field := p.off
	if !p.last {
		field |= 1
	}
	return ip6(protoFragment, join([]byte{protoTCP, 0}, u16b(field), u32b(uint32(id)), p.data))
}

type fragmentRun struct {
	t    *testing.T
	dec  *Decoder
	seg  reassembly.Segment
	time int64
}

func (r *fragmentRun) decode(data []byte, wire int) Verdict {
	return r.dec.Decode(&Packet{Data: data, WireLen: max(wire, len(data)), Link: LinkRaw, Time: r.time}, &r.seg)
}

func newRun(t *testing.T, l Limits) *fragmentRun { return &fragmentRun{t: t, dec: NewDecoder(l)} }

func TestFragmentsInAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	payload := make([]byte, 5000)
	rnd.Read(payload)
	tunnel := func(b []byte) []byte { return ip6(protoGRE, join(u16b(0, 0x0800), b)) }
	for _, tc := range []struct {
		name string
		wrap func(piece, int) []byte
	}{
		{"ipv4", piece.ip4},
		{"ipv6", piece.ip6},
		{"in a tunnel", func(p piece, id int) []byte { return tunnel(p.ip4(id)) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := newRun(t, Limits{})
			for id := range 100 {
				pieces := split(tcpOf(payload[:1+rnd.Intn(len(payload)-1)]), 8*(1+rnd.Intn(100)))
				rnd.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
				whole := 0
				for i, p := range pieces {
					whole += len(p.data)
					v := run.decode(tc.wrap(p, id), 0)
					if i < len(pieces)-1 {
						require.Equal(t, FragmentWaiting, v)
						continue
					}
					require.Equal(t, TCPSegment, v)
				}
				require.Equal(t, string(payload[:whole-20]), string(run.seg.Payload))
				require.Equal(t, whole-20, run.seg.WireLen)
			}
			assert.Zero(t, run.dec.Incomplete())
			assert.Zero(t, run.dec.frags.bytes)
			assert.Empty(t, run.dec.frags.waiting)
		})
	}
}

func TestFragmentsOverlapFirstCopyWins(t *testing.T) {
	a := tcpOf([]byte("first copy of sixteen bytes and a bit of a rest"))
	b := append([]byte(nil), a...)
	for i := 24; i < len(b); i++ {
		b[i] = '!'
	}
	run := newRun(t, Limits{})
	assert.Equal(t, FragmentWaiting, run.decode(piece{0, false, a[:40]}.ip4(1), 0))
	assert.Equal(t, FragmentDropped, run.decode(piece{24, false, b[24:40]}.ip4(1), 0), "a repeat")
	assert.Equal(t, FragmentWaiting, run.decode(piece{32, false, join(b[32:40], a[40:48])}.ip4(1), 0))
	assert.Equal(t, TCPSegment, run.decode(piece{48, true, a[48:]}.ip4(1), 0))
	assert.Equal(t, string(a[20:]), string(run.seg.Payload))
}

func TestFragmentsThatContradict(t *testing.T) {
	a := tcpOf(make([]byte, 100))
	run := newRun(t, Limits{})
	assert.Equal(t, FragmentWaiting, run.decode(piece{64, true, a[64:]}.ip6(1), 0))
	assert.Equal(t, FragmentDropped, run.decode(piece{72, true, a[72:100]}.ip6(1), 0), "another end")
	assert.Equal(t, FragmentDropped, run.decode(piece{120, false, a[:8]}.ip6(1), 0), "behind the end")
	assert.Equal(t, Malformed, run.decode(piece{0, false, a[:13]}.ip6(1), 0), "odd length")
	assert.Equal(t, Malformed, run.decode(piece{65528, true, a[:20]}.ip6(1), 0), "longer than a datagram")
	assert.Equal(t, Malformed, run.decode(piece{8, true, nil}.ip6(1), 0), "empty")
	assert.Equal(t, TCPSegment, run.decode(piece{0, false, a[:64]}.ip6(1), 0))
}

func TestFragmentCutBySnapshot(t *testing.T) {
	a := tcpOf([]byte("some bytes of which a number in the middle was not captured, and more"))
	run := newRun(t, Limits{})
	first, second, third := piece{0, false, a[:40]}.ip4(1), piece{40, false, a[40:64]}.ip4(1), piece{64, true, a[64:]}.ip4(1)
	assert.Equal(t, FragmentWaiting, run.decode(first, 0))
	assert.Equal(t, FragmentWaiting, run.decode(second[:20+10], len(second)))
	assert.Equal(t, TCPSegment, run.decode(third, 0))
	assert.Equal(t, string(a[20:50]), string(run.seg.Payload))
	assert.Equal(t, len(a)-20, run.seg.WireLen)
}

// Equal addresses and ids behind different tags or tunnels are different datagrams.
func TestFragmentsKeepScopesApart(t *testing.T) {
	a, b := tcpOf([]byte("one tenant's bytes are these here")), tcpOf([]byte("the other's are not the same bits"))
	dec := NewDecoder(Limits{})
	var seg reassembly.Segment
	decode := func(vni uint32, p piece) Verdict {
		data := ip4(protoUDP, udpTo(4789, join(u32b(0x08000000), u32b(vni<<8), eth(0x0800, p.ip4(9)))))
		return dec.Decode(&Packet{Data: data, WireLen: len(data), Link: LinkRaw}, &seg)
	}
	pa, pb := split(a, 32), split(b, 32)
	assert.Equal(t, FragmentWaiting, decode(1, pa[0]))
	assert.Equal(t, FragmentWaiting, decode(2, pb[1]))
	assert.Equal(t, TCPSegment, decode(1, pa[1]))
	assert.Equal(t, string(a[20:]), string(seg.Payload))
	assert.Equal(t, TCPSegment, decode(2, pb[0]))
	assert.Equal(t, string(b[20:]), string(seg.Payload))
}

func TestFragmentLimits(t *testing.T) {
	half := tcpOf(make([]byte, 980))
	t.Run("datagrams", func(t *testing.T) {
		run := newRun(t, Limits{Datagrams: 10})
		for id := range 1000 {
			require.Equal(t, FragmentWaiting, run.decode(piece{0, false, half}.ip6(id), 0))
			require.LessOrEqual(t, len(run.dec.frags.waiting), 10)
		}
		assert.Equal(t, int64(990), run.dec.Crowded())
		assert.Equal(t, int64(10), run.dec.Incomplete())
		assert.Equal(t, TCPSegment, run.decode(piece{1000, true, half}.ip6(995), 0))
	})
	t.Run("bytes", func(t *testing.T) {
		run := newRun(t, Limits{DatagramBytes: 100 << 10})
		for id := range 1000 {
			run.decode(piece{64000, false, half}.ip4(id), 0)
			require.LessOrEqual(t, run.dec.frags.bytes, 100<<10)
		}
		assert.Equal(t, int64(999), run.dec.Crowded())
		assert.Equal(t, int64(1), run.dec.Incomplete())
	})
	t.Run("bytes too few for one", func(t *testing.T) {
		run := newRun(t, Limits{DatagramBytes: 100})
		assert.Equal(t, FragmentDropped, run.decode(piece{0, false, half}.ip4(1), 0))
		assert.Empty(t, run.dec.frags.waiting)
		assert.Equal(t, int64(1), run.dec.Crowded())
	})
	t.Run("time", func(t *testing.T) {
		run := newRun(t, Limits{DatagramTimeout: 30 * time.Second})
		run.decode(piece{0, false, half}.ip4(1), 0)
		run.time = 31e9
		assert.Equal(t, FragmentWaiting, run.decode(piece{1000, true, half}.ip4(1), 0))
		assert.Equal(t, int64(2), run.dec.Incomplete(), "one given up, and the late part of it waits")
	})
}

func TestFragmentsAllocateNothing(t *testing.T) {
	run := newRun(t, Limits{})
	var frames [][]byte
	for _, p := range split(tcpOf(make([]byte, 4000)), 1480) {
		frames = append(frames, p.ip4(1))
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, f := range frames {
			run.decode(f, 0)
		}
	}))
}

// A middle IPv4 fragment whose length is no multiple of 8 counts down to one.
func TestFragmentOfOddLength(t *testing.T) {
	a := tcpOf([]byte("bytes that are cut where they should not have been"))
	run := newRun(t, Limits{})
	assert.Equal(t, FragmentWaiting, run.decode(piece{0, false, a[:45]}.ip4(1), 0))
	assert.Equal(t, TCPSegment, run.decode(piece{40, true, a[40:]}.ip4(1), 0))
	assert.Equal(t, string(a[20:]), string(run.seg.Payload))
	assert.Equal(t, Malformed, run.decode(piece{0, false, a[:7]}.ip4(2), 0))
}
