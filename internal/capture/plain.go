package capture

import "github.com/kdissect/kdissect/reassembly"

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
	header := int(b[tcp+12]>>4) * 4
	if end > len(b) || header < tcpHeader || tcp+header > end {
		return false
	}
	mapIPv4(&seg.Flow.Src.IP, b[ip+12:])
	mapIPv4(&seg.Flow.Dst.IP, b[ip+16:])
	tcpFields(b[tcp:end], header, end-tcp, seg)
	seg.Time, seg.Packet = p.Time, p.Number
	return true
}
