package capture

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/kdissect/kdissect/reassembly"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var message = []byte("hello, broker: a payload longer than any padding of a frame would be")

func tcpIP4() []byte { return ip4(protoTCP, tcpOf(message)) }
func tcpIP6() []byte { return ip6(protoTCP, tcpOf(message)) }

func sll(kind int, payload []byte) []byte {
	return join(u16b(0, 1, 6), make([]byte, 8), u16b(kind), payload)
}

func sll2(kind int, payload []byte) []byte {
	return join(u16b(kind, 0), u32b(1), u16b(1), []byte{0, 6}, make([]byte, 8), payload)
}

func family(b ...byte) []byte { return b }

func mplsLabel(label uint32, bottom bool) []byte {
	v := label<<12 | 64
	if bottom {
		v |= 1 << 8
	}
	return u32b(v)
}

func vxlanOf(frame []byte) []byte { return join(u32b(0x08000000), u32b(42<<8), frame) }

func geneveOf(kind int, options, payload []byte) []byte {
	return join([]byte{byte(len(options) / 4), 0}, u16b(kind), u32b(42<<8), options, payload)
}

// layerCases is one packet with the same segment behind every kind of layers.
func layerCases() []struct {
	name string
	link LinkType
	six  bool // the innermost addresses are IPv6
	data []byte
} {
	llc := func(payload []byte) []byte { return join([]byte{0xaa, 0xaa, 3, 0, 0, 0}, u16b(0x0800), payload) }
	ext := func(next, units int) []byte {
		return append([]byte{byte(next), byte(units)}, make([]byte, 6+8*units)...)
	}
	ah := func(next int) []byte { return append([]byte{byte(next), 4}, make([]byte, 22)...) }
	nestedVLAN := tcpIP4()
	kind := 0x0800
	for i := range 50 {
		nestedVLAN = join(u16b(i, kind), nestedVLAN)
		kind = 0x8100
	}
	inner := func() []byte { return eth(0x0800, tcpIP4()) }
	type c = struct {
		name string
		link LinkType
		six  bool
		data []byte
	}
	return []c{
		{"ethernet", LinkEthernet, false, eth(0x0800, tcpIP4())},
		{"ethernet ipv6", LinkEthernet, true, eth(0x86dd, tcpIP6())},
		{"802.3 llc snap", LinkEthernet, false, eth(len(tcpIP4())+8, llc(tcpIP4()))},
		{"802.3 llc ip", LinkEthernet, false, eth(len(tcpIP4())+3, join([]byte{6, 6, 3}, tcpIP4()))},
		{"vlan", LinkEthernet, false, eth(0x8100, join(u16b(7, 0x0800), tcpIP4()))},
		{"vlan then llc", LinkEthernet, false, eth(0x8100, join(u16b(7, len(tcpIP4())+8), llc(tcpIP4())))},
		{"qinq 88a8", LinkEthernet, true, eth(0x88a8, join(u16b(7, 0x8100, 8, 0x86dd), tcpIP6()))},
		{"qinq 9100", LinkEthernet, false, eth(0x9100, join(u16b(7, 0x8100, 8, 0x0800), tcpIP4()))},
		{"fifty tags", LinkEthernet, false, eth(0x8100, nestedVLAN)},
		{"mpls", LinkEthernet, false, eth(0x8847, join(mplsLabel(16, false), mplsLabel(17, true), tcpIP4()))},
		{"mpls ipv6", LinkEthernet, true, eth(0x8848, join(mplsLabel(16, true), tcpIP6()))},
		{"mpls pseudowire", LinkEthernet, false, eth(0x8847, join(mplsLabel(16, true), u32b(5), inner()))},
		{"pppoe", LinkEthernet, false, eth(0x8864, join([]byte{0x11, 0}, u16b(9, len(tcpIP4())+2, 0x0021), tcpIP4()))},
		{"pppoe ipv6, short protocol", LinkEthernet, true, eth(0x8864, join([]byte{0x11, 0}, u16b(9, len(tcpIP6())+1), []byte{0x57}, tcpIP6()))},
		{"pppoe link", LinkPPPoE, false, join([]byte{0x11, 0}, u16b(9, len(tcpIP4())+2, 0x0021), tcpIP4())},
		{"ppp", LinkPPP, false, join([]byte{0xff, 3, 0, 0x21}, tcpIP4())},
		{"ppp bare", LinkPPPHDLC, true, join([]byte{0, 0x57}, tcpIP6())},
		{"sll", LinkLinuxSLL, false, sll(0x0800, tcpIP4())},
		{"sll vlan ipv6", LinkLinuxSLL, true, sll(0x8100, join(u16b(7, 0x86dd), tcpIP6()))},
		{"sll llc", LinkLinuxSLL, false, sll(linuxLLC, llc(tcpIP4()))},
		{"sll2", LinkLinuxSLL2, false, sll2(0x0800, tcpIP4())},
		{"sll2 ipv6", LinkLinuxSLL2, true, sll2(0x86dd, tcpIP6())},
		{"null little-endian", LinkNull, false, join(family(2, 0, 0, 0), tcpIP4())},
		{"null big-endian", LinkNull, false, join(family(0, 0, 0, 2), tcpIP4())},
		{"null linux", LinkNull, true, join(family(10, 0, 0, 0), tcpIP6())},
		{"null netbsd", LinkNull, true, join(family(24, 0, 0, 0), tcpIP6())},
		{"null freebsd", LinkNull, true, join(family(0, 0, 0, 28), tcpIP6())},
		{"null darwin", LinkNull, true, join(family(30, 0, 0, 0), tcpIP6())},
		{"loop", LinkLoop, true, join(family(0, 0, 0, 24), tcpIP6())},
		{"raw", LinkRaw, false, tcpIP4()},
		{"raw ipv6", LinkRaw, true, tcpIP6()},
		{"raw 12", LinkRaw12, false, tcpIP4()},
		{"raw 14", LinkRaw14, true, tcpIP6()},
		{"ipv4 228", LinkIPv4, false, tcpIP4()},
		{"ipv6 229", LinkIPv6, true, tcpIP6()},
		{"ipv4 options", LinkRaw, false, ip4Raw(protoTCP, 32+20+len(message), 1, 0, make([]byte, 12), tcpOf(message))},
		{"tcp options", LinkRaw, false, ip4(protoTCP, tcpOpts(make([]byte, 40), message))},
		{"ipv4 ah", LinkRaw, false, ip4(protoAH, join(ah(protoTCP), tcpOf(message)))},
		{"ipv6 extensions", LinkRaw, true, ip6(protoHopByHop, join(ext(protoRouting, 0), ext(protoDestination, 2), ext(protoAH, 1), ah(protoMobility), ext(protoTCP, 0), tcpOf(message)))},
		{"ipv6 atomic fragment", LinkRaw, true, ip6(protoFragment, join([]byte{protoTCP, 0, 0, 0}, u32b(5), tcpOf(message)))},
		{"4in4", LinkRaw, false, ip4(protoIPv4, tcpIP4())},
		{"6in4", LinkRaw, true, ip4(protoIPv6, tcpIP6())},
		{"4in6", LinkRaw, false, ip6(protoIPv4, tcpIP4())},
		{"6in6", LinkRaw, true, ip6(protoIPv6, tcpIP6())},
		{"mpls in ip", LinkRaw, false, ip4(protoMPLS, join(mplsLabel(16, true), tcpIP4()))},
		{"vxlan", LinkEthernet, false, eth(0x0800, ip4(protoUDP, udpTo(4789, vxlanOf(inner()))))},
		{"vxlan old port, vlan inside", LinkRaw, true, ip6(protoUDP, udpTo(8472, vxlanOf(eth(0x8100, join(u16b(3, 0x86dd), tcpIP6())))))},
		{"geneve", LinkRaw, false, ip4(protoUDP, udpTo(6081, geneveOf(0x6558, make([]byte, 8), inner())))},
		{"geneve ip", LinkRaw, true, ip4(protoUDP, udpTo(6081, geneveOf(0x86dd, nil, tcpIP6())))},
		{"gre", LinkRaw, false, ip4(protoGRE, join(u16b(0, 0x0800), tcpIP4()))},
		{"gre all options, ipv6", LinkRaw, true, ip4(protoGRE, join(u16b(0xb000, 0x86dd), make([]byte, 12), tcpIP6()))},
		{"gre routing", LinkRaw, false, ip4(protoGRE, join(u16b(0x4000, 0x0800), make([]byte, 4), u16b(0x800, 4), make([]byte, 4), make([]byte, 4), tcpIP4()))},
		{"gre ethernet", LinkRaw, false, ip6(protoGRE, join(u16b(0x2000, 0x6558), u32b(1), inner()))},
		{"gre mpls", LinkRaw, false, ip4(protoGRE, join(u16b(0, 0x8847), mplsLabel(16, true), tcpIP4()))},
		{"pptp", LinkRaw, false, ip4(protoGRE, join(u16b(0x3081, 0x880b), make([]byte, 12), []byte{0xff, 3, 0, 0x21}, tcpIP4()))},
		{"erspan i", LinkRaw, false, ip4(protoGRE, join(u16b(0, 0x88be), inner()))},
		{"erspan ii", LinkRaw, false, ip4(protoGRE, join(u16b(0x1000, 0x88be), u32b(1), u32b(0x10000001), u32b(0), inner()))},
		{"erspan iii", LinkRaw, false, ip4(protoGRE, join(u16b(0x1000, 0x22eb), u32b(1), u32b(0x20000001), make([]byte, 8), inner()))},
		{"erspan iii platform, ip", LinkRaw, true, ip4(protoGRE, join(u16b(0x1000, 0x22eb), u32b(1), u32b(0x20000001), u32b(0), []byte{0, 0, 2 << 2, 1}, make([]byte, 8), tcpIP6()))},
		{"vxlan in gre in ipip", LinkRaw, false, ip4(protoIPv4, ip4(protoGRE, join(u16b(0, 0x0800), ip4(protoUDP, udpTo(4789, vxlanOf(inner()))))))},
	}
}

