package scrub

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/reassembly"
)

// datagram is one that came in fragments and held a segment.
type datagram struct {
	seg    reassembly.Segment // without its payload
	header []byte             // of TCP
}

// packets replaces what packets hold, and keeps track of their layers. It serves one goroutine.
type packets struct {
	dec       *capture.Decoder
	again     *capture.Decoder // for packets that were made
	steps     []capture.Step
	addresses *addresses // nil: kept
	streams   *streams
	datagrams map[int64]*datagram
	payload   []byte
	packet    []byte // that was made
}

func newPackets(s *streams) *packets {
	p := &packets{streams: s, datagrams: map[int64]*datagram{}}
	p.restart()
	return p
}

// restart begins the second pass, which meets the same packets.
func (p *packets) restart() {
	trace := func(s capture.Step) { p.steps = append(p.steps, s) }
	p.dec, p.again = capture.NewDecoder(capture.Limits{}), capture.NewDecoder(capture.Limits{})
	p.dec.Trace(trace)
	p.again.Trace(trace)
}

// segment decodes a packet in the first pass, and notes the datagrams that came in fragments.
func (p *packets) segment(pkt *capture.Packet, seg *reassembly.Segment) capture.Verdict {
	p.steps = p.steps[:0]
	v := p.dec.Decode(pkt, seg)
	if i := p.fragment(); i >= 0 && v == capture.TCPSegment {
		last := p.steps[len(p.steps)-1]
		d := &datagram{seg: *seg, header: append([]byte(nil), last.Bytes[:tcpHeaderSize(last.Bytes)]...)}
		d.seg.Payload = nil
		p.datagrams[p.steps[i].Datagram] = d
	}
	return v
}

// fragment returns the step that came to a fragment, or -1. What is behind it is no more in the packet.
func (p *packets) fragment() int {
	for i := range p.steps {
		if p.steps[i].Layer == capture.LayerFragment {
			return i
		}
	}
	return -1
}

// tcpHeaderSize returns the size of a TCP header as far as it is in b.
func tcpHeaderSize(b []byte) int {
	if len(b) < 13 {
		return len(b)
	}
	return min(int(b[12]>>4)*4, len(b))
}

// Sizes of headers.
const (
	udpHeader      = 8
	ethernetHeader = 14
)

// scrub replaces what pkt.Data, which may be written to, holds, and gives it to emit. Of a
// decrypted connection it gives other packets in its place.
func (p *packets) scrub(pkt *capture.Packet, emit func([]byte) error) error {
	p.steps = p.steps[:0]
	data := pkt.Data[:len(pkt.Data):len(pkt.Data)]
	pkt.Data = data
	var seg reassembly.Segment
	v := p.dec.Decode(pkt, &seg)
	i := p.fragment()
	if i >= 0 {
		p.steps = p.steps[:i+1]
	}
	if p.addresses != nil {
		p.replaceAddresses(pkt)
	}
	whole := false
	switch {
	case i >= 0:
		f := p.steps[i]
		fill(data[len(data)-cap(f.Bytes)+len(f.Bytes):], 0)
		if err := p.fragmentBytes(f); err != nil {
			return err
		}
	case v == capture.TCPSegment:
		if c, d := p.streams.find(&seg); c != nil && c.plain {
			return p.decrypt(pkt, &seg, c, d, emit)
		}
		tcp := p.steps[len(p.steps)-1].Bytes
		fill(data[len(data)-cap(tcp)+len(tcp):], 0)
		if err := p.streams.fillPayload(&seg, 0, tcp[tcpHeaderSize(tcp):]); err != nil {
			return err
		}
		whole = len(seg.Payload) == seg.WireLen
	default:
		fill(data[min(p.known(data), len(data)):], 0)
	}
	p.finish(whole)
	return emit(data)
}

// known returns how much of a packet that gave no segment are headers that are kept.
func (p *packets) known(data []byte) int {
	if len(p.steps) == 0 {
		return 0
	}
	s := p.steps[len(p.steps)-1]
	n := len(data) - cap(s.Bytes)
	switch {
	case s.Layer == capture.LayerTransport && s.Proto == protoUDP:
		n += udpHeader
	case s.Layer == capture.LayerEthernet:
		n += ethernetHeader
	}
	return n
}

// fragmentBytes replaces the bytes of a part of a datagram. They become zero where it never was whole.
func (p *packets) fragmentBytes(f capture.Step) error {
	d := p.datagrams[f.Datagram]
	if d == nil {
		fill(f.Bytes, 0)
		return nil
	}
	b := f.Bytes
	skip := f.Offset - len(d.header)
	if skip < 0 {
		n := min(-skip, len(b))
		if f.Offset <= tcpChecksum && f.Offset+n >= tcpChecksum+2 {
			p.payload = append(p.payload[:0], make([]byte, d.seg.WireLen)...)
			if err := p.streams.fillPayload(&d.seg, 0, p.payload); err != nil {
				return err
			}
			sum := p.pseudo(protoTCP, len(d.header)+len(p.payload))
			header := append([]byte(nil), d.header...)
			header[tcpChecksum], header[tcpChecksum+1] = 0, 0
			sum = add(add(sum, header), p.payload)
			binary.BigEndian.PutUint16(b[tcpChecksum-f.Offset:], fold(sum))
		}
		b, skip = b[n:], 0
	}
	return p.streams.fillPayload(&d.seg, skip, b)
}

