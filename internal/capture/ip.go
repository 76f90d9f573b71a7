package capture

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/reassembly"
)

// IP protocol numbers that matter here.
const (
	protoHopByHop    = 0
	protoIPv4        = 4
	protoTCP         = 6
	protoUDP         = 17
	protoIPv6        = 41
	protoRouting     = 43
	protoFragment    = 44
	protoGRE         = 47
	protoAH          = 51
	protoDestination = 60
	protoMobility    = 135
	protoMPLS        = 137
	protoHIP         = 139
	protoShim6       = 140
)

// minFrame is the size up to which Ethernet pads frames, without the FCS.
const minFrame = 60

// ipVersion looks at the first nibble of a raw IP packet.
func ipVersion(c *cursor) (layer, Verdict) {
	if len(c.b) == 0 {
		return layerNone, c.short()
	}
	switch c.b[0] >> 4 {
	case 4:
		return layerIPv4, 0
	case 6:
		return layerIPv6, 0
	}
	return layerNone, NotIP
}

// ipv4 reads an IPv4 header (RFC 791), and holds fragments back until their datagram is whole.
func (d *Decoder) ipv4(c *cursor, p *Packet, seg *reassembly.Segment) (layer, Verdict) {
	b := c.b
	if len(b) < 20 {
		return layerNone, c.short()
	}
	header, total := int(b[0]&15)*4, be16(b[2:])
	if b[0]>>4 != 4 || header < 20 {
		return layerNone, Malformed
	}
	switch {
	case total >= header:
		c.limit(total)
	case total != 0:
		return layerNone, Malformed
	case c.frame <= minFrame:
		// Length left to the network card, in a frame so short that what follows the headers is
		// padding.
		c.limit(min(header+tcpHeader, c.sent()))
	}
	if len(c.b) < header {
		return layerNone, c.short()
	}
	mapIPv4(&seg.Flow.Src.IP, b[12:16])
	mapIPv4(&seg.Flow.Dst.IP, b[16:20])
	c.proto = b[9]
	c.b = c.b[header:]
	if f := be16(b[6:]); f&0x3fff != 0 {
		k := fragmentKey{src: seg.Flow.Src.IP, dst: seg.Flow.Dst.IP, id: uint32(be16(b[4:])), proto: b[9], scope: c.scope}
		return d.fragment(c, p, k, fragment{off: f & 0x1fff * 8, last: f&0x2000 == 0, proto: b[9]})
	}
	return layerTransport, 0
}

// mapIPv4 writes the IPv4-mapped form of an address.
func mapIPv4(dst *[16]byte, a []byte) {
	binary.LittleEndian.PutUint64(dst[0:], 0)
	binary.LittleEndian.PutUint64(dst[8:], 0xffff0000|uint64(binary.LittleEndian.Uint32(a))<<32)
}

// ipv6 reads an IPv6 header with its extensions (RFC 8200).
func (d *Decoder) ipv6(c *cursor, p *Packet, seg *reassembly.Segment) (layer, Verdict) {
	b := c.b
	if len(b) < 40 {
		return layerNone, c.short()
	}
	if b[0]>>4 != 6 {
		return layerNone, Malformed
	}
	c.proto = b[6]
	c.b = b[40:]
	if length := be16(b[4:]); length != 0 {
		c.limit(length)
	} else if length = jumbo(c); length > 0 {
		c.limit(length)
	}
	// Else the length was left to the network card: what was captured is the packet.
	copy(seg.Flow.Src.IP[:], b[8:24])
	copy(seg.Flow.Dst.IP[:], b[24:40])
	if c.proto == protoTCP {
		return layerTransport, 0
	}
	return d.extensions(c, p, seg)
}

// jumbo returns the length that a jumbo payload option tells (RFC 2675), or 0.
func jumbo(c *cursor) int {
	if c.proto != protoHopByHop || len(c.b) < 8 {
		return 0
	}
	opts := c.b[2:min(len(c.b), int(c.b[1])*8+8)]
	for len(opts) >= 2 {
		if opts[0] == 0 { // Pad1
			opts = opts[1:]
			continue
		}
		size := int(opts[1])
		if opts[0] == 0xc2 && size == 4 && len(opts) >= 6 {
			return int(min(binary.BigEndian.Uint32(opts[2:]), 1<<31-1))
		}
		if 2+size > len(opts) {
			break
		}
		opts = opts[2+size:]
	}
	return 0
}

// extensions passes over IPv6 extension headers, and holds fragments back until their datagram
// is whole.
func (d *Decoder) extensions(c *cursor, p *Packet, seg *reassembly.Segment) (layer, Verdict) {
	for {
		switch c.proto {
		case protoHopByHop, protoRouting, protoDestination, protoMobility, protoHIP, protoShim6:
			if v := c.extension(8, 8); v != 0 {
				return layerNone, v
			}
		case protoAH:
			return layerTransport, 0
		case protoFragment:
			if len(c.b) < 8 {
				return layerNone, c.short()
			}
			next, f, id := c.b[0], be16(c.b[2:]), binary.BigEndian.Uint32(c.b[4:])
			c.b = c.b[8:]
			if f&0xfff9 != 0 {
				k := fragmentKey{src: seg.Flow.Src.IP, dst: seg.Flow.Dst.IP, id: id, six: true, scope: c.scope}
				return d.fragment(c, p, k, fragment{off: f & 0xfff8, last: f&1 == 0, proto: next})
			}
			c.proto = next // an atomic fragment (RFC 6946)
		default:
			return layerTransport, 0
		}
	}
}

// extension passes over one extension header, whose second byte counts units of that size beyond
// the base. It returns 0 where it was there.
func (c *cursor) extension(unit, base int) Verdict {
	if len(c.b) < 2 {
		return c.short()
	}
	size := int(c.b[1])*unit + base
	if len(c.b) < size {
		return c.short()
	}
	c.proto = c.b[0]
	c.b = c.b[size:]
	return 0
}
