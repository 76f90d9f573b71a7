package capture

import (
	"encoding/binary"
	"math/bits"
)

// Link types that are read.
const (
	LinkNull      LinkType = 0   // BSD loopback, address family in the capturing host's byte order
	LinkEthernet  LinkType = 1   // Ethernet, without preamble and mostly without FCS
	LinkPPP       LinkType = 9   // PPP, with or without HDLC's address and control
	LinkRaw12     LinkType = 12  // raw IP, as some systems number it
	LinkRaw14     LinkType = 14  // raw IP, as OpenBSD numbers it
	LinkPPPHDLC   LinkType = 50  // PPP in HDLC-like framing
	LinkPPPoE     LinkType = 51  // PPPoE without Ethernet
	LinkRaw       LinkType = 101 // raw IP
	LinkLoop      LinkType = 108 // OpenBSD loopback, address family in network byte order
	LinkLinuxSLL  LinkType = 113 // Linux cooked capture
	LinkIPv4      LinkType = 228
	LinkIPv6      LinkType = 229
	LinkLinuxSLL2 LinkType = 276 // Linux cooked capture, version 2
)

// first says which layer a packet of that link type begins with, past the link's own header.
func first(link LinkType, c *cursor) (layer, Verdict) {
	switch link {
	case LinkEthernet:
		return layerEthernet, 0
	case LinkLinuxSLL:
		return cooked(c, 16, 14)
	case LinkLinuxSLL2:
		return cooked(c, 20, 0)
	case LinkNull, LinkLoop:
		return loopback(c)
	case LinkRaw, LinkRaw12, LinkRaw14:
		return layerIP, 0
	case LinkIPv4:
		return layerIPv4, 0
	case LinkIPv6:
		return layerIPv6, 0
	case LinkPPP, LinkPPPHDLC:
		return layerPPP, 0
	case LinkPPPoE:
		return layerPPPoE, 0
	}
	return layerNone, UnsupportedLink
}

// ethernet reads an Ethernet header.
func ethernet(c *cursor) (layer, Verdict) {
	if len(c.b) < 14 {
		return layerNone, c.short()
	}
	c.frame = c.sent()
	kind := be16(c.b[12:])
	c.b = c.b[14:]
	return etherType(c, kind)
}

// cooked reads the header of a Linux cooked capture, whose protocol stands at that offset.
func cooked(c *cursor, header, protocol int) (layer, Verdict) {
	if len(c.b) < header {
		return layerNone, c.short()
	}
	kind := be16(c.b[protocol:])
	c.b = c.b[header:]
	return etherType(c, kind)
}

// loopback reads the address family of BSD's loopback. Its number depends on the system for
// IPv6, and its byte order on the host.
func loopback(c *cursor) (layer, Verdict) {
	if len(c.b) < 4 {
		return layerNone, c.short()
	}
	family := binary.LittleEndian.Uint32(c.b)
	if family > 0xffff {
		family = bits.ReverseBytes32(family)
	}
	c.b = c.b[4:]
	switch family {
	case 2:
		return layerIPv4, 0
	case 10, 23, 24, 28, 30: // Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin
		return layerIPv6, 0
	}
	return layerNone, NotIP
}

// EtherTypes that lead to IP.
const (
	etherIPv4        = 0x0800
	etherIPv6        = 0x86dd
	etherVLAN        = 0x8100
	etherVLANService = 0x88a8
	etherVLAN9100    = 0x9100
	etherVLAN9200    = 0x9200
	etherBridging    = 0x6558 // transparent Ethernet bridging, in tunnels
	etherMPLS        = 0x8847
	etherMPLSMulti   = 0x8848
	etherPPPoE       = 0x8864 // session stage

	// What Linux cooked captures have where there is no EtherType.
	linuxLLC = 0x0004

	maxLength8023 = 1500 // up to here the field is a length, and LLC follows
)

