package scrub

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/reassembly"
)

// piece is plaintext that became known with a packet.
type piece struct {
	packet, off int64
	n           int32
}

// plaintext is a direction of a decrypted connection. Its segments are new ones: each packet
// carries what could be decrypted once it was there.
type plaintext struct {
	pieces []piece

	// Of the second pass.
	base    uint32 // sequence number of offset 0
	based   bool
	emitted int   // pieces
	next    int64 // offset behind them
	fin     bool
}

// mostPayload is the most plaintext that one packet is given; the rest goes into copies of it.
const mostPayload = 60_000

// decrypted stands behind the decryption, and notes where the plaintext comes from.
type decrypted struct {
	reassembly.Handler
	streams *streams
}

// Chunk implements reassembly.Handler.
func (p *decrypted) Chunk(t *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	if t.TLS != nil {
		text := &p.streams.conns[t.ID].text[d]
		text.pieces = append(text.pieces, piece{ch.Packet, ch.Off, int32(len(ch.Bytes))})
	}
	p.Handler.Chunk(t, d, ch)
}

// take returns the next run of plaintext that is known at packet.
func (t *plaintext) take(packet int64) (off int64, n int) {
	off = t.next
	for ; t.emitted < len(t.pieces); t.emitted++ {
		p := &t.pieces[t.emitted]
		if p.packet > packet {
			break
		}
		if n == 0 {
			off = p.off
		}
		if p.off != off+int64(n) || n > 0 && n+int(p.n) > mostPayload {
			break
		}
		n += int(p.n)
	}
	if n > 0 {
		t.next = off + int64(n)
	}
	return off, n
}

// more reports whether there is plaintext left that is known at packet.
func (t *plaintext) more(packet int64) bool {
	return t.emitted < len(t.pieces) && t.pieces[t.emitted].packet <= packet
}

// decrypt makes of a packet of a decrypted connection those with its plaintext, and gives each to
// emit. The last steps are those of the packet.
func (p *packets) decrypt(pkt *capture.Packet, seg *reassembly.Segment, c *conn, d reassembly.Dir, emit func([]byte) error) error {
	text, peer := &c.text[d], &c.text[d.Other()]
	if !text.based {
		text.based, text.base = true, seg.Seq
		if seg.Flags&reassembly.SYN != 0 {
			text.base++
		}
		if len(c.dirs[d].bases) > 0 {
			text.base = c.dirs[d].bases[0].seq
		}
	}
	head := len(pkt.Data) - cap(p.steps[len(p.steps)-1].Bytes)
	size := tcpHeaderSize(p.steps[len(p.steps)-1].Bytes)
	if size < 20 { // cut inside its header
		return emit(pkt.Data)
	}
	for first := true; first || text.more(seg.Packet); first = false {
		off, n := text.take(seg.Packet)
		data := append(p.packet[:0], pkt.Data[:head+size]...)
		data = append(data, make([]byte, n)...)
		p.packet = data
		tcp := data[head:]
		if err := p.streams.spool.read(c.dirs[d].extents, off, tcp[size:]); err != nil {
			return err
		}
		seq := text.base + uint32(off)
		if seg.Flags&reassembly.SYN != 0 {
			seq--
		}
		binary.BigEndian.PutUint32(tcp[4:], seq)
		if peer.based && tcp[13]&byte(reassembly.ACK) != 0 {
			ack := peer.base + uint32(peer.next)
			if peer.fin {
				ack++
			}
			binary.BigEndian.PutUint32(tcp[8:], ack)
		}
		if text.more(seg.Packet) { // the last one ends the direction
			tcp[13] &^= byte(reassembly.FIN)
		}
		p.resize(pkt, n-seg.WireLen, data)
		p.retrace(pkt, data)
		if err := emit(data); err != nil {
			return err
		}
	}
	text.fin = text.fin || seg.Flags&reassembly.FIN != 0
	return nil
}

// resize adds delta to the lengths in the headers of data, a copy of the packet's.
func (p *packets) resize(pkt *capture.Packet, delta int, data []byte) {
	add := func(b []byte, at int) {
		b = data[len(pkt.Data)-cap(b):]
		if n := binary.BigEndian.Uint16(b[at:]); n != 0 {
			binary.BigEndian.PutUint16(b[at:], uint16(int(n)+delta))
		}
	}
	for i := range p.steps {
		switch s := &p.steps[i]; {
		case s.Layer == capture.LayerIPv4:
			add(s.Bytes, 2)
		case s.Layer == capture.LayerIPv6, s.Layer == capture.LayerTransport && s.Proto == protoUDP:
			add(s.Bytes, 4)
		}
	}
}

// retrace finds the headers of the packet with other data, and completes these.
func (p *packets) retrace(pkt *capture.Packet, data []byte) {
	saved := p.steps
	p.steps = nil
	now := *pkt
	now.Data, now.WireLen = data[:len(data):len(data)], len(data)
	var seg reassembly.Segment
	if p.again.Decode(&now, &seg) == capture.TCPSegment {
		p.finish(true)
	}
	p.steps = saved
}
