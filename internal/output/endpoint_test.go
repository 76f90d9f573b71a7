package output

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/reassembly"
)

// TestEndpointsAsNetipWritesThem compares with the standard library.
func TestEndpointsAsNetipWritesThem(t *testing.T) {
	addrs := []string{"0.0.0.0", "9.10.99.100", "255.255.255.255", "127.0.0.1", "::", "::1", "2001:db8::7",
		"::ffff:0:1.2.3.4", "::1.2.3.4", "::fffe:1.2.3.4", "1::ffff:102:304", "fe80::1:0:0:1"}
	var ips []netip.Addr
	for _, a := range addrs {
		ips = append(ips, netip.MustParseAddr(a))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		ips = append(ips, netip.AddrFrom4([4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}))
	}
	for n := range 256 {
		ips = append(ips, netip.AddrFrom4([4]byte{byte(n), 0, 200, byte(n)}))
	}
	for _, ip := range ips {
		a := netip.AddrPortFrom(ip, uint16(r.Uint32()))
		e := reassembly.EndpointFrom(a)
		assert.Equal(t, ip.Is4(), e.IPv4(), ip)
		assert.Equal(t, "x"+a.String(), string(appendBracketed([]byte("x"), &e)))
		assert.Equal(t, ip.String()+":"+strconv.Itoa(int(a.Port())), string(appendEndpoint(nil, &e)))
	}
}
