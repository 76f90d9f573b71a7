package capture

import (
	"encoding/binary"
	"math/bits"
)

// Block types of pcapng.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockObsolete  = 2 // the Packet Block of the first drafts
	blockSimple    = 3
	blockEnhanced  = 6
	blockSecrets   = 0x0a
)

const (
	byteOrderMagic = 0x1a2b3c4d

	// metadataLimit bounds the blocks that are read whole and are neither packets nor secrets.
	metadataLimit = 1 << 20
)

// Secrets are the contents of one decryption-secrets block.
type Secrets struct {
	File string
	Type uint32 // such as SecretsTLSKeyLog
	Data []byte // alive during the call
}

// SecretsTLSKeyLog is the type of secrets in the form of an NSS key log.
const SecretsTLSKeyLog = 0x544c534b

// pcapng reads the block format, section by section.
type pcapng struct {
	*file
	swap       bool // the section is not little-endian
	interfaces []netInterface
}

// netInterface is what an interface description says.
type netInterface struct {
	link    LinkType
	snaplen uint32
	clock   clock
}

func (p *pcapng) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if p.swap {
		return bits.ReverseBytes16(v)
	}
	return v
}

func (p *pcapng) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.swap {
		return bits.ReverseBytes32(v)
	}
	return v
}

func (p *pcapng) next(pkt *Packet) error {
	for {
		b, err := p.w.need(12)
		if len(b) < 12 {
			return p.ended(b, err, "block")
		}
		kind := p.u32(b)
		if kind == blockSection { // a palindrome: it reads the same in both byte orders
			if err := p.byteOrder(b[8:]); err != nil {
				return err
			}
		}
		length := p.u32(b[4:])
		if length < 12 || length%4 != 0 {
			return p.damagedRecord("a block claims a length of %d", length)
		}
		limit := p.blockLimit(kind)
		if limit == 0 || (kind == blockSecrets && int64(length) > int64(limit)) {
			if err := p.passOver(kind, length, limit); err != nil {
				return err
			}
			continue
		}
		if int64(length) > int64(limit) {
			return p.damagedRecord("a block of type %#x claims %d bytes (limit %d)", kind, length, limit)
		}
		n := int(length)
		if len(b) < n {
			if b, err = p.w.need(n); len(b) < n {
				return p.ended(b, err, blockName(kind))
			}
		}
		if again := p.u32(b[n-4:]); again != length {
			return p.damagedRecord("a block's length is %d at its begin and %d at its end", length, again)
		}
		pkt.Offset = p.w.off
		pkt.Record = b[:n:n]
		found, err := p.block(kind, b[8:n-4:n-4], pkt)
		if err != nil {
			return err
		}
		if p.frame != nil && (kind == blockSection || kind == blockInterface) {
			p.frame(pkt.Record)
		}
		p.w.advance(n)
		if found {
			return nil
		}
	}
}

// blockLimit returns the most bytes that a block of this kind may have, 0 for those not read.
func (p *pcapng) blockLimit(kind uint32) int {
	switch kind {
	case blockSection, blockInterface:
		return metadataLimit
	case blockEnhanced, blockSimple, blockObsolete:
		return p.limits.Packet + metadataLimit // options may follow the packet
	case blockSecrets:
		if p.secrets != nil {
			return p.limits.Secrets
		}
	}
	return 0
}

func blockName(kind uint32) string {
	switch kind {
	case blockEnhanced, blockSimple, blockObsolete:
		return "packet"
	}
	return "block"
}

// passOver skips a block that is not of interest, or too large to be.
func (p *pcapng) passOver(kind, length uint32, limit int) error {
	if limit > 0 {
		p.report(WarnSkipped, p.w.off, p.packets+1, "decryption secrets of %d bytes at byte %d not read (limit %d)", length, p.w.off, limit)
	}
	at := p.w.off
	if err := p.w.skip(int64(length)); err != nil {
		end := p.w.off
		p.w.off = at
		return p.ended(make([]byte, end-at), err, blockName(kind))
	}
	return nil
}

// block takes in the body of one block, and reports whether it was a packet.
func (p *pcapng) block(kind uint32, body []byte, pkt *Packet) (bool, error) {
	switch kind {
	case blockSection:
		return false, p.section(body)
	case blockInterface:
		return false, p.iface(body)
	case blockSecrets:
		p.secretsBlock(body)
		return false, nil
	case blockEnhanced:
		return p.enhanced(body, pkt)
	case blockSimple:
		return p.simple(body, pkt)
	default:
		return p.obsolete(body, pkt)
	}
}

// byteOrder sets the byte order of the section that begins, from its magic number.
func (p *pcapng) byteOrder(b []byte) error {
	switch binary.LittleEndian.Uint32(b) {
	case byteOrderMagic:
		p.swap = false
	case bits.ReverseBytes32(byteOrderMagic):
		p.swap = true
	default:
		return p.damagedRecord("a section without byte-order magic")
	}
	return nil
}

