package scrub

import (
	"cmp"
	"slices"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// streams knows what the first pass found: the connections, and where the bytes of each
// direction lie in the spool. It is the dissect.Handler of that pass, and stands in front of the
// Dissector to see chunks.
type streams struct {
	reassembly.Handler // the Dissector

	frames *frames
	spool  *spool
	conns  map[int64]*conn // open ones
	flows  map[reassembly.Flow][]*conn
	report *Report
	err    error // the first of the spool
}

// conn is a connection.
type conn struct {
	first int64 // packet
	keep  bool  // encrypted: left as it is
	plain bool  // decrypted: text tells where offsets of plaintext are
	dirs  [2]stream
	text  [2]plaintext
}

// stream is a direction of a connection.
type stream struct {
	extents []extent
	bases   []base
	hello   handshake
	near    int64 // offset of the segment before, in the second pass
}

// base says that from a packet on, offset 0 has that sequence number.
type base struct {
	packet int64
	seq    uint32
}

// Open implements reassembly.Handler.
func (s *streams) Open(t *reassembly.Conn) {
	c := &conn{first: t.FirstPacket}
	s.conns[t.ID] = c
	s.flows[t.Flow] = append(s.flows[t.Flow], c)
	s.report.Connections++
	s.Handler.Open(t)
}

// Chunk implements reassembly.Handler.
func (s *streams) Chunk(t *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	st := &s.conns[t.ID].dirs[d]
	seq := t.Dirs[d].Base
	if n := len(st.bases); n == 0 || st.bases[n-1].seq != seq {
		st.bases = append(st.bases, base{ch.Packet, seq})
	}
	st.hello.chunk(ch.Off, ch.Bytes)
	s.Handler.Chunk(t, d, ch)
}

// Gap implements reassembly.Handler.
func (s *streams) Gap(t *reassembly.Conn, d reassembly.Dir, g reassembly.Gap) {
	s.conns[t.ID].dirs[d].hello.gap(g.Off)
	s.Handler.Gap(t, d, g)
}

// Exchange implements dissect.Handler.
func (s *streams) Exchange(x *dissect.Exchange) {
	c := s.conns[x.Conn.TCP.ID]
	s.add(&c.dirs[x.Conn.Broker.Other()], x.Request, true)
	s.add(&c.dirs[x.Conn.Broker], x.Response, false)
}

func (s *streams) add(st *stream, f *dissect.Frame, request bool) {
	if f == nil || len(f.Bytes) == 0 || s.err != nil {
		return
	}
	e, err := s.spool.add(f.Offset, s.frames.scrub(f, request))
	if err != nil {
		s.err = err
		return
	}
	st.extents = append(st.extents, e)
	s.report.Frames++
}

// Closed implements dissect.Handler.
func (s *streams) Closed(c *dissect.Connection, _ reassembly.End) {
	mine := s.conns[c.TCP.ID]
	delete(s.conns, c.TCP.ID)
	if t := c.TCP.TLS; t != nil && t.Decrypted {
		mine.plain = true
		s.report.Decrypted++
	}
	switch {
	case mine.plain && c.Protocol != dissect.ProtocolKafka:
		s.report.Blanked++
	case mine.plain, c.Protocol == dissect.ProtocolKafka, c.Protocol == dissect.ProtocolEmpty:
	case c.Protocol == dissect.ProtocolTLS:
		mine.keep = true
		s.report.Encrypted++
	default:
		s.report.Blanked++
	}
	for d := range mine.dirs {
		slices.SortFunc(mine.dirs[d].extents, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	}
}

// find returns the connection that a segment is of, nil where there is none, and its direction.
func (s *streams) find(seg *reassembly.Segment) (*conn, reassembly.Dir) {
	forward, backward := latest(s.flows[seg.Flow], seg.Packet), latest(s.flows[seg.Flow.Reverse()], seg.Packet)
	switch {
	case backward == nil || forward != nil && forward.first > backward.first:
		return forward, reassembly.Forward
	default:
		return backward, reassembly.Backward
	}
}

// latest returns the last of cs that had begun at packet.
func latest(cs []*conn, packet int64) *conn {
	i, _ := slices.BinarySearchFunc(cs, packet+1, func(c *conn, p int64) int { return cmp.Compare(c.first, p) })
	if i == 0 {
		return nil
	}
	return cs[i-1]
}

// fillPayload replaces the payload b of a segment, which begins skip bytes behind its sequence number.
func (s *streams) fillPayload(seg *reassembly.Segment, skip int, b []byte) error {
	c, d := s.find(seg)
	if c == nil || c.plain { // what was encrypted has no place in plaintext
		fill(b, 0)
		return nil
	}
	st := &c.dirs[d]
	i, _ := slices.BinarySearchFunc(st.bases, seg.Packet+1, func(b base, p int64) int { return cmp.Compare(b.packet, p) })
	if len(st.bases) == 0 { // nothing of it was taken for part of the stream
		fill(b, 0)
		return nil
	}
	seq := seg.Seq - st.bases[max(i-1, 0)].seq
	if seg.Flags&reassembly.SYN != 0 {
		seq++
	}
	off := st.near + int64(int32(seq-uint32(st.near)))
	st.near = off
	if c.keep {
		if s.frames.values.opt.Hosts {
			st.hello.hide(off+int64(skip), b)
		}
		return nil
	}
	return s.spool.read(st.extents, off+int64(skip), b)
}