func wantFlow(six bool) reassembly.Flow {
	from, to := src4, dst4
	if six {
		from, to = src6, dst6
	}
	return reassembly.Flow{
		Src: reassembly.EndpointFrom(netip.AddrPortFrom(from, testSrcPort)),
		Dst: reassembly.EndpointFrom(netip.AddrPortFrom(to, testDstPort)),
	}
}

func TestLayers(t *testing.T) {
	for _, tc := range layerCases() {
		t.Run(tc.name, func(t *testing.T) {
			seg, v := decodeOne(tc.link, tc.data, len(tc.data))
			require.Equal(t, TCPSegment, v)
			assert.Equal(t, wantFlow(tc.six), seg.Flow)
			assert.Equal(t, uint32(testSeq), seg.Seq)
			assert.Equal(t, uint32(77), seg.Ack)
			assert.Equal(t, reassembly.PSH|reassembly.ACK, seg.Flags)
			assert.Equal(t, string(message), string(seg.Payload))
			assert.Equal(t, len(message), seg.WireLen)
		})
	}
}

// A trailer behind the IP packet is never payload, whatever stands around it.
func TestTrailerIsNoPayload(t *testing.T) {
	for _, tc := range layerCases() {
		data := join(tc.data, []byte("FCS!"))
		seg, v := decodeOne(tc.link, data, len(data)+100)
		if assert.Equal(t, TCPSegment, v, tc.name) {
			assert.Equal(t, string(message), string(seg.Payload), tc.name)
			assert.Equal(t, len(message), seg.WireLen, tc.name)
		}
	}
}

