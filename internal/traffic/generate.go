// Package traffic makes captures of Kafka traffic for measuring: always the same for the same mix.
package traffic

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand"
	"os"
)

// Mix says what a capture holds: connections that are all open from the start, half of them of
// producers (Produce v9), half of consumers (Fetch v12, three partitions), in packets of Ethernet.
type Mix struct {
	Bytes       int // of frames, about
	Records     int // in a batch
	Connections int
	// Openings, where it is more than Connections, has as many packets written as that many
	// connections open with, the further ones empty ones of the connections that there are. So
	// captures of few and of many connections have the same packets.
	Openings int
}

// Sizes of what is generated.
const (
	segmentSize = 1448
	valueSize   = 200
)

// generator writes a capture.
type generator struct {
	w       *bufio.Writer
	micros  uint64
	packets int
	random  *rand.Rand
}

// side is a connection as the generator keeps it.
type side struct {
	id       int
	port     uint16
	sent     [2]uint32 // sequence numbers of client and broker
	sequence int32     // correlation id
}

// Generate writes a capture in the format of pcap to w. The same mix gives the same bytes.
func Generate(w io.Writer, t Mix) error {
	g := &generator{w: bufio.NewWriterSize(w, 1<<20), micros: 1_700_000_000_000_000, random: rand.New(rand.NewSource(1))}
	head := make([]byte, 24) // pcap, microseconds, Ethernet
	binary.LittleEndian.PutUint32(head, 0xa1b2c3d4)
	binary.LittleEndian.PutUint16(head[4:], 2)
	binary.LittleEndian.PutUint16(head[6:], 4)
	binary.LittleEndian.PutUint32(head[16:], 1<<18)
	binary.LittleEndian.PutUint32(head[20:], 1)
	_, _ = g.w.Write(head) // Flush tells
	conns := make([]side, t.Connections)
	for i := range conns {
		c := &conns[i]
		*c = side{id: i + 1, port: uint16(30000 + i%30000), sent: [2]uint32{g.random.Uint32(), g.random.Uint32()}}
		g.packet(c, 0, 0x02, nil)
		c.sent[0]++
		g.packet(c, 1, 0x12, nil)
		c.sent[1]++
		g.packet(c, 0, 0x10, nil)
	}
	for i := t.Connections; i < t.Openings; i++ {
		c := &conns[i%len(conns)]
		for _, from := range [3]int{0, 1, 0} {
			g.packet(c, from, 0x10, nil)
		}
	}
	batch := recordBatch(t.Records, g.random)
	for total := 0; total < t.Bytes; {
		c := &conns[g.random.Intn(len(conns))]
		c.sequence++
		var request, response []byte
		if c.id%4 < 2 {
			request, response = produce(c.sequence, int32(c.id), batch)
		} else {
			request, response = fetch(c.sequence, batch)
		}
		g.send(c, 0, request)
		g.send(c, 1, response)
		total += len(request) + len(response)
	}
	return g.w.Flush()
}

// send writes a frame in segments, with an acknowledgement behind every other one, about.
func (g *generator) send(c *side, from int, b []byte) {
	for len(b) > 0 {
		n := min(len(b), segmentSize)
		g.packet(c, from, 0x18, b[:n])
		b = b[n:]
		if g.random.Intn(2) == 0 {
			g.packet(c, 1-from, 0x10, nil)
		}
	}
}

// packet writes a segment from the client (0) or the broker (1).
func (g *generator) packet(c *side, from int, flags byte, payload []byte) {
	g.micros += 3
	g.packets++
	var b [16 + 14 + 20 + 20]byte
	size := uint32(len(b) - 16 + len(payload))
	binary.LittleEndian.PutUint32(b[0:], uint32(g.micros/1e6))
	binary.LittleEndian.PutUint32(b[4:], uint32(g.micros%1e6))
	binary.LittleEndian.PutUint32(b[8:], size)
	binary.LittleEndian.PutUint32(b[12:], size)
	b[16+12] = 8 // IPv4
	ip, tcp := b[30:50], b[50:70]
	ip[0], ip[8], ip[9] = 0x45, 64, 6
	binary.BigEndian.PutUint16(ip[2:], uint16(40+len(payload)))
	addrs := [2][4]byte{{10, 0, byte(c.id >> 8), byte(c.id)}, {10, 1, 0, 1}}
	ports := [2]uint16{c.port, 9092}
	copy(ip[12:], addrs[from][:])
	copy(ip[16:], addrs[1-from][:])
	binary.BigEndian.PutUint16(tcp[0:], ports[from])
	binary.BigEndian.PutUint16(tcp[2:], ports[1-from])
	binary.BigEndian.PutUint32(tcp[4:], c.sent[from])
	binary.BigEndian.PutUint32(tcp[8:], c.sent[1-from])
	tcp[12], tcp[13], tcp[14], tcp[15] = 0x50, flags, 0xff, 0xff
	c.sent[from] += uint32(len(payload))
	_, _ = g.w.Write(b[:])
	_, _ = g.w.Write(payload)
}

// encoder appends the primitives of Kafka's protocol.
type encoder []byte

