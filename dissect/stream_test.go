package dissect_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// stream feeds a Dissector by hand: one connection, one packet a chunk.
type stream struct {
	*collector
	d      *dissect.Dissector
	conn   *reassembly.Conn
	off    [2]int64
	packet int64
	own    bool // segments live until end
	live   *[][]byte
}

func newStream(t *testing.T, opt dissect.Options) *stream {
	c := &collector{t: t, keepBytes: true}
	opt.Handler = c
	return &stream{collector: c, d: dissect.New(opt), own: opt.Gather, live: new([][]byte)}
}

// end ends the lives of all segments so far.
func (s *stream) end() {
	s.d.HandOver()
	for _, b := range *s.live {
		for i := range b {
			b[i] = 0xa5
		}
	}
	*s.live = nil
}

// open begins another connection from a client port; without syn it is one from before the capture.
func (s *stream) open(port uint16, syn bool) *stream {
	n := *s
	n.off = [2]int64{}
	n.conn = &reassembly.Conn{
		ID: int64(port), SawSYN: syn, SawSYNACK: syn,
		Flow: reassembly.Flow{
			Src: reassembly.EndpointFrom(netip.MustParseAddrPort("10.0.0.1:1")),
			Dst: reassembly.EndpointFrom(netip.MustParseAddrPort("10.0.0.2:9092")),
		},
	}
	n.conn.Flow.Src.Port = port
	n.d.Open(n.conn)
	return &n
}

func (s *stream) send(d reassembly.Dir, b []byte) {
	s.packet++
	s.conn.Dirs[d].Bytes += int64(len(b))
	s.conn.Dirs[d].Packets++
	b = append([]byte(nil), b...)
	if s.conn.Own = s.own; s.own {
		*s.live = append(*s.live, b)
	}
	s.d.Expect([]*reassembly.Conn{s.conn})
	s.d.Chunk(s.conn, d, reassembly.Chunk{Off: s.off[d], Bytes: b, Packet: s.packet, Time: s.packet * 1e6})
	s.conn.Own = false
	s.off[d] += int64(len(b))
}

func (s *stream) lose(d reassembly.Dir, n int64) {
	s.packet++
	s.d.Gap(s.conn, d, reassembly.Gap{Off: s.off[d], Len: n, Packet: s.packet, Time: s.packet * 1e6})
	s.off[d] += n
}

func (s *stream) close(why reassembly.End) {
	s.packet++
	s.d.Close(s.conn, why, s.packet, s.packet*1e6)
}

// protocol closes the connection and returns what it was found to speak.
func (s *stream) protocol() dissect.Protocol {
	s.close(reassembly.EndCapture)
	return s.conns[len(s.conns)-1].Protocol
}

const (
	up   = reassembly.Forward
	down = reassembly.Backward
)