// Each prefix of a packet cut by the snapshot length is cut short up to the TCP flags and, from
// there on, a segment of known length.
func TestSnapshotCut(t *testing.T) {
	for _, tc := range layerCases() {
		t.Run(tc.name, func(t *testing.T) {
			segments := false
			for n := range len(tc.data) {
				seg, v := decodeOne(tc.link, tc.data[:n:n], len(tc.data))
				if !segments && v == CutShort {
					continue
				}
				segments = true
				require.Equal(t, TCPSegment, v, "cut at %d", n)
				require.Equal(t, len(message), seg.WireLen, "cut at %d", n)
				require.Equal(t, string(message[:len(seg.Payload)]), string(seg.Payload), "cut at %d", n)
				require.Equal(t, max(0, len(message)-(len(tc.data)-n)), len(seg.Payload), "cut at %d", n)
			}
			require.True(t, segments)
		})
	}
}

// A packet that was short on the wire is malformed, never cut, until its IP length is known.
func TestShortOnTheWire(t *testing.T) {
	for _, tc := range layerCases() {
		for n := range len(tc.data) {
			_, v := decodeOne(tc.link, tc.data[:n:n], n)
			assert.Contains(t, []Verdict{Malformed, CutShort, TCPSegment}, v, "%s at %d", tc.name, n)
		}
	}
}