func (e *encoder) int8(v int8)   { *e = append(*e, byte(v)) }
func (e *encoder) int16(v int16) { *e = binary.BigEndian.AppendUint16(*e, uint16(v)) }
func (e *encoder) int32(v int32) { *e = binary.BigEndian.AppendUint32(*e, uint32(v)) }
func (e *encoder) int64(v int64) { *e = binary.BigEndian.AppendUint64(*e, uint64(v)) }

// count appends a compact count or length: n+1.
func (e *encoder) count(n int)       { *e = binary.AppendUvarint(*e, uint64(n+1)) }
func (e *encoder) compact(s string)  { e.count(len(s)); *e = append(*e, s...) }
func (e *encoder) blob(b []byte)     { e.count(len(b)); *e = append(*e, b...) }
func (e *encoder) null()             { *e = append(*e, 0) } // compact
func (e *encoder) tags()             { *e = append(*e, 0) } // none
func (e *encoder) varint(v int64)    { *e = binary.AppendVarint(*e, v) }
func (e *encoder) varbytes(s string) { e.varint(int64(len(s))); *e = append(*e, s...) }

// sized returns the frame with its size in front.
func (e encoder) sized() []byte {
	binary.BigEndian.PutUint32(e, uint32(len(e)-4))
	return e
}

// requestHeader begins a frame with a request header v2.
func requestHeader(key, version int16, id int32) encoder {
	e := make(encoder, 4, 256)
	e.int16(key)
	e.int16(version)
	e.int32(id)
	const client = "producer-1"
	e.int16(int16(len(client)))
	e = append(e, client...)
	e.tags()
	return e
}

// responseHeader begins a frame with a response header v1.
func responseHeader(id int32) encoder {
	e := make(encoder, 4, 256)
	e.int32(id)
	e.tags()
	return e
}

const topic = "orders"

// produce returns a Produce v9 with its response.
func produce(id, partition int32, batch []byte) (request, response []byte) {
	q := requestHeader(0, 9, id)
	q.null()    // transactional id
	q.int16(-1) // acks
	q.int32(0)  // timeout
	q.count(1)
	q.compact(topic)
	q.count(1)
	q.int32(partition)
	q.blob(batch)
	q.tags()
	q.tags()
	q.tags()
	s := responseHeader(id)
	s.count(1)
	s.compact(topic)
	s.count(1)
	s.int32(partition)
	s.int16(0)  // error code
	s.int64(0)  // base offset
	s.int64(-1) // log append time
	s.int64(-1) // log start offset
	s.count(0)  // record errors
	s.null()    // error message
	s.tags()
	s.tags()
	s.int32(0) // throttle time
	s.tags()
	return q.sized(), s.sized()
}

// fetch returns a Fetch v12 of three partitions with its response.
func fetch(id int32, batch []byte) (request, response []byte) {
	q := requestHeader(1, 12, id)
	q.int32(-1) // replica id
	q.int32(0)  // max wait
	q.int32(0)  // min bytes
	q.int32(1<<31 - 1)
	q.int8(0)   // isolation level
	q.int32(0)  // session id
	q.int32(-1) // session epoch
	q.count(1)
	q.compact(topic)
	q.count(3)
	for i := range int32(3) {
		q.int32(i)
		q.int32(-1) // current leader epoch
		q.int64(0)  // fetch offset
		q.int32(-1) // last fetched epoch
		q.int64(-1) // log start offset
		q.int32(0)  // max bytes
		q.tags()
	}
	q.tags()
	q.count(0)    // forgotten topics
	q.compact("") // rack
	q.tags()
	s := responseHeader(id)
	s.int32(0) // throttle time
	s.int16(0) // error code
	s.int32(0) // session id
	s.count(1)
	s.compact(topic)
	s.count(3)
	for i := range int32(3) {
		s.int32(i)
		s.int16(0)  // error code
		s.int64(0)  // high watermark
		s.int64(-1) // last stable offset
		s.int64(-1) // log start offset
		s.null()    // aborted transactions
		s.int32(-1) // preferred replica
		s.blob(batch)
		s.tags()
	}
	s.tags()
	s.tags()
	return q.sized(), s.sized()
}

// recordBatch returns a batch (magic 2) of count records, without a producer.
func recordBatch(count int, random *rand.Rand) []byte {
	value := make([]byte, valueSize)
	for i := range value {
		value[i] = byte('a' + random.Intn(26))
	}
	var list encoder
	for i := range count {
		var r encoder
		r.int8(0)          // attributes
		r.varint(0)        // timestamp delta
		r.varint(int64(i)) // offset delta
		r.varbytes("key-12345678")
		r.varbytes(string(value))
		r.varint(1)
		r.varbytes("traceparent")
		r.varbytes("00-abcdef")
		list.varint(int64(len(r)))
		list = append(list, r...)
	}
	var b encoder
	b.int64(0) // base offset
	b.int32(int32(49 + len(list)))
	b.int32(0) // leader epoch
	b.int8(2)
	b.int32(0) // checksum
	b.int16(0) // attributes
	b.int32(int32(count - 1))
	b.int64(1_700_000_000_000)
	b.int64(1_700_000_000_000)
	b.int64(-1) // producer id
	b.int16(-1)
	b.int32(-1)
	b.int32(int32(count))
	b = append(b, list...)
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// WriteFile makes a file of what Generate writes.
func WriteFile(name string, t Mix) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(Generate(f, t), f.Close())
}
