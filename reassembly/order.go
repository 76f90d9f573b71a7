package reassembly

import (
	"encoding/binary"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/tcpassembly"
)

const (
	// pageSize is what the engine takes for a page of 1900 bytes.
	pageSize = 2048
	// fillerSize is the largest piece of filler given to the engine.
	fillerSize = 64 << 10
	// keepPages is how many pages an engine may have grown to and still be kept when it is empty:
	// its cache never shrinks.
	keepPages = 4096
)

// filler stands in for lost bytes. It is never written.
var filler [fillerSize]byte

// engine orders segments that are ahead, by gopacket's tcpassembly. A direction has a flow in it
// only while something is held for that direction: each such episode is a fresh flow, started by
// a synthetic SYN at the expected sequence number and ended by a RST. In order, bytes never get
// here.
type engine struct {
	asm      *tcpassembly.Assembler
	tcp      layers.TCP
	starting *behind // whose flow the next New is for
	flows    int
	episodes uint64
	pages    int // held now
	peak     int
}

// New implements tcpassembly.StreamFactory.
func (e *engine) New(_, _ gopacket.Flow) tcpassembly.Stream { return e.starting }

// begin starts a flow for w at its direction's next byte.
func (e *engine) begin(w *behind) {
	if e.asm == nil {
		e.asm = tcpassembly.NewAssembler(tcpassembly.NewStreamPool(e))
	}
	e.episodes++
	e.flows++
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], e.episodes)
	w.flow = gopacket.NewFlow(gopacket.EndpointInvalid, key[:], nil)
	w.h.ordering = true
	e.starting = w
	e.tcp.SYN = true
	e.feed(w, w.h.nextSeq-1, nil)
	e.tcp.SYN = false
	e.starting = nil
}

// feed gives the engine bytes at seq. Whatever is in order now comes back through Reassembled.
func (e *engine) feed(w *behind, seq uint32, b []byte) {
	e.tcp.Seq, e.tcp.Payload = seq, b
	e.asm.AssembleWithTimestamp(w.flow, &e.tcp, time.Time{})
	e.tcp.Payload = nil
}

// end closes the flow of w, for which nothing is held any more.
func (e *engine) end(w *behind) {
	e.tcp.RST = true
	e.feed(w, w.h.nextSeq, nil)
	e.tcp.RST = false
	w.h.ordering = false
	e.flows--
	if e.flows == 0 {
		if e.peak > keepPages {
			e.asm = nil
		}
		e.peak = 0
	}
}

func (e *engine) hold(pages int) {
	e.pages += pages
	e.peak = max(e.peak, e.pages)
}

// Reassembled implements tcpassembly.Stream: the engine gives bytes of its direction in order.
func (w *behind) Reassembled(rs []tcpassembly.Reassembly) {
	for i := range rs {
		w.ordered(rs[i].Bytes)
	}
}

// ReassemblyComplete implements tcpassembly.Stream.
func (w *behind) ReassemblyComplete() {}

func (w *behind) ordered(b []byte) {
	a, h := w.a, w.h
	for len(b) > 0 {
		if lost := w.skipTo - h.next; lost > 0 { // filler: its gap was reported
			n := min(int64(len(b)), lost)
			h.advance(n)
			b = b[n:]
			continue
		}
		p := w.held.at(0)
		n := min(int64(len(b)), p.end-h.next)
		end := p.end
		a.chunk(h, b[:n], p.packet, p.time)
		b = b[n:]
		if h.next == end {
			a.release(a.of(h), w.held.pop())
		}
	}
}