// etherType says which layer an EtherType announces, past VLAN tags.
func etherType(c *cursor, kind int) (layer, Verdict) {
	for {
		switch kind {
		case etherIPv4:
			return layerIPv4, 0
		case etherIPv6:
			return layerIPv6, 0
		case etherVLAN, etherVLANService, etherVLAN9100, etherVLAN9200:
			if len(c.b) < 4 {
				return layerNone, c.short()
			}
			c.enter(uint32(be16(c.b) & 0xfff))
			kind = be16(c.b[2:])
			c.b = c.b[4:]
			continue
		case etherBridging:
			return layerEthernet, 0
		case etherMPLS, etherMPLSMulti:
			return layerMPLS, 0
		case etherPPPoE:
			return layerPPPoE, 0
		}
		if kind > maxLength8023 {
			return layerNone, NotIP
		}
		more, known := logicalLink(c, &kind)
		if !more {
			return layerNone, known
		}
	}
}

// logicalLink reads an IEEE 802.2 header. Where SNAP or IP's own number announces an EtherType,
// it sets kind and reports true.
func logicalLink(c *cursor, kind *int) (bool, Verdict) {
	if len(c.b) < 3 {
		return false, c.short()
	}
	dsap, ssap, control := c.b[0], c.b[1]&^1, c.b[2]
	if control != 3 {
		return false, NotIP
	}
	switch {
	case dsap == 0x06 && ssap == 0x06:
		*kind = etherIPv4
		c.b = c.b[3:]
		return true, 0
	case dsap == 0xaa && ssap == 0xaa:
		if len(c.b) < 8 {
			return false, c.short()
		}
		oui := uint32(c.b[3])<<16 | uint32(c.b[4])<<8 | uint32(c.b[5])
		*kind = be16(c.b[6:])
		c.b = c.b[8:]
		if (oui == 0 || oui == 0x0000f8) && *kind > maxLength8023 {
			return true, 0
		}
	}
	return false, NotIP
}

// mpls passes over a label stack (RFC 3032). Nothing in it tells what follows: an IP version is
// believed where the first nibble is one; 0 begins a pseudowire's control word (RFC 4385).
func mpls(c *cursor) (layer, Verdict) {
	for bottom := false; !bottom; {
		if len(c.b) < 4 {
			return layerNone, c.short()
		}
		bottom = c.b[2]&1 != 0
		c.b = c.b[4:]
	}
	if len(c.b) == 0 {
		return layerNone, c.short()
	}
	if c.b[0]>>4 == 0 {
		if len(c.b) < 4 {
			return layerNone, c.short()
		}
		c.b = c.b[4:]
		return layerEthernet, 0
	}
	return ipVersion(c)
}

// pppoe reads the header of a PPPoE session packet (RFC 2516).
func pppoe(c *cursor) (layer, Verdict) {
	if len(c.b) < 6 {
		return layerNone, c.short()
	}
	if c.b[0] != 0x11 {
		return layerNone, Malformed
	}
	if c.b[1] != 0 {
		return layerNone, NotIP // discovery
	}
	c.enter(uint32(be16(c.b[2:])))
	c.b = c.b[6:]
	return layerPPP, 0
}

// ppp reads a PPP protocol number (RFC 1661), which may be compressed to one byte, behind the
// optional address and control of HDLC-like framing (RFC 1662).
func ppp(c *cursor) (layer, Verdict) {
	if len(c.b) >= 2 && c.b[0] == 0xff && c.b[1] == 0x03 {
		c.b = c.b[2:]
	}
	if len(c.b) < 2 {
		return layerNone, c.short()
	}
	protocol, size := be16(c.b), 2
	if c.b[0]&1 != 0 {
		protocol, size = int(c.b[0]), 1
	}
	c.b = c.b[size:]
	switch protocol {
	case 0x0021:
		return layerIPv4, 0
	case 0x0057:
		return layerIPv6, 0
	case 0x0281, 0x0283:
		return layerMPLS, 0
	}
	return layerNone, NotIP
}
