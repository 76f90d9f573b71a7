package losslab

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/kdissect/kdissect/internal/capture"
)

// Packet is a packet of a capture.
type Packet struct {
	capture.Packet
	Origin int  // its place in the whole capture
	Cut    bool // bytes were cut off that the whole capture has
}

// load reads all packets of a capture file.
func load(path string) ([]Packet, error) {
	r, err := capture.Open(context.Background(), []string{path}, capture.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []Packet
	for {
		p := Packet{Origin: len(all)}
		err := r.Next(&p.Packet)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		p.Data, p.Block = append([]byte(nil), p.Data...), nil
		all = append(all, p)
	}
}

// source gives packets as a capture file does, numbered from 1.
type source struct {
	packets []Packet
	next    int
}

// Next implements capture.Source.
func (s *source) Next(p *capture.Packet) error {
	if s.next == len(s.packets) {
		return io.EOF
	}
	*p = s.packets[s.next].Packet
	s.next++
	p.Number = int64(s.next)
	return nil
}

// tcp is the TCP header of an Ethernet packet, or nil. The captures of the lab have neither
// tags nor extension headers.
func (p *Packet) tcp() []byte {
	const ethernet, minTCP = 14, 20
	b := p.Data
	if p.Link != 1 || len(b) < ethernet {
		return nil
	}
	at := 0
	switch binary.BigEndian.Uint16(b[12:]) {
	case 0x0800:
		if len(b) > ethernet+9 && b[ethernet+9] == 6 {
			at = ethernet + int(b[ethernet]&0xf)*4
		}
	case 0x86dd:
		if len(b) > ethernet+6 && b[ethernet+6] == 6 {
			at = ethernet + 40
		}
	}
	if at == 0 || len(b) < at+minTCP {
		return nil
	}
	return b[at:]
}

// Fields of a TCP header.
func srcPort(h []byte) uint16 { return binary.BigEndian.Uint16(h) }
func dstPort(h []byte) uint16 { return binary.BigEndian.Uint16(h[2:]) }
func syn(h []byte) bool       { return h[13]&2 != 0 && h[13]&16 == 0 }

// rewrite returns a copy of p whose TCP header was changed.
func (p *Packet) rewrite(change func(h []byte)) Packet {
	q := *p
	q.Data = append([]byte(nil), p.Data...)
	if h := q.tcp(); h != nil {
		change(h)
	}
	return q
}

// part returns a packet that carries the bytes from and before to of the payload of p, or false
// where p has no such payload.
func (p *Packet) part(from, to int) (Packet, bool) {
	const ethernet = 14
	h := p.tcp()
	if h == nil {
		return Packet{}, false
	}
	at := len(p.Data) - len(h) + int(h[12]>>4)*4
	if p.Cut || len(p.Data) < p.WireLen || to > p.payload() || from >= to {
		return Packet{}, false
	}
	q := *p
	q.Data = append(append([]byte(nil), p.Data[:at]...), p.Data[at+from:at+to]...)
	q.WireLen = len(q.Data)
	if q.Data[12] == 0x86 {
		binary.BigEndian.PutUint16(q.Data[ethernet+4:], uint16(len(q.Data)-ethernet-40))
	} else {
		binary.BigEndian.PutUint16(q.Data[ethernet+2:], uint16(len(q.Data)-ethernet))
	}
	t := q.tcp()
	binary.BigEndian.PutUint32(t[4:], binary.BigEndian.Uint32(t[4:])+uint32(from))
	if to < p.payload() {
		t[13] &^= 1 // the FIN is behind the last byte
	}
	return q, true
}

// payload returns how many bytes of payload p carries.
func (p *Packet) payload() int {
	const ethernet = 14
	h := p.tcp()
	if h == nil {
		return 0
	}
	end := ethernet + int(binary.BigEndian.Uint16(p.Data[ethernet+2:]))
	if p.Data[12] == 0x86 {
		end = ethernet + 40 + int(binary.BigEndian.Uint16(p.Data[ethernet+4:]))
	}
	return min(end, len(p.Data)) - (len(p.Data) - len(h)) - int(h[12]>>4)*4
}
