package reassembly

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreseen is a scribe that is told which connections are expected.
type foreseen struct {
	scribe
	expected int
	unknown  bool // one was that was not opened
}

func (f *foreseen) Expect(conns []*Conn) {
	f.expected += len(conns)
	for _, c := range conns {
		f.unknown = f.unknown || len(f.lines[c.ID]) == 0
	}
}

// TestExpected holds connections whose segments are expected to those whose are not.
func TestExpected(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 17))
		ports := 1 + r.IntN(60)
		var segments []Segment
		for i := range int64(600) {
			port := uint16(r.IntN(ports))
			there := Flow{Endpoint{Port: port}, Endpoint{Port: 9092}}
			s := Segment{Flow: there, Flags: ACK, Seq: 101, Ack: 501, Packet: i + 1, Time: i * second / 10}
			switch r.IntN(8) {
			case 0, 1:
				s.Flags, s.Seq, s.Ack = SYN, 100, 0
			case 2, 3:
				s.Flow, s.Flags, s.Seq, s.Ack = there.Reverse(), SYN|ACK, 500, 101
			case 4:
				s.Flags = RST
			case 5:
				s.Payload, s.WireLen = []byte("request"), 7
			case 6:
				s.Flow, s.Seq, s.Ack = there.Reverse(), 501, 101
				s.Payload, s.WireLen = []byte("answer"), 6
			}
			segments = append(segments, s)
		}
		run := func(expect bool) *foreseen {
			f := &foreseen{scribe: scribe{lines: map[int64][]string{}}}
			a := New(Limits{MaxConnections: 40, MaxClosed: 5, MaxIdle: 20 * second}, f)
			a.expectFrom = 0
			for rest := segments; len(rest) > 0; {
				n := len(rest)
				if expect {
					n = a.Expect(rest)
				}
				for i := range rest[:n] {
					a.Segment(&rest[i])
					a.Advance(rest[i].Time)
				}
				rest = rest[n:]
			}
			if !expect {
				a.expectFrom = expectFrom
			}
			a.Flush()
			return f
		}
		want, got := run(false), run(true)
		require.Equal(t, want.lines, got.lines, "seed %d", seed)
		require.Equal(t, want.closed, got.closed, "seed %d", seed)
		assert.Zero(t, want.expected)
		assert.NotZero(t, got.expected)
		assert.False(t, got.unknown)
	}
}

// TestExpectWaits leaves a few connections alone, which a cache holds.
func TestExpectWaits(t *testing.T) {
	f := &foreseen{scribe: scribe{lines: map[int64][]string{}}}
	a := New(Limits{}, f)
	segments := make([]Segment, 3*expectFrom)
	for i := range segments {
		segments[i] = Segment{Flow: Flow{Endpoint{Port: uint16(i)}, Endpoint{Port: 9092}}, Flags: ACK, Packet: int64(i) + 1}
	}
	for i := range segments[:expectFrom] {
		assert.Equal(t, len(segments)-i, a.Expect(segments[i:]))
		a.Segment(&segments[i])
	}
	assert.Zero(t, f.expected)
	assert.Equal(t, expectMost, a.Expect(segments))
	assert.Equal(t, expectMost, f.expected)
	assert.Equal(t, 3, a.Expect(segments[:3]))
	assert.Equal(t, expectMost+3, f.expected)
	assert.Equal(t, expectMost, a.Expect(segments[expectFrom:]), "none of them open")
	assert.Equal(t, expectMost+3, f.expected)
	assert.Zero(t, testing.AllocsPerRun(10, func() { a.Expect(segments) }))
}
