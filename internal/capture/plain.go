package capture

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/reassembly"
)

// plain decodes the packets that most captures have most of, without a look at each layer: whole
// ones of TCP in IPv4 in Ethernet, without options of IP, fragments or tags. It leaves all others
// alone and reports false.
func plain(p *Packet, seg *reassembly.Segment) bool {
	const ip, tcp = 14, 34
	b := p.Data
	if p.Link != LinkEthernet || len(b) < tcp+tcpHeader ||
		be16(b[12:]) != etherIPv4 || b[ip] != 0x45 || b[ip+9] != protoTCP || be16(b[ip+6:])&0x3fff != 0 {
		return false
	}
	end := ip + be16(b[ip+2:])
	payload := tcp + int(b[tcp+12]>>4)*4
	if end > len(b) || payload < tcp+tcpHeader || payload > end {
		return false
	}
	mapIPv4(&seg.Flow.Src.IP, b[ip+12:])
	mapIPv4(&seg.Flow.Dst.IP, b[ip+16:])
	seg.Flow.Src.Port = binary.BigEndian.Uint16(b[tcp:])
	seg.Flow.Dst.Port = binary.BigEndian.Uint16(b[tcp+2:])
	seg.Seq = binary.BigEndian.Uint32(b[tcp+4:])
	seg.Ack = binary.BigEndian.Uint32(b[tcp+8:])
	seg.Flags = reassembly.Flags(b[tcp+13] & 0x1f)
	seg.WireLen = end - payload
	seg.Payload = nil
	if end > payload {
		seg.Payload = b[payload:end:end]
	}
	seg.Time, seg.Packet = p.Time, p.Number
	return true
}
