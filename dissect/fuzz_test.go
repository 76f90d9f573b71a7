package dissect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/fuzzing"
	"github.com/kdissect/kdissect/internal/fuzzing/seeds"
	"github.com/kdissect/kdissect/reassembly"
)

// FuzzDissector gives what a client and a broker sent in pieces, some of which are lost. Every byte
// is accounted for, every frame tiles, and memory is bounded. Exchanges that are gathered are the
// same.
func FuzzDissector(f *testing.F) {
	q, r := heartbeat(1)
	f.Add(cat(q, q), cat(r, r), uint16(7), uint8(0))
	f.Add(request(17, 0, 1, "c", str("PLAIN")), response(1, i16(0), i32(1)), uint16(3), uint8(3))
	f.Add(cat(q, q, q), cat(r, r, r), uint16(200), uint8(8))
	for i, c := range seeds.Conversations(f, 6000) {
		f.Add(c.Client, c.Broker, uint16(i*31), uint8(0))
		f.Add(c.Client, c.Broker, uint16(i*7), uint8(5))
		f.Add(c.Client, c.Broker, uint16(i*97), uint8(8|i&7))
	}
	f.Fuzz(func(t *testing.T, client, broker []byte, cut uint16, how uint8) {
		n := len(client) + len(broker)
		if n > 1<<16 {
			return
		}
		var one []exchange
		allocated := fuzzing.Allocated(func() { one = converse(t, client, broker, cut, how, false) })
		require.Less(t, allocated, uint64(4<<20+16<<10*n), "allocated for %d bytes", n)
		if how&8 != 0 {
			require.Equal(t, one, converse(t, client, broker, cut, how, true))
		}
	})
}

func converse(t *testing.T, client, broker []byte, cut uint16, how uint8, gather bool) []exchange {
	s := newStream(t, dissect.Options{Gather: gather}).open(50000, how&1 == 0)
	parts := [2][]byte{client, broker}
	for n := 0; len(parts[0])+len(parts[1]) > 0; n++ {
		d := reassembly.Dir((n ^ int(how>>1)) & 1)
		k := min(len(parts[d]), 1+int(cut)%(97+n))
		if how&4 != 0 && n%5 == 4 {
			s.lose(d, int64(k))
		} else if k > 0 {
			s.send(d, parts[d][:k])
		}
		parts[d] = parts[d][k:]
		if gather && n%7 == 6 {
			s.end()
		}
	}
	s.close(reassembly.EndCapture)
	k := s.conns[0]
	if k.Protocol != dissect.ProtocolKafka {
		require.Empty(t, s.exchanges)
		return nil
	}
	for d, n := range k.Counts {
		require.Equal(t, k.tcp.Dirs[d].Bytes, n.FrameBytes+n.PartialBytes+n.Skipped+n.Limited)
	}
	return s.exchanges
}
