package dissect_test

import (
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// talk is one conversation in packets, the client's first.
type talk [][]byte

// foreign are conversations of other protocols.
var foreign = map[string]talk{
	"redis":          {[]byte("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n"), []byte("+OK\r\n"), []byte("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"), []byte("$5\r\nvalue\r\n")},
	"ssh":            {[]byte("SSH-2.0-OpenSSH_9.7\r\n"), []byte("SSH-2.0-OpenSSH_9.6\r\n"), unhex("0000055c 0714 0102030405060708090a0b0c0d0e0f10 000000e6")},
	"postgres":       {unhex("00000008 04d2162f"), []byte("N"), cat(unhex("00000029 00030000"), []byte("user\x00alice\x00database\x00shop\x00\x00")), unhex("52 00000008 00000000")},
	"mysql":          {unhex("01000001 11"), unhex("4a0000000a382e302e333600 08000000 3132333435363738 00")},
	"smpp":           {cat(unhex("0000002f 00000009 00000000 00000001"), []byte("smppclient1\x00password\x00\x00"), unhex("34 00 00 00 0000 000000")), cat(unhex("00000020 80000009 00000000 00000001"), []byte("smsc\x00"), make([]byte, 11)), unhex("00000010 00000015 00000000 00000002"), unhex("00000010 80000015 00000000 00000002")},
	"amqp":           {[]byte("AMQP\x00\x00\x09\x01"), unhex("01 0000 00000010 000a000a 00090000000004000000 ce")},
	"mqtt":           {unhex("10 10 0004 4d515454 04 02 003c 0004 74657374"), unhex("20 02 00 00")},
	"zookeeper":      {unhex("0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010 00000000000000000000000000000000"), unhex("00000024 00000000 00007530 0123456789abcdef 00000010 00000000000000000000000000000000"), unhex("00000008 fffffffe 0000000b"), unhex("00000010 fffffffe 0000000000000001 00000000")},
	"thrift framed":  {cat(unhex("0000001c 80010001 00000004"), []byte("ping"), unhex("00000001 0b0001 00000002 6869 00")), cat(unhex("00000011 80010002 00000004"), []byte("ping"), unhex("00000001 00"))},
	"cassandra":      {unhex("04 00 0001 01 00000016 0001 000b 43514c5f56455253494f4e 0005 332e302e30"), unhex("84 00 0001 02 00000000")},
	"mongodb":        {unhex("3a000000 01000000 00000000 d4070000 00000000 61646d696e2e24636d6400 00000000 ffffffff 13000000 106973 6d6173746572 00 01000000 00")},
	"ldap":           {unhex("30 0c 02 01 01 60 07 02 01 03 04 00 80 00"), unhex("30 0c 02 01 01 61 07 0a 01 00 04 00 04 00")},
	"memcached":      {[]byte("get user:1\r\n"), []byte("END\r\n")},
	"dns over tcp":   {unhex("001d 1234 0100 0001 0000 0000 0000 07 6578616d706c65 03 636f6d 00 0001 0001"), unhex("002d 1234 8180 0001 0001 0000 0000 07 6578616d706c65 03 636f6d 00 0001 0001 c00c 0001 0001 0000003c 0004 01020304")},
	"zeros":          {make([]byte, 4096), make([]byte, 4096)},
	"ones":           {[]byte(strings.Repeat("\x00\x00\x00\x01", 1000)), []byte(strings.Repeat("\x00\x00\x00\x01", 1000))},
	"counting words": {counting(2000), counting(2000)},
	"text":           {[]byte(strings.Repeat("the quick brown fox\n", 200)), []byte("ok\n")},
	"short":          {[]byte{0}, []byte{1, 2, 3}},
	"http/2":         {[]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00d"), unhex("000000 04 01 00000000")},
	// An HTTP/2 connection seen from its middle, as gRPC has it: a DATA frame and a length-prefixed message.
	"grpc mid-stream": {unhex("00000c 00 01 00000001 00 00000007 0a05 776f726c64"), unhex("00001e 01 04 00000001 88 5f8b1d75d0620d263d4c4d6564 00 00000000")},
}

func counting(n int32) (b []byte) {
	for i := range n {
		b = append(b, i32(i)...)
	}
	return b
}

func TestOtherProtocolsAreLeftAlone(t *testing.T) {
	for name, packets := range foreign {
		for _, syn := range []bool{true, false} {
			for _, learned := range []bool{false, true} {
				s := newStream(t, dissect.Options{})
				if learned {
					k := s.open(40000, true)
					q, r := heartbeat(1)
					k.send(up, q)
					k.send(down, r)
					s.packet = 2
				}
				o := s.open(50000, syn)
				for i, p := range packets {
					o.send(reassembly.Dir(i&1), p)
				}
				assert.NotEqual(t, dissect.ProtocolKafka, o.protocol(), "%s, syn %v, port learned %v", name, syn, learned)
				for _, x := range o.exchanges {
					assert.Equal(t, int64(40000), x.Conn, "%s, syn %v, port learned %v: %+v", name, syn, learned, x)
				}
			}
		}
	}
}

func TestRandomBytesAreNoKafka(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newStream(t, dissect.Options{}).open(50000, seed%2 == 0)
		for range 1 + r.IntN(6) {
			b := make([]byte, 1+r.IntN(400))
			for i := range b {
				if b[i] = byte(r.IntN(256)); seed%3 == 0 {
					b[i] = byte(r.IntN(4)) // small numbers, as headers have them
				}
			}
			s.send(reassembly.Dir(r.IntN(2)), b)
		}
		require.NotEqual(t, dissect.ProtocolKafka, s.protocol(), "seed %d: %+v", seed, s.exchanges)
	}
}

func TestNamesOtherProtocols(t *testing.T) {
	for _, tc := range []struct {
		name string
		want dissect.Protocol
		b    []byte
	}{
		{"client hello", dissect.ProtocolTLS, unhex("16 0301 0200 01 0001fc 0303")},
		{"application data mid-stream", dissect.ProtocolTLS, unhex("17 0303 0045 0000000000000001")},
		{"GET", dissect.ProtocolHTTP, []byte("GET / HTTP/1.1\r\n\r\n")},
		{"an answer", dissect.ProtocolHTTP, []byte("HTTP/1.1 200 OK\r\n\r\n")},
		{"HTTP/2", dissect.ProtocolHTTP, foreign["http/2"][0]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStream(t, dissect.Options{}).open(50000, false)
			for _, c := range tc.b {
				s.send(up, []byte{c})
			}
			assert.Equal(t, tc.want, s.protocol())
			assert.Empty(t, s.exchanges)
		})
	}
	assert.Equal(t, dissect.ProtocolEmpty, newStream(t, dissect.Options{}).open(50000, true).protocol())
}

