package capture

import "encoding/binary"

// UDP ports of tunnels.
const (
	portGeneve     = 6081
	portVXLAN      = 4789
	portVXLANLinux = 8472 // Linux's, from before one was assigned
)

// transport goes on behind an IP header: TCP, or a tunnel.
func transport(c *cursor) (layer, Verdict) {
	for {
		switch c.proto {
		case protoTCP:
			return layerSegment, 0
		case protoUDP:
			return udp(c)
		case protoIPv4:
			return layerIPv4, 0
		case protoIPv6:
			return layerIPv6, 0
		case protoGRE:
			return gre(c)
		case protoMPLS:
			return layerMPLS, 0
		case protoAH: // RFC 4302: authenticated, in the clear
			if v := c.extension(4, 8); v != 0 {
				return layerNone, v
			}
		case protoHopByHop, protoRouting, protoDestination, protoMobility, protoHIP, protoShim6:
			// IPv6 extensions behind a fragment's or an authentication header.
			if v := c.extension(8, 8); v != 0 {
				return layerNone, v
			}
		default:
			return layerNone, NotTCP
		}
	}
}

// udp reads a UDP header and enters the tunnels that are known by their port.
func udp(c *cursor) (layer, Verdict) {
	if len(c.b) < 8 {
		return layerNone, c.short()
	}
	port, length := be16(c.b[2:]), be16(c.b[4:])
	switch port {
	case portVXLAN, portVXLANLinux, portGeneve:
	default:
		return layerNone, NotTCP
	}
	if length >= 8 {
		c.limit(min(length, c.sent()))
	}
	c.b = c.b[8:]
	if port == portGeneve {
		return geneve(c)
	}
	return vxlan(c)
}

// vxlan reads a VXLAN header (RFC 7348).
func vxlan(c *cursor) (layer, Verdict) {
	if len(c.b) < 8 {
		return layerNone, c.short()
	}
	if c.b[0]&0x08 == 0 { // no valid network identifier: something else on that port
		return layerNone, NotTCP
	}
	c.enter(binary.BigEndian.Uint32(c.b[4:]) >> 8)
	c.b = c.b[8:]
	return layerEthernet, 0
}

// geneve reads a Geneve header with its options (RFC 8926).
func geneve(c *cursor) (layer, Verdict) {
	if len(c.b) < 8 {
		return layerNone, c.short()
	}
	if c.b[0]>>6 != 0 {
		return layerNone, NotTCP
	}
	header, kind := 8+int(c.b[0]&0x3f)*4, be16(c.b[2:])
	if len(c.b) < header {
		return layerNone, c.short()
	}
	c.enter(binary.BigEndian.Uint32(c.b[4:]) >> 8)
	c.b = c.b[header:]
	return etherType(c, kind)
}

// Flags of a GRE header.
const (
	greChecksum = 0x8000
	greRouting  = 0x4000
	greKey      = 0x2000
	greSequence = 0x1000
	greAck      = 0x0080 // version 1
)

// Protocols in GRE that are no EtherTypes of their own.
const (
	grePPP       = 0x880b
	greERSPAN    = 0x88be // types I and II
	greERSPANIII = 0x22eb
)

// gre reads a GRE header (RFC 2784, 2890, the routing of RFC 1701; version 1 is RFC 2637).
func gre(c *cursor) (layer, Verdict) {
	if len(c.b) < 4 {
		return layerNone, c.short()
	}
	flags, kind := be16(c.b), be16(c.b[2:])
	version := flags & 7
	if version > 1 {
		return layerNone, NotTCP
	}
	header := 4
	if flags&(greChecksum|greRouting) != 0 && version == 0 {
		header += 4
	}
	if flags&greKey != 0 {
		if len(c.b) < header+4 {
			return layerNone, c.short()
		}
		if version == 0 {
			c.enter(binary.BigEndian.Uint32(c.b[header:]))
		}
		header += 4
	}
	if flags&greSequence != 0 {
		header += 4
	}
	if flags&greAck != 0 && version == 1 {
		header += 4
	}
	if len(c.b) < header {
		return layerNone, c.short()
	}
	c.b = c.b[header:]
	if flags&greRouting != 0 && version == 0 {
		if v := greSources(c); v != 0 {
			return layerNone, v
		}
	}
	switch kind {
	case grePPP:
		return layerPPP, 0
	case greERSPAN:
		return erspan(c, flags&greSequence != 0)
	case greERSPANIII:
		return erspan3(c)
	}
	return etherType(c, kind)
}

// greSources passes over the source route entries, which end with an empty one.
func greSources(c *cursor) Verdict {
	for {
		if len(c.b) < 4 {
			return c.short()
		}
		family, size := be16(c.b), 4+int(c.b[3])
		if len(c.b) < size {
			return c.short()
		}
		c.b = c.b[size:]
		if family == 0 && size == 4 {
			return 0
		}
	}
}

// erspan passes over an ERSPAN header: type II has one of 8 bytes, type I has none and, unlike
// II, no sequence number in GRE.
func erspan(c *cursor, sequence bool) (layer, Verdict) {
	if !sequence {
		return layerEthernet, 0
	}
	if len(c.b) < 8 {
		return layerNone, c.short()
	}
	if c.b[0]>>4 == 1 {
		c.b = c.b[8:]
	}
	return layerEthernet, 0
}

// erspan3 passes over an ERSPAN type III header.
func erspan3(c *cursor) (layer, Verdict) {
	if len(c.b) < 12 {
		return layerNone, c.short()
	}
	kind, header := c.b[10]>>2&0x1f, 12
	if c.b[11]&1 != 0 {
		header += 8 // the platform's own part
	}
	if len(c.b) < header {
		return layerNone, c.short()
	}
	c.b = c.b[header:]
	switch kind {
	case 0:
		return layerEthernet, 0
	case 2:
		return layerIP, 0
	}
	return layerNone, NotIP
}
