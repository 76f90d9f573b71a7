package scrub

import (
	"encoding/binary"
	"io"
)

// container writes a capture file in the form of the one that it is a copy of.
type container struct {
	w     io.Writer
	order byteOrder // of a pcapng section; nil for pcap
	pcap  byteOrder // of a pcap file
	buf   []byte
	err   error
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// Parts of pcapng (draft-ietf-opsawg-pcapng).
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockSimple    = 3
	blockEnhanced  = 6

	optionEnd        = 0
	optionResolution = 9 // of an interface's times
	optionOffset     = 14
	optionFlags      = 2 // of a packet: its direction
	optionDropped    = 4
)

func (c *container) write(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
}

// frame writes what stands around packets: the header of a pcap file, or a section header or
// interface description of pcapng, of whose options only those about times are kept.
func (c *container) frame(record []byte) {
	if len(record) == 24 && c.order == nil && binary.LittleEndian.Uint32(record) != blockSection {
		c.pcap = binary.LittleEndian
		if record[0] == 0xa1 { // the magic numbers' first digits
			c.pcap = binary.BigEndian
		}
		c.write(record)
		return
	}
	if binary.LittleEndian.Uint32(record) == blockSection {
		c.order = binary.LittleEndian
		if binary.BigEndian.Uint32(record[8:]) == 0x1a2b3c4d {
			c.order = binary.BigEndian
		}
		c.block(record[:24], nil)
		return
	}
	c.block(record[:16], c.options(record[16:len(record)-4], optionResolution, optionOffset))
}

// options returns those of b that have one of two codes.
func (c *container) options(b []byte, first, second uint16) []byte {
	var kept []byte
	for len(b) >= 4 {
		code, n := c.order.Uint16(b), (int(c.order.Uint16(b[2:]))+3)&^3
		if code == optionEnd || n > len(b)-4 {
			break
		}
		if code == first || code == second {
			kept = append(kept, b[:4+n]...)
		}
		b = b[4+n:]
	}
	if len(kept) > 0 {
		kept = append(kept, 0, 0, 0, 0)
	}
	return kept
}

// block writes a block from its start, length and all, and its options.
func (c *container) block(start, options []byte) {
	c.buf = append(append(c.buf[:0], start...), options...)
	n := uint32(len(c.buf) + 4)
	if binary.LittleEndian.Uint32(start) == blockSection {
		// How long the section is, is not said: blocks are left out.
		fill(c.buf[16:24], 0xff)
	}
	c.order.PutUint32(c.buf[4:], n)
	c.buf = c.order.AppendUint32(c.buf, n)
	c.write(c.buf)
}

// packet writes a packet's record, whose bytes were replaced.
func (c *container) packet(record []byte, at, n int) {
	if c.order == nil {
		c.write(record[:at+n])
		return
	}
	end := min(at+(n+3)&^3, len(record)-4)
	fill(record[at+n:end], 0)
	var kept []byte
	if c.order.Uint32(record) == blockEnhanced {
		kept = c.options(record[end:len(record)-4], optionFlags, optionDropped)
	}
	c.block(record[:end], kept)
}

// other writes a packet in place of that of a record: its time, other bytes.
func (c *container) other(record []byte, at int, data []byte) {
	n := uint32(len(data))
	head := append([]byte(nil), record[:at]...)
	switch {
	case c.order == nil:
		c.pcap.PutUint32(head[8:], n)
		c.pcap.PutUint32(head[12:], n)
	case c.order.Uint32(head) == blockSimple:
		c.order.PutUint32(head[8:], n)
	default:
		c.order.PutUint32(head[20:], n)
		c.order.PutUint32(head[24:], n)
	}
	head = append(head, data...)
	if c.order == nil {
		c.write(head)
		return
	}
	c.block(append(head, make([]byte, (4-n%4)%4)...), nil)
}