func TestOneFrameIsEnoughWhereItsBodyDecodes(t *testing.T) {
	q, _ := heartbeat(1)
	for _, syn := range []bool{true, false} {
		s := newStream(t, dissect.Options{}).open(50000, syn)
		for _, c := range q { // in the smallest packets
			s.send(up, []byte{c})
		}
		assert.Equal(t, dissect.ProtocolKafka, s.protocol())
		assert.Len(t, s.exchanges, 1)
	}
}

func TestUnknownVersionNeedsItsResponseOrAKnownPort(t *testing.T) {
	unknown := sized(i16(18), i16(99), i32(7), str("c"), []byte{0, 1, 1, 0})
	fallback := response(7, i16(35), i32(1), i16(18), i16(0), i16(4))
	s := newStream(t, dissect.Options{})
	a := s.open(50000, true)
	a.send(up, unknown)
	assert.Equal(t, dissect.ProtocolUnknown, a.protocol())

	b := s.open(50001, true)
	b.send(up, unknown)
	b.send(down, fallback)
	assert.Equal(t, dissect.ProtocolKafka, b.protocol())
	require.Len(t, b.exchanges, 1)
	assert.Equal(t, dissect.Paired, b.exchanges[0].State)
	assert.True(t, b.exchanges[0].Resp.Fits && b.exchanges[0].Resp.Decoded)

	c := s.open(50002, true)
	c.send(up, unknown)
	assert.Equal(t, dissect.ProtocolKafka, c.protocol(), "the port is known by now")
}

// A response from the middle of a connection may read as a whole Produce request: its
// correlation id is 2, read as key 0, version 2.
func TestResponsesThatLookLikeRequests(t *testing.T) {
	// SaslHandshake v0 without mechanisms, and DescribeGroups and others begin in ways that
	// fit; this one is a Produce v2 request to the last byte.
	looks := response(2, i32(5), str(""), i16(1), i32(1000), i32(0))
	q, r := heartbeat(3)
	t.Run("the other direction decides", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, false)
		s.send(up, looks) // seen first, so its direction counts as forward
		s.send(down, q)
		s.send(up, r)
		assert.Equal(t, dissect.ProtocolKafka, s.protocol())
		assert.Equal(t, reassembly.Forward, s.conns[0].Broker)
		require.Len(t, s.exchanges, 2)
		var paired int
		for _, x := range s.exchanges {
			if x.State == dissect.Paired {
				paired++
				assert.Equal(t, int32(3), x.Req.ID)
			} else {
				assert.Equal(t, dissect.Orphan, x.State)
				assert.Equal(t, int32(2), x.Resp.ID)
			}
		}
		assert.Equal(t, 1, paired)
	})
	t.Run("a real one is answered", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, false)
		s.send(up, produce(9, 1))
		s.send(down, response(9, i32(0), i32(0)))
		assert.Equal(t, dissect.ProtocolKafka, s.protocol())
		assert.Equal(t, []dissect.State{dissect.Paired}, states(s.collector))
	})
	t.Run("real ones go on", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, false)
		for id := range int32(2) {
			s.send(up, request(0, 2, id, "c", i16(1), i32(1000), i32(1), str("topic"), i32(1), i32(0), i32(0)))
		}
		assert.Equal(t, dissect.ProtocolKafka, s.protocol())
		assert.Equal(t, []dissect.State{dissect.Unanswered, dissect.Unanswered}, states(s.collector))
	})
	t.Run("responses alone, which begin with a name", func(t *testing.T) {
		s := newStream(t, dissect.Options{}).open(50000, false)
		for id := range int32(2) { // read as requests, the high half of an id is the key, the low one the version
			s.send(up, response(3+id, i32(1), str("name"), i16(0), i16(1), i32(id), i32(0)))
		}
		assert.Equal(t, dissect.ProtocolUnknown, s.protocol())
	})
}

