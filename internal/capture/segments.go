package capture

import "github.com/kdissect/kdissect/reassembly"

// Segments gives the TCP segments of a Source, and accounts for every packet.
type Segments struct {
	src   Source
	dec   *Decoder
	pkt   Packet
	stats Stats
}

// NewSegments reads from src.
func NewSegments(src Source, limits Limits) *Segments {
	return &Segments{src: src, dec: NewDecoder(limits)}
}

// Next sets seg to the next TCP segment. Its payload lies in Packet().Block and is alive until
// the next call. Errors are those of the Source, io.EOF at its end.
func (s *Segments) Next(seg *reassembly.Segment) error {
	for {
		if err := s.src.Next(&s.pkt); err != nil {
			return err
		}
		v := s.dec.Decode(&s.pkt, seg)
		s.stats.add(&s.pkt, v)
		if v == TCPSegment {
			return nil
		}
	}
}

// Packet returns the packet that the last segment came from.
func (s *Segments) Packet() *Packet { return &s.pkt }

// Stats accounts for the packets read so far.
func (s *Segments) Stats() Stats {
	st := s.stats
	st.Incomplete, st.Crowded = s.dec.Incomplete(), s.dec.Crowded()
	return st
}
