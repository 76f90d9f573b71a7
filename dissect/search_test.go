package dissect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// What looks like a response in the middle of others must not be taken for one.
func TestSearchIsNotDeceived(t *testing.T) {
	q0, r0 := heartbeat(0)
	q7, r7 := heartbeat(7)
	q8, r8 := heartbeat(8)
	metadata := request(3, 0, 9, "c", i32(0))
	for _, tc := range []struct {
		name     string
		requests [][]byte
		false    []byte // captured behind the loss; no response
		want     []dissect.State
	}{
		// Size 6, id 0, error 0: zeros in records look like it.
		{"zeros in a packet", [][]byte{q0, q8}, cat([]byte{1}, r0), []dissect.State{dissect.Paired, dissect.Unanswered}},
		{"an id inside a packet", [][]byte{q7, q8}, cat([]byte{1}, r7), []dissect.State{dissect.Paired, dissect.Unanswered}},
		// Brokers and topics must not be null.
		{"null where none is allowed", [][]byte{metadata, q8}, response(9, i32(-1), i32(-1)), []dissect.State{dissect.Paired, dissect.Unanswered}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
			for _, q := range tc.requests {
				s.send(up, q)
			}
			s.lose(down, 100)
			s.send(down, tc.false)
			s.send(down, r8)
			s.close(reassembly.EndCapture)
			assert.Equal(t, tc.want, states(s.collector))
			assert.Equal(t, int32(8), s.exchanges[0].Req.ID)
		})
	}
	t.Run("an answer whose turn is over", func(t *testing.T) {
		s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
		s.send(up, cat(q7, q8))
		s.lose(down, int64(len(r7)))
		s.send(down, r8)
		q9, r9 := heartbeat(9)
		s.send(up, q9)
		s.lose(down, 50)
		s.send(down, r7)
		s.send(down, r9)
		s.close(reassembly.EndCapture)
		assert.Equal(t, []dissect.State{dissect.Paired, dissect.Paired, dissect.Unanswered}, states(s.collector))
		assert.Equal(t, int32(7), s.exchanges[2].Req.ID)
	})
}

// Zeros look like Produce v0 with no client id, no acks and no topics.
func TestSearchFindsNoRequestInZeros(t *testing.T) {
	q, r := heartbeat(1)
	s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
	s.send(up, q)
	s.send(down, r)
	s.lose(up, 100)
	s.send(up, cat([]byte{1}, i32(20), make([]byte, 20)))
	q2, r2 := heartbeat(2)
	s.send(up, q2)
	s.send(down, r2)
	s.close(reassembly.EndCapture)
	assert.Equal(t, []dissect.State{dissect.Paired, dissect.Paired}, states(s.collector))
	assert.Len(t, s.skips[50000], 1)
}

// A capture may show a response before its request. With bytes of the client missing it may answer
// a lost one, unless all ids differ.
func TestSwappedBehindLoss(t *testing.T) {
	q1, r1 := heartbeat(1)
	q2, r2 := heartbeat(2)
	q3, r3 := heartbeat(3)
	type pair struct{ request, response []byte }
	for _, tc := range []struct {
		name            string
		second, swapped pair
		want            []dissect.State
	}{
		{"ids that differ", pair{q2, r2}, pair{q3, r3}, []dissect.State{dissect.Paired, dissect.Paired, dissect.Paired}},
		{"one id for all", pair{q1, r1}, pair{q1, r1}, []dissect.State{dissect.Paired, dissect.Paired, dissect.Orphan, dissect.Unanswered}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
			s.send(up, q1)
			s.send(down, r1)
			s.send(up, tc.second.request)
			s.send(down, tc.second.response)
			s.send(down, tc.swapped.response)
			s.lose(up, 40)
			s.send(up, tc.swapped.request)
			s.close(reassembly.EndCapture)
			assert.Equal(t, tc.want, states(s.collector))
		})
	}
}

func TestSwappedToken(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	s.send(up, request(17, 0, 1, "c", str("PLAIN")))
	s.send(down, response(1, i16(0), i32(1), str("PLAIN")))
	s.send(down, sized(nil))
	s.send(up, sized([]byte("\x00user\x00secret")))
	q, r := heartbeat(2)
	s.send(down, r)
	s.send(up, q)
	s.close(reassembly.EndFIN)
	require.Equal(t, []dissect.State{dissect.Paired, dissect.Paired, dissect.Paired}, states(s.collector))
	assert.Equal(t, dissect.TokenFrame, s.exchanges[1].Req.Kind)
	assert.Equal(t, int32(0), s.exchanges[1].Resp.Size)
	assert.Equal(t, int32(2), s.exchanges[2].Req.ID)
}

// The snapshot length leaves 30 bytes of each packet, fewer than a header with a long client id.
func TestCutHeadersAreFound(t *testing.T) {
	const kept = 30
	s := newStream(t, dissect.Options{}).open(50000, true)
	for id := range int32(5) {
		q := request(12, 0, id, "a client id of many letters", str("g"), i32(1), str("m"))
		r := response(id, i16(0))
		s.send(up, q[:kept])
		s.lose(up, int64(len(q)-kept))
		s.send(down, r)
	}
	s.close(reassembly.EndCapture)
	require.Equal(t, dissect.ProtocolKafka, s.conns[0].Protocol)
	require.Len(t, s.exchanges, 5)
	for i, x := range s.exchanges {
		assert.Equal(t, dissect.Interrupted, x.State)
		assert.Equal(t, int32(i), x.Req.ID)
		assert.Equal(t, int16(12), x.Req.Key)
		assert.False(t, x.Resp.Cut)
	}
}

// Where a port is known to be a broker's, one response is enough.
func TestLoneResponse(t *testing.T) {
	q, r := heartbeat(3)
	for _, known := range []bool{true, false} {
		s := newStream(t, dissect.Options{})
		if known {
			c := s.open(50000, true)
			c.send(up, q)
			c.send(down, r)
			c.close(reassembly.EndFIN)
			s.exchanges = nil
		}
		c := s.open(50001, true)
		c.lose(up, int64(len(q)))
		c.send(down, r)
		c.close(reassembly.EndFIN)
		want := dissect.ProtocolUnknown
		if known {
			want = dissect.ProtocolKafka
		}
		last := s.conns[len(s.conns)-1]
		assert.Equal(t, want, last.Protocol)
		if known {
			require.Len(t, s.exchanges, 1)
			assert.Equal(t, dissect.Orphan, s.exchanges[0].State)
		}
	}
}