func TestBrokersDirectionOnly(t *testing.T) {
	s := newStream(t, dissect.Options{}).open(50000, true)
	for id := range int32(5) {
		_, r := heartbeat(id)
		s.send(down, r)
	}
	assert.Equal(t, dissect.ProtocolKafka, s.protocol())
	require.Len(t, s.exchanges, 5)
	for i, x := range s.exchanges {
		assert.Equal(t, dissect.Orphan, x.State)
		assert.Equal(t, int32(i), x.Resp.ID)
		assert.Equal(t, []tree.Code{tree.CodeOrphan}, codes(x.Issues))
	}
}

func TestBegunInTheMiddle(t *testing.T) {
	q1, r1 := heartbeat(1)
	q2, r2 := heartbeat(2)
	for cut := 1; cut < len(q1); cut++ {
		s := newStream(t, dissect.Options{}).open(50000, false)
		s.send(down, r1[len(r1)/2:]) // the broker was seen first
		s.send(up, q1[cut:])
		s.send(up, q2)
		s.send(down, r2)
		require.Equal(t, dissect.ProtocolKafka, s.protocol(), "cut %d", cut)
		require.Equal(t, []dissect.State{dissect.Paired}, states(s.collector))
		require.Len(t, s.skips[50000], 2)
	}
}

func TestChosenBrokers(t *testing.T) {
	q, r := heartbeat(1)
	for _, tc := range []struct {
		name   string
		opt    dissect.Options
		kafka  bool
		broker reassembly.Dir
	}{
		{"the port", dissect.Options{Ports: []uint16{9092}}, true, down},
		{"another port", dissect.Options{Ports: []uint16{9093}}, false, down},
		{"the address", dissect.Options{Brokers: []netip.AddrPort{netip.MustParseAddrPort("10.0.0.2:9092")}}, true, down},
		{"another address", dissect.Options{Brokers: []netip.AddrPort{netip.MustParseAddrPort("10.0.0.3:9092")}}, false, down},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStream(t, tc.opt).open(50000, true)
			s.send(up, q)
			s.send(down, r)
			assert.Equal(t, tc.kafka, s.protocol() == dissect.ProtocolKafka)
			if tc.kafka {
				assert.Equal(t, tc.broker, s.conns[0].Broker)
				assert.Equal(t, []dissect.State{dissect.Paired}, states(s.collector))
			} else {
				assert.Empty(t, s.exchanges)
			}
		})
	}
	t.Run("gives the direction", func(t *testing.T) {
		s := newStream(t, dissect.Options{Ports: []uint16{50000}}).open(50000, false)
		s.send(down, q)
		s.send(up, r)
		assert.Equal(t, dissect.ProtocolKafka, s.protocol())
		assert.Equal(t, reassembly.Forward, s.conns[0].Broker)
	})
}

func TestHeldBytesAreBounded(t *testing.T) {
	s := newStream(t, dissect.Options{Limits: dissect.Limits{Detect: 4096, DetectTotal: 1 << 20}}).open(50000, false)
	for range 100 {
		s.send(down, make([]byte, 1000))
	}
	q, r := heartbeat(1)
	s.send(up, q)
	s.send(down, r)
	assert.Equal(t, dissect.ProtocolKafka, s.protocol())
	assert.Equal(t, []dissect.State{dissect.Paired}, states(s.collector))
	n := s.conns[0].Counts[down]
	assert.Equal(t, int64(100_010), n.FrameBytes+n.Skipped)
}

func TestLabConnectionsThatAreNotKafka(t *testing.T) {
	for name, want := range map[string]int{"badver": 3, "emptyconnect": 0, "http": 0, "hugelen": 0, "random": 0, "tlshello": 0} {
		t.Run(name, func(t *testing.T) {
			c := read(t, dissect.Options{}, false, "captures/lab/clients/nonkafka-"+name+".pcapng")
			assert.Len(t, c.exchanges, want)
			for _, k := range c.conns {
				switch name {
				case "http":
					assert.Equal(t, dissect.ProtocolHTTP, k.Protocol)
				case "tlshello":
					assert.Equal(t, dissect.ProtocolTLS, k.Protocol)
				case "emptyconnect":
					assert.Equal(t, dissect.ProtocolEmpty, k.Protocol)
				case "badver":
					assert.Equal(t, dissect.ProtocolKafka, k.Protocol)
				default:
					assert.Equal(t, dissect.ProtocolUnknown, k.Protocol)
				}
			}
		})
	}
}
