package reassembly

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scribe writes down what a Handler is told, for each connection apart.
type scribe struct {
	lines  map[int64][]string
	closed []int64
}

func (s *scribe) add(c *Conn, format string, args ...any) {
	s.lines[c.ID] = append(s.lines[c.ID], fmt.Sprintf(format, args...))
}

func (s *scribe) Open(c *Conn)                   { s.add(c, "open %v %d", c.Flow, c.FirstPacket) }
func (s *scribe) Chunk(c *Conn, d Dir, ch Chunk) { s.add(c, "chunk %v %+v", d, ch) }
func (s *scribe) Gap(c *Conn, d Dir, g Gap)      { s.add(c, "gap %v %+v", d, g) }
func (s *scribe) Note(c *Conn, d Dir, n Note)    { s.add(c, "note %v %+v", d, n) }
func (s *scribe) Finish(c *Conn, d Dir, packet, time int64) {
	s.add(c, "finish %v %d %d", d, packet, time)
}
func (s *scribe) Close(c *Conn, why End, packet, time int64) {
	s.add(c, "close %+v %v %d %d", *c, why, packet, time)
	s.closed = append(s.closed, c.ID)
}

// TestOpenings holds connections that begin as openings to those that do not: handshakes, and all
// that may come instead of each of their segments.
func TestOpenings(t *testing.T) {
	for seed := range uint64(400) {
		run := func(wholly bool) (*scribe, int) {
			r := rand.New(rand.NewPCG(seed, 9))
			s := &scribe{lines: map[int64][]string{}}
			a := New(Limits{MaxConnections: 20, MaxClosed: 3, MaxIdle: 3 * second, GraceTime: second / 10}, s)
			a.wholly = wholly
			most := 0
			isn := map[uint16][2]uint32{}
			ports := 1 + r.IntN(40)
			var packet, time int64
			give := func(d Dir, g Segment) {
				if r.IntN(12) == 0 {
					return // lost
				}
				if d == Backward {
					g.Flow = g.Flow.Reverse()
				}
				packet++
				time += int64(r.IntN(10)) * second / 100
				g.Packet, g.Time, g.WireLen = packet, time, len(g.Payload)
				a.Segment(&g)
				most = max(most, a.openings.used-len(a.openings.free))
				if r.IntN(20) == 0 {
					a.Advance(time + int64(r.IntN(2))*second)
				}
				if r.IntN(200) == 0 {
					a.Shift(second)
				}
			}
			for range 300 {
				port := uint16(r.IntN(ports))
				flow := Flow{Endpoint{Port: port}, Endpoint{Port: 9092}}
				x, known := isn[port]
				if !known || r.IntN(30) == 0 {
					x = [2]uint32{r.Uint32(), r.Uint32()}
					isn[port] = x
				}
				wrong := uint32(r.IntN(2) * r.IntN(2) * r.IntN(2) * r.IntN(5))
				switch r.IntN(12) {
				case 0, 1, 2:
					give(Forward, Segment{Flow: flow, Flags: SYN, Seq: x[0] + wrong})
					give(Backward, Segment{Flow: flow, Flags: SYN | ACK, Seq: x[1], Ack: x[0] + 1 + wrong})
					give(Forward, Segment{Flow: flow, Flags: ACK, Seq: x[0] + 1, Ack: x[1] + 1 + wrong})
				case 3:
					give(Forward, Segment{Flow: flow, Flags: SYN, Seq: x[0]})
				case 4:
					give(Backward, Segment{Flow: flow, Flags: SYN | ACK, Seq: x[1], Ack: x[0] + 1 + wrong})
				case 5:
					give(Forward, Segment{Flow: flow, Flags: ACK, Seq: x[0] + 1, Ack: x[1] + 1 + wrong})
				case 6:
					give(Forward, Segment{Flow: flow, Flags: ACK, Seq: x[0] + 1 + wrong, Ack: x[1] + 1, Payload: []byte("request")})
				case 7:
					give(Backward, Segment{Flow: flow, Flags: ACK, Seq: x[1] + 1, Ack: x[0] + 1 + 7*wrong, Payload: []byte("answer")})
				case 8:
					give(Dir(r.IntN(2)), Segment{Flow: flow, Flags: RST | ACK, Seq: x[1] + wrong, Ack: x[0] + 1})
				case 9:
					give(Dir(r.IntN(2)), Segment{Flow: flow, Flags: FIN | ACK, Seq: x[r.IntN(2)] + 1, Ack: x[0] + 1})
				case 10:
					give(Forward, Segment{Flow: flow, Flags: SYN, Seq: x[0], Payload: []byte("early")})
				case 11:
					self := Flow{flow.Src, flow.Src}
					give(Forward, Segment{Flow: self, Flags: Flags(SYN | ACK*Flags(r.IntN(2))), Seq: x[0], Ack: x[0] + 1})
				}
			}
			a.Flush()
			assert.Zero(t, a.Held())
			return s, most
		}
		want, none := run(true)
		got, some := run(false)
		require.Equal(t, want.lines, got.lines, "seed %d", seed)
		require.Equal(t, want.closed, got.closed, "seed %d", seed)
		assert.Zero(t, none)
		assert.NotZero(t, some)
		assert.True(t, slices.Contains(got.closed, 1))
	}
}