func (p *pcapng) section(body []byte) error {
	if len(body) < 16 {
		return p.damagedRecord("a section header of %d bytes", len(body)+12)
	}
	if major := p.u16(body[4:]); major != 1 {
		return p.damagedRecord("a section of version %d.%d, which is not known", major, p.u16(body[6:]))
	}
	p.interfaces = p.interfaces[:0]
	return nil
}

// iface takes in an interface description.
func (p *pcapng) iface(body []byte) error {
	if len(body) < 8 {
		return p.damagedRecord("an interface description of %d bytes", len(body)+12)
	}
	if len(p.interfaces) >= p.limits.Interfaces {
		p.report(WarnSkipped, p.w.off, p.packets+1, "interface at byte %d not read (limit %d)", p.w.off, p.limits.Interfaces)
		return nil
	}
	n := netInterface{link: LinkType(p.u16(body)), snaplen: p.u32(body[4:])}
	resolution, offset := byte(6), int64(0)
	for opts := body[8:]; len(opts) >= 4; {
		code, size := p.u16(opts), int(p.u16(opts[2:]))
		opts = opts[4:]
		if code == 0 || size > len(opts) {
			break
		}
		switch {
		case code == 9 && size == 1: // if_tsresol
			resolution = opts[0]
		case code == 14 && size == 8: // if_tsoffset
			v := binary.LittleEndian.Uint64(opts)
			if p.swap {
				v = bits.ReverseBytes64(v)
			}
			offset = int64(v)
		}
		opts = opts[min((size+3)&^3, len(opts)):]
	}
	n.clock = newClock(resolution, offset)
	p.interfaces = append(p.interfaces, n)
	return nil
}

func (p *pcapng) secretsBlock(body []byte) {
	if len(body) < 8 {
		return
	}
	size := int(min(uint64(p.u32(body[4:])), uint64(len(body)-8)))
	p.secrets(Secrets{File: p.name, Type: p.u32(body), Data: body[8 : 8+size : 8+size]})
}

func (p *pcapng) enhanced(body []byte, pkt *Packet) (bool, error) {
	if len(body) < 20 {
		return false, p.damagedRecord("a packet block of %d bytes", len(body)+12)
	}
	ts := uint64(p.u32(body[4:]))<<32 | uint64(p.u32(body[8:]))
	pkt.At = 28
	p.packet(pkt, p.u32(body), ts, body[20:], p.u32(body[12:]), p.u32(body[16:]))
	return true, nil
}

func (p *pcapng) obsolete(body []byte, pkt *Packet) (bool, error) {
	if len(body) < 20 {
		return false, p.damagedRecord("a packet block of %d bytes", len(body)+12)
	}
	ts := uint64(p.u32(body[4:]))<<32 | uint64(p.u32(body[8:]))
	pkt.At = 28
	p.packet(pkt, uint32(p.u16(body)), ts, body[20:], p.u32(body[12:]), p.u32(body[16:]))
	return true, nil
}

// simple reads a packet that has neither time nor captured length: it gets the time of the
// packet before it.
func (p *pcapng) simple(body []byte, pkt *Packet) (bool, error) {
	if len(body) < 4 {
		return false, p.damagedRecord("a packet block of %d bytes", len(body)+12)
	}
	wire := p.u32(body)
	captured := min(wire, uint32(len(body)-4))
	last := p.last
	if len(p.interfaces) > 0 {
		if s := p.interfaces[0].snaplen; s > 0 {
			captured = min(captured, s)
		}
	}
	pkt.At = 12
	p.packet(pkt, 0, 0, body[4:], captured, wire)
	pkt.Time, p.last = last, last
	return true, nil
}

// packet sets pkt from the parts of a packet block, room being what stands behind its fields. A
// packet that cannot be believed is given without bytes, and with its Fault, so that it counts.
func (p *pcapng) packet(pkt *Packet, iface uint32, ts uint64, room []byte, captured, wire uint32) {
	pkt.Data, pkt.WireLen, pkt.Time, pkt.Link = nil, 0, p.last, 0
	if int64(iface) >= int64(len(p.interfaces)) {
		p.report(WarnSkipped, p.w.off, p.packets+1, "packet %d at byte %d names interface %d, which is not described; skipped", p.packets+1, p.w.off, iface)
		pkt.Fault = UnknownInterface
		return
	}
	if int64(captured) > int64(len(room)) {
		p.report(WarnSkipped, p.w.off, p.packets+1, "packet %d at byte %d claims %d captured bytes in a block that has room for %d; skipped", p.packets+1, p.w.off, captured, len(room))
		pkt.Fault = DamagedRecord
		return
	}
	n := &p.interfaces[iface]
	pkt.Data = room[:captured:captured]
	pkt.WireLen = wireLen(wire, int(captured))
	pkt.Time = n.clock.nanos(ts)
	pkt.Link = n.link
	p.last = pkt.Time
}
