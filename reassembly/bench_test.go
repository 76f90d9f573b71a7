package reassembly_test

import (
	"fmt"
	"testing"

	"github.com/kdissect/kdissect/reassembly"
)

// BenchmarkSegment gives segments of many connections, with an acknowledgement after every other
// one, in order or with one in a hundred swapped.
func BenchmarkSegment(b *testing.B) {
	for _, size := range []int{100, 1460} {
		for _, conns := range []int{1, 1000} {
			for _, swapped := range []bool{false, true} {
				b.Run(fmt.Sprintf("size=%d/connections=%d/swapped=%v", size, conns, swapped), func(b *testing.B) {
					h := &counter{}
					f := newFeeder(h, reassembly.Limits{})
					flows := make([]reassembly.Flow, conns)
					next := make([]uint32, conns)
					for i := range flows {
						flows[i] = client(i)
						f.flow = flows[i]
						f.handshake(100, 500)
						next[i] = 101
					}
					payload := make([]byte, size)
					s := reassembly.Segment{Flags: ack, Payload: payload, WireLen: size, Time: f.time, Packet: f.packet}
					given := 0
					give := func(flow *reassembly.Flow, seq, ackNo uint32, p []byte) {
						s.Flow, s.Seq, s.Ack, s.Payload, s.WireLen = *flow, seq, ackNo, p, len(p)
						s.Packet++
						s.Time += 1000
						f.a.Segment(&s)
						given++
					}
					b.SetBytes(int64(size))
					b.ReportAllocs()
					b.ResetTimer()
					for n := 0; n < b.N; n += 2 {
						i := n / 2 % conns
						seq := next[i]
						next[i] += uint32(2 * size)
						if swapped && n/2%50 == 0 {
							give(&flows[i], seq+uint32(size), 501, payload)
							give(&flows[i], seq, 501, payload)
						} else {
							give(&flows[i], seq, 501, payload)
							give(&flows[i], seq+uint32(size), 501, payload)
						}
						back := flows[i].Reverse()
						give(&back, 501, next[i], nil)
					}
					b.ReportMetric(float64(given)/b.Elapsed().Seconds()/1e6, "Msegments/s")
				})
			}
		}
	}
}
