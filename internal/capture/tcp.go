package capture

import (
	"encoding/binary"

	"github.com/kdissect/kdissect/reassembly"
)

const (
	tcpHeader = 20
	tcpNeeded = 14 // ports, numbers, data offset and flags
)

// tcp reads a TCP header (RFC 9293). A segment that was cut inside its header, behind the flags,
// is given without payload, so that the length that was sent is known.
func tcp(c *cursor, seg *reassembly.Segment) Verdict {
	b := c.b
	if len(b) < tcpNeeded || (len(b) < tcpHeader && c.cut == 0) {
		return c.short()
	}
	header := int(b[12]>>4) * 4
	if header < tcpHeader || header > c.sent() {
		return Malformed
	}
	tcpFields(b, header, c.sent(), seg)
	return TCPSegment
}

// tcpFields sets seg from the TCP header of so many bytes that b begins with, of a segment of which
// sent bytes were sent, header and all.
func tcpFields(b []byte, header, sent int, seg *reassembly.Segment) {
	seg.Flow.Src.Port = binary.BigEndian.Uint16(b)
	seg.Flow.Dst.Port = binary.BigEndian.Uint16(b[2:])
	seg.Seq = binary.BigEndian.Uint32(b[4:])
	seg.Ack = binary.BigEndian.Uint32(b[8:])
	seg.Flags = reassembly.Flags(b[13] & 0x1f)
	seg.WireLen = sent - header
	seg.Payload = nil
	if len(b) > header {
		seg.Payload = b[header:len(b):len(b)]
	}
}
