package capture

import (
	"encoding/binary"
	"math/bits"
)

// Magic numbers of pcap files.
const (
	magicMicro    = 0xa1b2c3d4
	magicNano     = 0xa1b23c4d
	magicModified = 0xa1b2cd34 // microseconds, with 8 more bytes in each record header
)

// pcap reads the classic format.
type pcap struct {
	*file
	swap   bool // not little-endian
	header int  // bytes of a record's header
	tick   int64
	link   LinkType
	ready  bool // the file header has been read
}

// newPcap reports whether the four bytes b are a pcap magic number.
func newPcap(f *file, b []byte) (*pcap, bool) {
	p := &pcap{file: f, header: 16, tick: 1000}
	magic := binary.LittleEndian.Uint32(b)
	switch magic {
	case magicMicro, magicNano, magicModified:
	default:
		magic = bits.ReverseBytes32(magic)
		p.swap = true
	}
	switch magic {
	case magicMicro:
	case magicNano:
		p.tick = 1
	case magicModified:
		p.header = 24
	default:
		return nil, false
	}
	return p, true
}

func (p *pcap) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.swap {
		return bits.ReverseBytes32(v)
	}
	return v
}

func (p *pcap) fileHeader() error {
	b, err := p.w.need(24)
	if len(b) < 24 {
		return p.ended(b, err, "file header")
	}
	// The upper half may tell the length of the frame check sequence.
	p.link = LinkType(p.u32(b[20:]) & 0xffff)
	if p.frame != nil {
		p.frame(b[:24:24])
	}
	p.w.advance(24)
	p.ready = true
	return nil
}

func (p *pcap) next(pkt *Packet) error {
	if !p.ready {
		if err := p.fileHeader(); err != nil {
			return err
		}
	}
	b, err := p.w.need(p.header)
	if len(b) < p.header {
		return p.ended(b, err, "packet")
	}
	sec, frac := p.u32(b), p.u32(b[4:])
	captured, wire := p.u32(b[8:]), p.u32(b[12:])
	if int64(captured) > int64(p.limits.Packet) {
		return p.damagedRecord("packet %d claims %d captured bytes (limit %d)", p.packets+1, captured, p.limits.Packet)
	}
	n := p.header + int(captured)
	if len(b) < n {
		if b, err = p.w.need(n); len(b) < n {
			return p.ended(b, err, "packet")
		}
	}
	pkt.Data = b[p.header:n:n]
	pkt.Record, pkt.At = b[:n:n], p.header
	pkt.WireLen = wireLen(wire, int(captured))
	pkt.Time = int64(sec)*1e9 + int64(frac)*p.tick
	pkt.Link = p.link
	pkt.Offset = p.w.off
	p.w.advance(n)
	return nil
}

// wireLen is the length on the wire, which some writers give less than what they captured.
func wireLen(wire uint32, captured int) int {
	return max(int(min(wire, 1<<31-1)), captured)
}