func i16(v int16) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }
func i32(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

func str(v string) []byte { return append(i16(int16(len(v))), v...) }

func cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func sized(b ...[]byte) []byte {
	p := cat(b...)
	return append(i32(int32(len(p))), p...)
}

// request makes a request of header v1.
func request(key, version int16, id int32, client string, body ...[]byte) []byte {
	return sized(i16(key), i16(version), i32(id), str(client), cat(body...))
}

func response(id int32, body ...[]byte) []byte { return sized(i32(id), cat(body...)) }

// heartbeat makes Heartbeat v0 and the answer to it.
func heartbeat(id int32) (req, resp []byte) {
	return request(12, 0, id, "c", str("g"), i32(1), str("m")), response(id, i16(0))
}

// produce makes Produce v2 without topics.
func produce(id int32, acks int16) []byte {
	return request(0, 2, id, "c", i16(acks), i32(1000), i32(0))
}

func codes(issues []tree.Issue) (codes []tree.Code) {
	for _, i := range issues {
		codes = append(codes, i.Code)
	}
	return codes
}

func states(c *collector) (states []dissect.State) {
	for _, x := range c.exchanges {
		states = append(states, x.State)
	}
	return states
}

func TestPairsByCorrelationID(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	q1, r1 := heartbeat(1)
	q2, r2 := heartbeat(2)
	s.send(up, cat(q1, q2))
	s.send(down, r2)
	s.send(down, r1)
	s.close(reassembly.EndFIN)
	require.Len(t, s.exchanges, 2)
	assert.Equal(t, int32(2), s.exchanges[0].Req.ID)
	assert.True(t, s.exchanges[0].Overtook)
	assert.Equal(t, []tree.Code{tree.CodeOutOfOrder}, codes(s.exchanges[0].Issues))
	assert.False(t, s.exchanges[1].Overtook)
	assert.Equal(t, []dissect.State{dissect.Paired, dissect.Paired}, states(s.collector))
}

func TestAcksNoneExpectsNoResponse(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	s.send(up, produce(1, 0))
	s.send(up, produce(2, 1))
	s.send(down, response(2, i32(0), i32(0)))
	s.send(up, produce(3, -1))
	s.close(reassembly.EndRST)
	assert.Equal(t, []dissect.State{dissect.NoResponse, dissect.Paired, dissect.Unanswered}, states(s.collector))
	assert.Equal(t, []tree.Code{tree.CodeClosed}, codes(s.exchanges[2].Issues))
	assert.Contains(t, s.exchanges[2].Issues[0].Text, "Produce v2")
}

// Acks stand behind the client id and, from version 3 on, the transactional id.
func TestAcksAreFoundBehindNullableStrings(t *testing.T) {
	null := i16(-1)
	for version := int16(0); version <= 13; version++ {
		for _, client := range [][]byte{null, str(""), str("client")} {
			for _, txn := range []string{"", "-", "tx"} {
				for _, acks := range []int16{0, 1, -1} {
					var tail []byte
					switch {
					case version >= 9:
						id := map[string][]byte{"": {0}, "-": {1}, "tx": {3, 't', 'x'}}[txn]
						tail = cat([]byte{0}, id, i16(acks), i32(1), []byte{1, 0})
					case version >= 3:
						id := map[string][]byte{"": null, "-": str(""), "tx": str("tx")}[txn]
						tail = cat(id, i16(acks), i32(1), i32(0))
					default:
						tail = cat(i16(acks), i32(1), i32(0))
					}
					s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
					s.send(up, sized(i16(0), i16(version), i32(1), client, tail))
					s.close(reassembly.EndCapture)
					want := dissect.Unanswered
					if acks == 0 {
						want = dissect.NoResponse
					}
					require.Equal(t, []dissect.State{want}, states(s.collector), "v%d %q %q acks %d", version, client, txn, acks)
					require.True(t, s.exchanges[0].Req.Fits)
				}
			}
		}
	}
}

func TestApiVersionsFallback(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	s.send(up, sized(i16(18), i16(4), i32(1), str("c"), []byte{0, 2, 'n', 2, 'v', 0}))
	s.send(down, response(1, i16(35), i32(1), i16(18), i16(0), i16(3)))
	s.close(reassembly.EndFIN)
	require.Len(t, s.exchanges, 1)
	x := s.exchanges[0]
	assert.True(t, x.Resp.Fits && x.Resp.Decoded)
	assert.Equal(t, int16(4), x.Resp.Version)
	assert.Equal(t, []tree.Code{tree.CodeFallback}, codes(x.Resp.Issues))
	assert.Equal(t, "n", s.conns[0].Software)
	assert.Equal(t, "v", s.conns[0].SoftwareVersion)
}

func TestUnknownVersionsAndKeys(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	q, r := heartbeat(1)
	s.send(up, q)
	s.send(down, r)
	s.send(up, sized(i16(3), i16(77), i32(2), str("c"), []byte{0, 1, 2, 3}))
	s.send(down, response(2, []byte{1, 2, 3}))
	s.send(up, request(10000, 1, 3, "c", []byte{9, 9}))
	s.send(down, response(3, []byte{1}))
	s.close(reassembly.EndFIN)
	require.Len(t, s.exchanges, 3)
	for _, x := range s.exchanges[1:] {
		assert.Equal(t, dissect.Paired, x.State)
		assert.False(t, x.Req.Decoded || x.Resp.Decoded)
		assert.Equal(t, "c", x.Req.ClientID)
		assert.Equal(t, []tree.Code{tree.CodeUnsupported}, codes(x.Req.Issues))
		assert.Equal(t, []tree.Code{tree.CodeUnsupported}, codes(x.Resp.Issues))
	}
	assert.Contains(t, s.exchanges[1].Req.Issues[0].Text, "Metadata version 77")
}

func TestSaslTokensBehindHandshakeV0(t *testing.T) {
	for _, tc := range []struct {
		name   string
		error  int16
		tokens int
	}{{"accepted", 0, 1}, {"refused", 33, 0}} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStream(t, dissect.Options{}).open(50000, true)
			s.send(up, request(17, 0, 1, "c", str("PLAIN")))
			s.send(down, response(1, i16(tc.error), i32(1), str("PLAIN")))
			if tc.error == 0 {
				s.send(up, sized([]byte("\x00user\x00secret")))
				s.send(down, sized(nil))
			}
			q, r := heartbeat(2)
			s.send(up, q)
			s.send(down, r)
			s.close(reassembly.EndFIN)
			n := 0
			for _, x := range s.exchanges {
				assert.Equal(t, dissect.Paired, x.State)
				if x.Req.Kind == dissect.TokenFrame {
					n++
					assert.Equal(t, int16(-1), x.Req.Key)
				}
			}
			assert.Equal(t, tc.tokens, n)
			assert.Len(t, s.exchanges, 2+tc.tokens)
		})
	}
}

