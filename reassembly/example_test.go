package reassembly_test

import (
	"fmt"
	"net/netip"

	"github.com/kdissect/kdissect/reassembly"
)

type printer struct{}

func (printer) Open(c *reassembly.Conn) {
	fmt.Println("open", c.Flow.Src.AddrPort(), "to", c.Flow.Dst.AddrPort())
}

func (printer) Chunk(_ *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	fmt.Printf("%d: %q at %d, packet %d\n", d, ch.Bytes, ch.Off, ch.Packet)
}

func (printer) Gap(_ *reassembly.Conn, d reassembly.Dir, g reassembly.Gap) {
	fmt.Printf("%d: gap of %d at %d, %v\n", d, g.Len, g.Off, g.Reason)
}

func (printer) Note(*reassembly.Conn, reassembly.Dir, reassembly.Note)   {}
func (printer) Finish(*reassembly.Conn, reassembly.Dir, int64, int64)    {}
func (printer) Close(_ *reassembly.Conn, why reassembly.End, _, _ int64) { fmt.Println("close:", why) }

func ExampleAssembler() {
	a := reassembly.New(reassembly.DefaultLimits(), printer{})
	flow := reassembly.Flow{
		Src: reassembly.EndpointFrom(netip.MustParseAddrPort("192.0.2.10:40000")),
		Dst: reassembly.EndpointFrom(netip.MustParseAddrPort("198.51.100.20:9092")),
	}
	for i, s := range []reassembly.Segment{
		{Seq: 100, Flags: reassembly.SYN},
		{Seq: 106, Flags: reassembly.ACK, Payload: []byte("world")},
		{Seq: 101, Flags: reassembly.ACK, Payload: []byte("hello")},
		{Seq: 120, Flags: reassembly.ACK, Payload: []byte("!")},
	} {
		s.Flow, s.WireLen, s.Packet = flow, len(s.Payload), int64(i+1)
		a.Segment(&s)
	}
	a.Flush()
	// Output:
	// open 192.0.2.10:40000 to 198.51.100.20:9092
	// 0: "hello" at 0, packet 3
	// 0: "world" at 5, packet 2
	// 0: gap of 9 at 10, not captured
	// 0: "!" at 19, packet 4
	// close: end of capture
}