func TestVerdicts(t *testing.T) {
	deep := tcpIP4()
	for range 40 {
		deep = ip4(protoIPv4, deep)
	}
	badOffset := tcpOf(message)
	badOffset[12] = 4 << 4
	longOffset := tcpOpts(nil, nil)
	longOffset[12] = 15 << 4
	for _, tc := range []struct {
		name string
		link LinkType
		data []byte
		want Verdict
	}{
		{"arp", LinkEthernet, eth(0x0806, make([]byte, 46)), NotIP},
		{"spanning tree", LinkEthernet, eth(38, join([]byte{0x42, 0x42, 3}, make([]byte, 35))), NotIP},
		{"pppoe discovery", LinkEthernet, eth(0x8863, make([]byte, 46)), NotIP},
		{"lcp", LinkPPP, join([]byte{0xc0, 0x21}, make([]byte, 10)), NotIP},
		{"other family", LinkNull, family(7, 0, 0, 0), NotIP},
		{"raw of no version", LinkRaw, []byte{0x50, 0, 0}, NotIP},
		{"udp", LinkRaw, ip4(protoUDP, udpTo(53, message)), NotTCP},
		{"icmp", LinkRaw, ip4(1, message), NotTCP},
		{"esp", LinkRaw, ip6(50, message), NotTCP},
		{"no next header", LinkRaw, ip6(59, nil), NotTCP},
		{"something else on vxlan's port", LinkRaw, ip4(protoUDP, udpTo(4789, make([]byte, 40))), NotTCP},
		{"wifi", 105, make([]byte, 100), UnsupportedLink},
		{"too deep", LinkRaw, deep, TooDeep},
		{"ipv4 header length", LinkRaw, join([]byte{0x41}, tcpIP4()[1:]), Malformed},
		{"ipv4 total below header", LinkRaw, ip4Raw(protoTCP, 12, 1, 0, nil, tcpOf(message)), Malformed},
		{"ipv6 of version 5", LinkIPv6, join([]byte{0x50}, tcpIP6()[1:]), Malformed},
		{"tcp offset below 5", LinkRaw, ip4(protoTCP, badOffset), Malformed},
		{"tcp offset behind the packet", LinkRaw, ip4(protoTCP, longOffset), Malformed},
		{"empty", LinkEthernet, nil, Malformed},
	} {
		_, v := decodeOne(tc.link, tc.data, len(tc.data))
		assert.Equal(t, tc.want, v, tc.name)
	}
}