// BenchmarkHandshakes has connections that never say anything, as openings and as whole ones, from
// their handshakes to the end of the capture.
func BenchmarkHandshakes(b *testing.B) {
	for _, wholly := range []bool{false, true} {
		b.Run(fmt.Sprintf("whole=%v", wholly), func(b *testing.B) {
			b.ReportAllocs()
			const conns = 50_000
			for range b.N {
				a := New(Limits{MaxConnections: conns}, deaf{})
				a.wholly = wholly
				for i := range int64(conns) {
					there := Flow{Endpoint{Port: uint16(i), IP: [16]byte{15: byte(i >> 16)}}, Endpoint{Port: 9092}}
					back := there.Reverse()
					a.Segment(&Segment{Flow: there, Flags: SYN, Seq: 100, Packet: 3*i + 1})
					a.Segment(&Segment{Flow: back, Flags: SYN | ACK, Seq: 500, Ack: 101, Packet: 3*i + 2})
					a.Segment(&Segment{Flow: there, Flags: ACK, Seq: 101, Ack: 501, Packet: 3*i + 3})
				}
				a.Flush()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/conns, "ns/connection")
		})
	}
}

// FuzzOpenings reads its input as segments of a few connections, five bytes each, and holds
// connections that begin as openings, expected or not, to those that do not.
func FuzzOpenings(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 0, 18, 1, 0, 0, 0, 16, 0, 0, 0, 0, 16, 0, 0, 0, 7, 4, 1, 0, 0, 0})
	f.Add([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 18, 1, 0, 1, 0, 16, 0, 0, 0, 64, 17, 1, 0, 0, 0, 17, 0, 0, 0, 0, 2, 0, 5, 0, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 5*1000 {
			return
		}
		var segments []Segment
		var advance []int64 // behind each, to a time; -1: not
		var time int64
		for len(ops[5*len(segments):]) >= 5 {
			o := ops[5*len(segments):][:5]
			flow := Flow{Endpoint{Port: uint16(o[1] >> 1 & 7)}, Endpoint{Port: 9092}}
			d := Dir(o[1] & 1)
			// What a handshake has, moved a little where the input says so.
			seq := [2]uint32{100, 500}
			if o[0]&2 == 0 {
				seq = [2]uint32{101, 501}
			}
			g := Segment{Flow: flow, Flags: Flags(o[0] & 31), Seq: seq[d] + uint32(int8(o[2])), Ack: [2]uint32{501, 101}[d] + uint32(int8(o[3])),
				Packet: int64(len(segments)) + 1, Time: time, Payload: ops[:min(int(o[4]&7), len(ops))], WireLen: min(int(o[4]&7), len(ops)) + int(o[4]>>7)}
			if d == Backward {
				g.Flow = flow.Reverse()
			}
			segments, advance = append(segments, g), append(advance, -1)
			time += int64(o[4]>>3&15) * second / 10
			if o[4]&64 != 0 {
				advance[len(advance)-1] = time
			}
		}
		run := func(wholly, expect bool) *scribe {
			s := &scribe{lines: map[int64][]string{}}
			a := New(Limits{MaxConnections: 4, MaxClosed: 2, MaxIdle: 3 * second, MaxConnBytes: 64 << 10, MaxBytes: 128 << 10}, s)
			a.wholly = wholly
			if expect {
				a.expectFrom = 0
			}
			for i := range segments {
				if expect && i%3 == 0 {
					a.Expect(segments[i:])
				}
				a.Segment(&segments[i])
				if advance[i] >= 0 {
					a.Advance(advance[i])
				}
			}
			a.Flush()
			return s
		}
		want := run(true, false)
		for _, expect := range []bool{false, true} {
			got := run(false, expect)
			require.Equal(t, want.lines, got.lines)
			require.Equal(t, want.closed, got.closed)
		}
	})
}