// IP protocol numbers.
const (
	protoTCP = 6
	protoUDP = 17
	protoGRE = 47

	tcpChecksum = 16
	udpChecksum = 6
)

// finish computes the checksums of the packet's headers. whole tells that no byte of the segment
// is missing.
func (p *packets) finish(whole bool) {
	for i := len(p.steps) - 1; i >= 0; i-- {
		b := p.steps[i].Bytes
		switch s := &p.steps[i]; {
		case s.Layer == capture.LayerTCP:
			p.checksum(i, b, tcpChecksum, protoTCP, whole)
		case s.Layer == capture.LayerTransport && s.Proto == protoUDP:
			if len(b) >= udpHeader && (b[udpChecksum] != 0 || b[udpChecksum+1] != 0) {
				n := int(binary.BigEndian.Uint16(b[4:]))
				complete := n >= udpHeader && n <= len(b)
				if complete {
					b = b[:n]
				}
				p.checksum(i, b, udpChecksum, protoUDP, complete)
			}
		case s.Layer == capture.LayerTransport && s.Proto == protoGRE:
			if len(b) >= 8 && b[0]&0x80 != 0 {
				b[4], b[5] = 0, 0
				binary.BigEndian.PutUint16(b[4:], fold(add(0, b)))
			}
		case s.Layer == capture.LayerIPv4:
			if n := int(b0(b)&15) * 4; n >= 20 && len(b) >= n {
				b[10], b[11] = 0, 0
				binary.BigEndian.PutUint16(b[10:], fold(add(0, b[:n])))
			}
		}
	}
}

func b0(b []byte) byte {
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// checksum computes that of a segment or UDP datagram b, the step i. One whose bytes are not all
// there has none.
func (p *packets) checksum(i int, b []byte, at int, proto uint8, whole bool) {
	if len(b) < at+2 {
		return
	}
	b[at], b[at+1] = 0, 0
	if !whole {
		return
	}
	steps := p.steps
	p.steps = steps[:i]
	sum := fold(add(p.pseudo(proto, len(b)), b))
	p.steps = steps
	if sum == 0 && proto == protoUDP {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(b[at:], sum)
}

// pseudo sums the pseudo-header in front of a transport's n bytes, from the innermost IP header
// of the steps.
func (p *packets) pseudo(proto uint8, n int) uint64 {
	for i := len(p.steps) - 1; i >= 0; i-- {
		b := p.steps[i].Bytes
		switch {
		case p.steps[i].Layer == capture.LayerIPv4 && len(b) >= 20:
			return add(uint64(proto)+uint64(n), b[12:20])
		case p.steps[i].Layer == capture.LayerIPv6 && len(b) >= 40:
			return add(uint64(proto)+uint64(n&0xffff)+uint64(n>>16), b[8:40])
		}
	}
	return 0
}

// add adds b to an Internet checksum (RFC 1071).
func add(sum uint64, b []byte) uint64 {
	for len(b) >= 2 {
		sum += uint64(b[0])<<8 | uint64(b[1])
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

func fold(sum uint64) uint16 {
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}

// replaceAddresses replaces those of all headers that are in the packet.
func (p *packets) replaceAddresses(pkt *capture.Packet) {
	switch b := pkt.Data; {
	case pkt.Link == capture.LinkLinuxSLL && len(b) >= 16:
		p.cooked(b[6:14], binary.BigEndian.Uint16(b[4:]))
	case pkt.Link == capture.LinkLinuxSLL2 && len(b) >= 20:
		p.cooked(b[12:20], uint16(b[11]))
	}
	for i := range p.steps {
		b := p.steps[i].Bytes
		switch p.steps[i].Layer {
		case capture.LayerEthernet:
			if len(b) >= 12 {
				p.addresses.hardware(b[:6])
				p.addresses.hardware(b[6:12])
			}
		case capture.LayerIPv4:
			if len(b) >= 20 {
				p.addresses.ipv4(b[12:16])
				p.addresses.ipv4(b[16:20])
				options(b)
			}
		case capture.LayerIPv6:
			if len(b) >= 40 {
				p.addresses.ipv6(b[8:24])
				p.addresses.ipv6(b[24:40])
				routing(b)
			}
		}
	}
}

// cooked replaces the sender's hardware address in a field of eight bytes.
func (p *packets) cooked(field []byte, n uint16) {
	if n == 6 {
		p.addresses.hardware(field[:6])
		fill(field[6:], 0)
		return
	}
	fill(field, 0)
}

// options makes those of an IPv4 header no-operations: some hold addresses.
func options(b []byte) {
	if n := min(int(b[0]&15)*4, len(b)); n > 20 {
		fill(b[20:n], 1)
	}
}

// routing clears the addresses of a routing header that comes first behind an IPv6 header, or
// behind hop-by-hop and destination options.
func routing(b []byte) {
	next := b[6]
	for b = b[40:]; len(b) >= 8; {
		n := min(8+int(b[1])*8, len(b))
		switch next {
		case 43:
			fill(b[8:n], 0)
		case 0, 60:
		default:
			return
		}
		next, b = b[0], b[n:]
	}
}