func TestGssapiTokensWithoutHandshake(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	s.send(up, sized([]byte{0x60, 0x82, 0x01, 0x00}, make([]byte, 256)))
	s.send(down, sized([]byte{0x60, 4, 1, 2, 3, 4}))
	s.send(up, sized([]byte{5, 4, 3}))
	s.send(down, sized([]byte{5, 4}))
	q, r := heartbeat(0)
	s.send(up, q)
	s.send(down, r)
	s.close(reassembly.EndFIN)
	require.Len(t, s.exchanges, 3)
	assert.Equal(t, dissect.TokenFrame, s.exchanges[0].Req.Kind)
	assert.Equal(t, dissect.TokenFrame, s.exchanges[1].Req.Kind)
	assert.Equal(t, dissect.KafkaFrame, s.exchanges[2].Req.Kind)
}

func TestLossIsNamed(t *testing.T) {
	q1, r1 := heartbeat(1)
	q2, r2 := heartbeat(2)
	q3, r3 := heartbeat(3)
	t.Run("inside a request", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, true)
		s.send(up, q1)
		s.send(down, r1)
		s.send(up, q2[:17])
		s.lose(up, 3)
		s.send(up, cat(q2[20:], q3))
		s.send(down, r2)
		s.send(down, r3)
		s.close(reassembly.EndFIN)
		assert.Equal(t, []dissect.State{dissect.Paired, dissect.Interrupted, dissect.Paired}, states(s.collector))
		x := s.exchanges[1]
		assert.Equal(t, int32(2), x.Req.ID)
		assert.True(t, x.Req.Cut)
		assert.False(t, x.Resp.Cut)
		assert.Equal(t, []tree.Code{tree.CodeTruncated}, codes(x.Req.Issues))
	})
	t.Run("inside a response", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, true)
		s.send(up, q1)
		s.send(down, r1[:8])
		s.lose(down, 2)
		s.send(up, q2)
		s.send(down, r2)
		s.close(reassembly.EndFIN)
		assert.Equal(t, []dissect.State{dissect.Interrupted, dissect.Paired}, states(s.collector))
	})
	t.Run("a request lost whole", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, true)
		s.send(up, q1)
		s.send(down, r1)
		s.lose(up, int64(len(q2)))
		s.send(down, r2)
		s.send(up, q3)
		s.send(down, r3)
		s.close(reassembly.EndFIN)
		assert.ElementsMatch(t, []dissect.State{dissect.Paired, dissect.Orphan, dissect.Paired}, states(s.collector))
		for _, x := range s.exchanges {
			if x.State == dissect.Orphan {
				assert.False(t, x.Resp.Decoded)
				assert.Equal(t, []tree.Code{tree.CodeOrphan}, codes(x.Issues))
				assert.Contains(t, x.Issues[0].Text, "id 2")
			}
		}
	})
	t.Run("a response lost whole", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, true)
		s.send(up, cat(q1, q2))
		s.lose(down, int64(len(r1)))
		s.send(down, r2)
		s.close(reassembly.EndFIN)
		assert.Equal(t, []dissect.State{dissect.Paired, dissect.Unanswered}, states(s.collector))
		assert.False(t, s.exchanges[0].Overtook, "the other response was lost, not late")
	})
	t.Run("an id used again behind a lost response", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, true)
		s.send(up, q1)
		s.lose(down, int64(len(r1)))
		s.send(up, q1)
		s.send(down, r1)
		s.close(reassembly.EndFIN)
		assert.Equal(t, []dissect.State{dissect.Unanswered, dissect.Paired}, states(s.collector))
		assert.Equal(t, int64(3), s.exchanges[1].Req.First)
	})
	t.Run("cut by the end of the connection", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, true)
		s.send(up, q1)
		s.send(down, r1[:9])
		s.close(reassembly.EndRST)
		assert.Equal(t, []dissect.State{dissect.Interrupted}, states(s.collector))
		assert.Contains(t, s.exchanges[0].Resp.Issues[0].Text, "9 of 10")
	})
}

