package reassembly

import (
	"encoding/binary"
	"net/netip"
)

// Endpoint is an address and a port. IPv4 addresses are held in their IPv4-mapped form. It is
// comparable and holds no pointers.
type Endpoint struct {
	IP   [16]byte
	Port uint16
}

// EndpointFrom makes an Endpoint from a.
func EndpointFrom(a netip.AddrPort) Endpoint {
	return Endpoint{IP: a.Addr().As16(), Port: a.Port()}
}

// is reports whether e and f are the same, which is done millions of times: by words.
func (e *Endpoint) is(f *Endpoint) bool {
	return e.Port == f.Port && e.At(f)
}

// At reports whether e and f have the same address.
func (e *Endpoint) At(f *Endpoint) bool {
	return binary.LittleEndian.Uint64(e.IP[8:]) == binary.LittleEndian.Uint64(f.IP[8:]) &&
		binary.LittleEndian.Uint64(e.IP[:]) == binary.LittleEndian.Uint64(f.IP[:])
}

// IPv4 reports whether e's address is one of IPv4: the last four bytes of IP.
func (e *Endpoint) IPv4() bool {
	return binary.BigEndian.Uint64(e.IP[:]) == 0 && binary.BigEndian.Uint32(e.IP[8:]) == 0xffff
}

func (e *Endpoint) set(f *Endpoint) {
	binary.LittleEndian.PutUint64(e.IP[:], binary.LittleEndian.Uint64(f.IP[:]))
	binary.LittleEndian.PutUint64(e.IP[8:], binary.LittleEndian.Uint64(f.IP[8:]))
	e.Port = f.Port
}

// AddrPort returns e with IPv4 addresses unmapped.
func (e Endpoint) AddrPort() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(e.IP).Unmap(), e.Port)
}

// Flow is one direction between two endpoints.
type Flow struct{ Src, Dst Endpoint }

// Reverse returns the other direction.
func (f Flow) Reverse() Flow { return Flow{f.Dst, f.Src} }

// Flags are the TCP flags that matter here.
type Flags uint8

// Flags, with their values on the wire.
const (
	FIN Flags = 1 << iota
	SYN
	RST
	PSH
	ACK
)

// Segment is one captured TCP segment.
type Segment struct {
	Flow    Flow
	Seq     uint32
	Ack     uint32
	Flags   Flags
	Payload []byte // the captured part; alive during the call it is passed to
	WireLen int    // bytes of payload that were sent; more than len(Payload) where the snapshot length cut it
	Time    int64  // nanoseconds since 1970
	Packet  int64  // number of the packet in the capture, from 1
}

// set makes f a copy of g, as Segment.Set does.
func (f *Flow) set(g *Flow) {
	f.Src.set(&g.Src)
	f.Dst.set(&g.Dst)
}

// Set makes s a copy of t. It is an assignment by words that are no longer than those stored last,
// for which the processor would have to wait.
func (s *Segment) Set(t *Segment) {
	s.Flow.set(&t.Flow)
	s.Seq, s.Ack, s.Flags = t.Seq, t.Ack, t.Flags
	s.Payload, s.WireLen, s.Time, s.Packet = t.Payload, t.WireLen, t.Time, t.Packet
}

// Dir names a direction of a connection.
type Dir uint8

// Directions. Forward is from the side that sent the SYN or, where none was captured, from the
// side that was seen sending first.
const (
	Forward Dir = iota
	Backward
)

// Other returns the opposite direction.
func (d Dir) Other() Dir { return d ^ 1 }

// Chunk is a run of in-order bytes, all from one segment. It has no more members than are passed
// in registers.
type Chunk struct {
	Off    int64  // stream offset of the first byte: 0 is the first byte after the SYN, or the first seen
	Bytes  []byte // alive during the call
	Packet int64
	Time   int64 // nanoseconds since 1970
}

// Reason says why bytes of a stream are missing.
type Reason uint8

// Reasons.
const (
	NotCaptured  Reason = iota // the capture does not hold the segment
	SnapLength                 // the segment was cut by the snapshot length
	BufferLimit                // held too long or too much: given up by our own limits
	NotDecrypted               // captured, but of an encrypted connection and not readable
)

// String returns the words for people.
func (r Reason) String() string {
	switch r {
	case NotCaptured:
		return "not captured"
	case SnapLength:
		return "cut by the snapshot length"
	case BufferLimit:
		return "buffer limit"
	case NotDecrypted:
		return "not decrypted"
	}
	return "unknown"
}

// Gap is a run of missing bytes.
type Gap struct {
	Off    int64
	Len    int64 // -1 where unknown
	Reason Reason
	Packet int64 // the packet that made the gap known
	Time   int64
}

// NoteKind names an observation about segments that loses nothing.
type NoteKind uint8

// Notes.
const (
	Retransmission  NoteKind = iota // bytes that were there already, equal where comparable
	OverlapConflict                 // retransmitted bytes differ from the first copy, which is kept
	OutOfWindow                     // a segment too far ahead or behind to belong here, ignored
	PortReuse                       // a new SYN on the addresses of an open connection
)

// Note is an observation at a place in a stream. Off is negative for bytes from before the first
// that were delivered.
type Note struct {
	Kind   NoteKind
	Off    int64
	Len    int64
	Packet int64
	Time   int64
}

// End says how a connection ended.
type End uint8

// Ends.
const (
	EndFIN     End = iota // both sides closed
	EndRST                // reset
	EndReuse              // a new connection on the same addresses
	EndIdle               // nothing seen for the idle time, in capture time
	EndLimit              // evicted by the limit on connections
	EndCapture            // the capture ended
)

// String returns the words for people.
func (e End) String() string {
	switch e {
	case EndFIN:
		return "closed"
	case EndRST:
		return "reset"
	case EndReuse:
		return "addresses used again"
	case EndIdle:
		return "idle"
	case EndLimit:
		return "connection limit"
	case EndCapture:
		return "end of capture"
	}
	return "unknown"
}

// Handler receives what the Assembler finds. For each connection: Open first, then chunks and
// gaps of each direction in order of offset, tiling the stream, then Close. Byte slices are
// alive during the call only.
type Handler interface {
	Open(c *Conn)
	Chunk(c *Conn, d Dir, ch Chunk)
	Gap(c *Conn, d Dir, g Gap)
	Note(c *Conn, d Dir, n Note)
	// Finish says that direction d ended with a FIN, all its bytes delivered.
	Finish(c *Conn, d Dir, packet, time int64)
	// Close is the last call for c.
	Close(c *Conn, why End, packet, time int64)
}
