package capture

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
)

// filterCases are packets, with what filters must make of them.
func filterCases() map[string]struct {
	packet                         []byte
	all, port, otherPort, v4, none bool // for: all TCP, its port, another port, its IPv4 host, another host
} {
	tcp4, tcp6 := ip4(protoTCP, tcpOf(nil)), ip6(protoTCP, tcpOf(nil))
	vlan := func(kind int, packet []byte) []byte { return join(u16b(5, kind), packet) }
	fragment := ip4Raw(protoTCP, 40, 7, 100, nil, make([]byte, 20))
	first := ip4Raw(protoTCP, 40, 7, 0x2000, nil, tcpOf(nil))
	extended := ip6(protoFragment, join([]byte{protoTCP, 0}, u16b(8), u32b(1), make([]byte, 16)))
	vxlanOf := func(port int) []byte {
		return ip4(protoUDP, udpTo(port, join(u32b(0x08000000), u32b(9), eth(0x0800, tcp4))))
	}
	type row = struct {
		packet                         []byte
		all, port, otherPort, v4, none bool
	}
	return map[string]row{
		"IPv4":               {eth(etherIPv4, tcp4), true, true, false, true, false},
		"IPv6":               {eth(etherIPv6, tcp6), true, true, false, false, false},
		"VLAN":               {eth(etherVLAN, vlan(etherIPv4, tcp4)), true, true, false, true, false},
		"VLAN, IPv6":         {eth(etherVLANService, vlan(etherIPv6, tcp6)), true, true, false, false, false},
		"two tags":           {eth(etherVLANService, vlan(etherVLAN, vlan(etherIPv4, tcp4))), true, true, false, true, false},
		"options":            {eth(etherIPv4, ip4Raw(protoTCP, 44, 1, 0, make([]byte, 4), tcpOf(nil))), true, true, false, true, false},
		"first fragment":     {eth(etherIPv4, first), true, true, false, true, false},
		"fragment":           {eth(etherIPv4, fragment), true, true, true, true, false},
		"tagged fragment":    {eth(etherVLAN, vlan(etherIPv4, fragment)), true, true, true, true, false},
		"fragment of UDP":    {eth(etherIPv4, ip4Raw(protoUDP, 40, 7, 100, nil, make([]byte, 20))), false, false, false, false, false},
		"IPv6 fragment":      {eth(etherIPv6, extended), true, true, true, false, false},
		"VXLAN":              {eth(etherIPv4, vxlanOf(portVXLAN)), true, true, true, true, true},
		"Geneve":             {eth(etherIPv4, vxlanOf(portGeneve)), true, true, true, true, true},
		"GRE":                {eth(etherIPv4, ip4(protoGRE, make([]byte, 8))), true, true, true, true, true},
		"IPv4 in IPv6":       {eth(etherIPv6, ip6(protoIPv4, tcp4)), true, true, true, true, true},
		"MPLS":               {eth(etherMPLS, join(u32b(0x140), tcp4)), true, true, true, true, true},
		"UDP":                {eth(etherIPv4, vxlanOf(53)), false, false, false, false, false},
		"UDP, IPv6":          {eth(etherIPv6, ip6(protoUDP, udpTo(53, nil))), false, false, false, false, false},
		"ICMP":               {eth(etherIPv4, ip4(1, make([]byte, 8))), false, false, false, false, false},
		"ARP":                {eth(0x0806, make([]byte, 28)), false, false, false, false, false},
		"runt":               {eth(etherIPv4, nil), false, false, false, false, false},
		"cut behind address": {eth(etherIPv4, tcp4[:20]), true, false, false, true, false},
	}
}

// filtersOf are the filters of filterCases, by the name of the column.
func filtersOf() map[string]LiveFilter {
	return map[string]LiveFilter{
		"all":       {},
		"port":      {Ports: []uint16{1, testDstPort}},
		"otherPort": {Ports: []uint16{1, 2}},
		"v4":        {Hosts: []netip.Addr{netip.MustParseAddr("192.0.2.99"), dst4}},
		"none":      {Hosts: []netip.Addr{netip.MustParseAddr("192.0.2.99")}},
	}
}

func TestFilterProgram(t *testing.T) {
	for column, filter := range filtersOf() {
		pass := vmOf(t, filter)
		for name, c := range filterCases() {
			want := map[string]bool{"all": c.all, "port": c.port, "otherPort": c.otherPort, "v4": c.v4, "none": c.none}[column]
			assert.Equal(t, want, pass(c.packet), "%s: %s", column, name)
		}
	}
	both := LiveFilter{Ports: []uint16{testSrcPort}, Hosts: []netip.Addr{src6}}
	assert.True(t, vmOf(t, both)(eth(etherIPv6, ip6(protoTCP, tcpOf(nil)))))
	both.Ports = []uint16{1}
	assert.False(t, vmOf(t, both)(eth(etherIPv6, ip6(protoTCP, tcpOf(nil)))))
	both = LiveFilter{Ports: []uint16{testSrcPort}, Hosts: []netip.Addr{dst4.Next()}}
	assert.False(t, vmOf(t, both)(eth(etherIPv4, ip4(protoTCP, tcpOf(nil)))))
}

// vmOf returns what says whether a packet passes, by the virtual machine of another hand.
func vmOf(t *testing.T, f LiveFilter) func([]byte) bool {
	t.Helper()
	raw, err := f.program(true, false, 1<<18)
	require.NoError(t, err)
	code, known := bpf.Disassemble(raw)
	require.True(t, known)
	vm, err := bpf.NewVM(code)
	require.NoError(t, err)
	return func(b []byte) bool {
		n, err := vm.Run(b)
		require.NoError(t, err)
		return n > 0
	}
}

// TestFilterProgramOfManyPorts stays within the kernel's limit of instructions.
func TestFilterProgramOfManyPorts(t *testing.T) {
	var f LiveFilter
	for p := range 200 {
		f.Ports = append(f.Ports, uint16(9000+p))
		f.Hosts = append(f.Hosts, netip.AddrFrom4([4]byte{10, 0, 0, byte(p)}))
	}
	raw, err := f.program(true, true, 1<<18)
	require.NoError(t, err)
	assert.Less(t, len(raw), 4096)
	f.Hosts = []netip.Addr{src4}
	assert.True(t, vmOf(t, f)(eth(etherIPv4, ip4(protoTCP, tcpOf(nil)))))
}

// TestFilterProgramPassesSegments holds the filter against the decoder: whatever gives a segment
// passes, three VLAN tags in a row aside.
func TestFilterProgramPassesSegments(t *testing.T) {
	pass := vmOf(t, LiveFilter{})
	seen := 0
	for _, name := range append(corpus.Files(t, "captures/public/link", "*.pcap*"), corpus.Files(t, "captures/lab/link", "*.pcap*")...) {
		r, err := Open(t.Context(), []string{name}, Options{})
		require.NoError(t, err)
		d := NewDecoder(Limits{})
		var p Packet
		for r.Next(&p) == nil {
			var seg reassembly.Segment
			data := append([]byte(nil), p.Data...)
			if v := d.Decode(&p, &seg); p.Link != LinkEthernet || v != TCPSegment {
				continue
			}
			seen++
			assert.True(t, pass(data), "%s: packet %d", name, p.Number)
		}
		_ = r.Close()
	}
	assert.Greater(t, seen, 400)
}