func TestLimits(t *testing.T) {
	t.Run("requests in flight", func(t *testing.T) {
		s := newStream(t, dissect.Options{Limits: dissect.Limits{InFlight: 2}}).open(50000, true)
		for id := range int32(3) {
			q, _ := heartbeat(id)
			s.send(up, q)
		}
		require.Len(t, s.exchanges, 1)
		assert.Equal(t, []tree.Code{tree.CodeLimit}, codes(s.exchanges[0].Issues))
		s.close(reassembly.EndFIN)
		assert.Len(t, s.exchanges, 3)
	})
	t.Run("bytes in flight", func(t *testing.T) {
		s := newStream(t, dissect.Options{Limits: dissect.Limits{InFlightBytes: 1000}}).open(50000, true)
		big := request(17, 0, 1, "c", str(string(make([]byte, 3000))))
		q, r := heartbeat(2)
		s.send(up, q)
		s.send(down, r)
		s.send(up, big)
		s.send(down, response(1, i16(33), i32(0)))
		s.close(reassembly.EndFIN)
		require.Len(t, s.exchanges, 2)
		x := s.exchanges[1]
		assert.Equal(t, dissect.Interrupted, x.State)
		assert.Equal(t, []tree.Code{tree.CodeLimit}, codes(x.Req.Issues))
		assert.Equal(t, "c", x.Req.ClientID)
	})
	t.Run("size of a frame", func(t *testing.T) {
		opt := dissect.Options{}
		opt.Limits.Frame.MaxFrame, opt.Limits.Frame.KeepOver = 1000, 100
		s := newStream(t, opt).open(50000, true)
		q1, r1 := heartbeat(1)
		s.send(up, q1)
		s.send(down, r1)
		s.send(up, request(17, 0, 2, "c", str(string(make([]byte, 3000)))))
		q3, r3 := heartbeat(3)
		s.send(down, response(2, i16(33), i32(0)))
		s.send(up, q3)
		s.send(down, r3)
		s.close(reassembly.EndFIN)
		require.Len(t, s.exchanges, 3)
		assert.Equal(t, []dissect.State{dissect.Paired, dissect.Interrupted, dissect.Paired}, states(s.collector))
		assert.Equal(t, []tree.Code{tree.CodeLimit}, codes(s.exchanges[1].Req.Issues))
		assert.Equal(t, int32(3013), s.exchanges[1].Req.Size)
	})
}

func TestBadSizeLosesNothingElse(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	q1, r1 := heartbeat(1)
	q2, r2 := heartbeat(2)
	s.send(up, q1)
	s.send(down, r1)
	s.send(up, cat(i32(-5), q2))
	s.send(down, i32(0))
	s.send(down, r2)
	s.close(reassembly.EndFIN)
	assert.Equal(t, []dissect.State{dissect.Paired, dissect.Paired}, states(s.collector))
	assert.Len(t, s.skips[50000], 2)
}

type steady struct{}

func (steady) Exchange(*dissect.Exchange)                 {}
func (steady) Closed(*dissect.Connection, reassembly.End) {}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	d := dissect.New(dissect.Options{Handler: steady{}})
	s := (&stream{collector: &collector{t: t}, d: d}).open(50000, true)
	q, r := heartbeat(7)
	p := produce(8, 0)
	var off [2]int64
	conns := []*reassembly.Conn{s.conn}
	give := func(dir reassembly.Dir, b []byte) {
		d.Expect(conns)
		d.Chunk(s.conn, dir, reassembly.Chunk{Off: off[dir], Bytes: b, Packet: 1, Time: 1})
		off[dir] += int64(len(b))
	}
	step := func() {
		give(up, q)
		give(down, r)
		give(up, p)
		give(up, q[:9])
		give(up, q[9:])
		give(down, r[:5])
		give(down, r[5:])
	}
	step()
	assert.Zero(t, testing.AllocsPerRun(500, step))
}

func BenchmarkDissect(b *testing.B) {
	d := dissect.New(dissect.Options{Handler: steady{}})
	s := (&stream{collector: &collector{}, d: d}).open(50000, true)
	q, r := heartbeat(7)
	var off [2]int64
	b.SetBytes(int64(len(q) + len(r)))
	b.ReportAllocs()
	for b.Loop() {
		for dir, f := range [2][]byte{q, r} {
			d.Chunk(s.conn, reassembly.Dir(dir), reassembly.Chunk{Off: off[dir], Bytes: f, Packet: 1, Time: 1})
			off[dir] += int64(len(f))
		}
	}
}

func TestOlderLayoutIsNamed(t *testing.T) {
	// EndQuorumEpoch v0 as up to 2.7.2: it has the replica's id where later releases have none.
	older := cat(i16(-1), i32(1), str("t"), i32(1), i32(0), i32(1), i32(2), i32(3), i32(1), i32(2))
	s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
	s.send(up, request(54, 0, 1, "c", older))
	s.close(reassembly.EndFIN)
	require.Len(t, s.exchanges, 1)
	assert.Contains(t, codes(s.exchanges[0].Req.Issues), tree.CodeOlder)
	assert.True(t, s.exchanges[0].Req.Fits)
}

func TestTopicNamesComeFromOtherConnections(t *testing.T) {
	c := read(t, dissect.Options{}, false, "captures/lab/broker/x-full.pcap.gz")
	require.NotEmpty(t, c.named)
	assert.Greater(t, c.named["produce"], 100)
	assert.Zero(t, c.named["unknown"], "each topic id that a Produce request names was shown before")
}