// Lengths that were left to the network card are the captured ones.
func TestOffloadedLength(t *testing.T) {
	big := make([]byte, 100_000)
	for i := range big {
		big[i] = byte(i * 7)
	}
	jumboHeader := func(size int) []byte {
		return join([]byte{protoTCP, 0, 0xc2, 4}, u32b(uint32(size)))
	}
	for _, tc := range []struct {
		name    string
		data    []byte
		wire    int
		want    []byte
		wireLen int
	}{
		{"ipv4 total 0", eth(0x0800, ip4Raw(protoTCP, 0, 1, 0, nil, tcpOf(big))), 0, big, len(big)},
		{"ipv4 total 0, cut", eth(0x0800, ip4Raw(protoTCP, 0, 1, 0, nil, tcpOf(big[:1000]))), 54 + len(big), big[:1000], len(big)},
		{"ipv4 total 0, padded frame", eth(0x0800, ip4Raw(protoTCP, 0, 1, 0, nil, tcpOf(make([]byte, 6)))), 0, nil, 0},
		{"ipv6 payload 0", eth(0x86dd, ip6Raw(protoTCP, 0, tcpOf(big))), 0, big, len(big)},
		{"ipv6 jumbo", eth(0x86dd, ip6Raw(protoHopByHop, 0, join(jumboHeader(28+len(big)), tcpOf(big), []byte("pad")))), 0, big, len(big)},
		{"ipv6 jumbo, cut", eth(0x86dd, ip6Raw(protoHopByHop, 0, join(jumboHeader(28+len(big)), tcpOf(big[:7])))), 82 + len(big), big[:7], len(big)},
		{"ipv4 padded frame", join(eth(0x0800, ip4(protoTCP, tcpOf([]byte("ab")))), make([]byte, 4)), 0, []byte("ab"), 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wire := tc.wire
			if wire == 0 {
				wire = len(tc.data)
			}
			seg, v := decodeOne(LinkEthernet, tc.data, wire)
			require.Equal(t, TCPSegment, v)
			assert.Equal(t, string(tc.want), string(seg.Payload))
			assert.Equal(t, tc.wireLen, seg.WireLen)
		})
	}
}

// Values that stand anywhere in a header lead to a verdict, and payload lies in the packet.
func FuzzDecode(f *testing.F) {
	for _, tc := range layerCases() {
		f.Add(uint16(tc.link), tc.data, uint16(0))
	}
	f.Fuzz(func(t *testing.T, link uint16, data []byte, cut uint16) {
		checkDecode(t, LinkType(link), data, len(data)+int(cut))
	})
}

func checkDecode(t *testing.T, link LinkType, data []byte, wire int) {
	seg, v := decodeOne(link, data, wire)
	// What is plain is what it is layer by layer, too.
	layers := NewDecoder(Limits{})
	layers.Trace(func(Step) {})
	var want reassembly.Segment
	p := Packet{Data: data, WireLen: wire, Link: link, Time: 5, Number: 7}
	require.Equal(t, layers.Decode(&p, &want), v)
	if v != TCPSegment {
		require.Less(t, v, NumVerdicts)
		return
	}
	want.Time, want.Packet = seg.Time, seg.Packet
	require.Equal(t, want, seg)
	require.LessOrEqual(t, len(seg.Payload), len(data))
	require.GreaterOrEqual(t, seg.WireLen, len(seg.Payload))
	require.Equal(t, len(seg.Payload), cap(seg.Payload), "payload must not be appendable")
}

func TestBitFlips(t *testing.T) {
	for _, tc := range layerCases() {
		data := append([]byte(nil), tc.data...)
		for i := range min(len(data), 200) {
			for _, x := range []byte{0x01, 0x80, 0xff} {
				data[i] ^= x
				checkDecode(t, tc.link, data, len(data))
				checkDecode(t, tc.link, data[:min(len(data), i+20)], len(data))
				data[i] ^= x
			}
		}
	}
}

func ExampleVerdict() {
	fmt.Println(FragmentWaiting)
	// Output: fragment waiting
}
