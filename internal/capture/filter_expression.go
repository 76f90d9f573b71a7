//go:build libpcap

package capture

import (
	"fmt"
	"strings"
)

// expression writes f in libpcap's language (pcap-filter(7)), for interfaces of that link type.
//
// "vlan" moves the offsets of all that stands behind it, so that the tests stand there once more
// for each tag. It does not work on cooked captures, of which the kernel has taken the outermost tag
// off; what has another one passes whole. A first fragment has the ports; the others have none, and pass by their protocol.
func (f LiveFilter) expression(link LinkType) string {
	tests := f.tests()
	if link != LinkEthernet {
		return fmt.Sprintf("%s or ether proto %#x or ether proto %#x", tests, etherVLAN, etherVLANService)
	}
	return fmt.Sprintf("(%s) or (vlan and ((%s) or (vlan and (%s))))", tests, tests, tests)
}

// tests are those for a packet without tags.
func (f LiveFilter) tests() string {
	var ports, hosts []string
	for _, p := range f.Ports {
		ports = append(ports, fmt.Sprintf("tcp port %d", p))
	}
	if len(ports) == 0 {
		ports = []string{"tcp"}
	}
	// Fragments but the first, and IPv6 with extension headers.
	fragments := `(ip proto \tcp and ip[6:2] & 0x1fff != 0)`
	extended := `(ip6 and (ip6[6] == 0 or ip6[6] == 43 or ip6[6] == 44 or ip6[6] == 51 or ip6[6] == 60))`
	selected := strings.Join(append(ports, fragments, extended), " or ")
	for _, h := range f.Hosts {
		hosts = append(hosts, "host "+h.String())
	}
	if len(hosts) > 0 {
		selected = fmt.Sprintf("(%s) and (%s)", selected, strings.Join(hosts, " or "))
	}
	// What is inside of tunnels is looked at when it is decoded.
	tunnels := "ip proto 4 or ip proto 41 or ip proto 47 or ip proto 51 or ip proto 137" +
		" or ip6 proto 4 or ip6 proto 41 or ip6 proto 47 or ip6 proto 137" +
		fmt.Sprintf(" or udp dst port %d or udp dst port %d or udp dst port %d", portVXLAN, portVXLANLinux, portGeneve) +
		fmt.Sprintf(" or ether proto %#x or ether proto %#x or ether proto %#x", etherMPLS, etherMPLSMulti, etherPPPoE)
	return selected + " or " + tunnels
}
