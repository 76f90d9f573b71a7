//go:build linux && !libpcap

package capture

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInnerTag(t *testing.T) {
	tag4, tag6 := u16b(5, etherIPv4), u16b(5, etherIPv6)
	tcp4, tcp6 := ip4(protoTCP, tcpOf(nil)), ip6(protoTCP, tcpOf(nil))
	priority := u16b(0x4005, etherIPv4) // looks like IPv4's first nibble
	long := ip4(protoTCP, tcpOf(make([]byte, 0x0800-40)))
	long[4] = 0x45 // an identification that looks like IPv4's first byte
	flow := append([]byte(nil), ip6(protoTCP, tcpOf(make([]byte, 0x6000)))...)
	flow[2], flow[3] = 0x86, 0xdd
	for _, c := range []struct {
		name     string
		data     []byte
		protocol uint16
		want     bool
	}{
		{"IPv4", tcp4, etherIPv4, false},
		{"IPv6", tcp6, etherIPv6, false},
		{"tagged IPv4", join(tag4, tcp4), etherIPv4, true},
		{"tagged IPv6", join(tag6, tcp6), etherIPv6, true},
		{"tagged with a priority", join(priority, tcp4), etherIPv4, true},
		{"of 2,048 bytes", long, etherIPv4, false},
		{"tagged, of 2,048 bytes", join(tag4, long), etherIPv4, true},
		{"IPv6 with such a flow label", flow, etherIPv6, false},
		{"ARP", join(tag4, tcp4), 0x0806, false},
		{"runt", tag4, etherIPv4, false},
	} {
		assert.Equal(t, c.want, innerTag(c.data, c.protocol, len(c.data)), c.name)
	}
}
