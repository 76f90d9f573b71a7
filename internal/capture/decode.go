package capture

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/reassembly"
)

// maxLayers bounds how many layers of a packet are followed. A run of VLAN tags, of MPLS labels
// or of IPv6 extension headers counts as part of the layer below it.
const maxLayers = 32

// layer is what stands next in a packet.
type layer uint8

const (
	layerNone layer = iota // nothing more to follow: the step's Verdict holds
	layerEthernet
	layerIP // version 4 or 6, by the first nibble
	layerIPv4
	layerIPv6
	layerMPLS
	layerPPPoE
	layerPPP
	layerTransport // what cursor.proto says
	layerSegment
)

// cursor stands in a packet, in front of the layer that comes next.
type cursor struct {
	b     []byte // the captured bytes from here on, as far as the layers so far let them reach
	cut   int    // bytes that were sent behind b, and not captured
	frame int    // sent length of the innermost link-layer frame, for its padding
	proto uint8  // IP protocol number of what comes next
	scope uint64 // tags and tunnels around it, which tell equal IP addresses apart
	time  int64
}

// short is the Verdict where a header does not fit the bytes left.
func (c *cursor) short() Verdict {
	if c.cut > 0 {
		return CutShort
	}
	return Malformed
}

// sent is the number of bytes sent from here on.
func (c *cursor) sent() int { return len(c.b) + c.cut }

// limit ends the packet after n sent bytes: what follows is padding or a trailer. Where the
// packet claims more than the frame has, the missing bytes count as not captured.
func (c *cursor) limit(n int) {
	if n <= len(c.b) {
		c.b, c.cut = c.b[:n], 0
		return
	}
	c.cut = n - len(c.b)
}

// enter mixes a tag or tunnel number into the scope.
func (c *cursor) enter(id uint32) {
	c.scope = (c.scope ^ uint64(id) ^ 1<<32) * 0x9e3779b97f4a7c15
}

// Decoder finds the TCP segment in a packet. It is for one goroutine; it holds the fragments of
// IP datagrams until they are whole.
type Decoder struct {
	frags defragmenter
	trace func(Step)
}

// NewDecoder returns a Decoder with the limits for fragments.
func NewDecoder(limits Limits) *Decoder {
	d := &Decoder{}
	d.frags.init(limits.withDefaults())
	return d
}

// Incomplete returns how many fragmented datagrams there were whose rest did not come, those that
// still wait for it among them.
func (d *Decoder) Incomplete() int64 { return d.frags.incomplete + int64(len(d.frags.waiting)) }

// Crowded returns how many were given up because there were too many of them, or too large ones.
func (d *Decoder) Crowded() int64 { return d.frags.crowded }

// Decode sets seg to the segment that p holds, or that p completes as the last fragment of a
// datagram, and reports TCPSegment; else seg's contents are void. The payload lies in p.Block,
// which Decode changes where the datagram was in fragments, and is alive until the next call or
// the next of p's Source.
func (d *Decoder) Decode(p *Packet, seg *reassembly.Segment) Verdict {
	d.frags.recycle()
	if p.Fault != 0 {
		return p.Fault
	}
	if d.trace == nil && plain(p, seg) {
		return TCPSegment
	}
	c := cursor{b: p.Data, cut: p.WireLen - len(p.Data), frame: p.WireLen, time: p.Time}
	next, v := first(p.Link, &c)
	for range maxLayers {
		if d.trace != nil {
			d.tell(next, &c)
		}
		switch next {
		case layerNone:
			return v
		case layerEthernet:
			next, v = ethernet(&c)
		case layerIP:
			next, v = ipVersion(&c)
		case layerIPv4:
			next, v = d.ipv4(&c, p, seg)
		case layerIPv6:
			next, v = d.ipv6(&c, p, seg)
		case layerMPLS:
			next, v = mpls(&c)
		case layerPPPoE:
			next, v = pppoe(&c)
		case layerPPP:
			next, v = ppp(&c)
		case layerTransport:
			next, v = transport(&c)
		case layerSegment:
			seg.Time, seg.Packet = p.Time, p.Number
			return tcp(&c, seg)
		}
	}
	return TooDeep
}

func be16(b []byte) int { return int(binary.BigEndian.Uint16(b)) }
