package output

import (
	"net/netip"
	"strconv"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// ends returns the broker's and the client's endpoint of a connection.
func ends(c *dissect.Connection) (broker, client *reassembly.Endpoint) {
	f := &c.TCP.Flow
	if c.Broker == reassembly.Forward {
		return &f.Src, &f.Dst
	}
	return &f.Dst, &f.Src
}

// appendEndpoint appends ADDRESS:PORT as Kafka's log writes it: IPv6 as in RFC 5952, without
// brackets.
func appendEndpoint(b []byte, e *reassembly.Endpoint) []byte {
	return appendPort(address(e).AppendTo(b), e)
}

// appendBracketed appends ADDRESS:PORT with IPv6 addresses in brackets.
func appendBracketed(b []byte, e *reassembly.Endpoint) []byte {
	if e.IPv4() {
		return appendEndpoint(b, e)
	}
	return e.AddrPort().AppendTo(b)
}

func appendPort(b []byte, e *reassembly.Endpoint) []byte {
	return strconv.AppendUint(append(b, ':'), uint64(e.Port), 10)
}

// address returns e's address, that of IPv4 without its detour by an IPv6 one: where there are
// many connections, nearly every line is of another.
func address(e *reassembly.Endpoint) netip.Addr {
	if e.IPv4() {
		return netip.AddrFrom4([4]byte(e.IP[12:]))
	}
	return netip.AddrFrom16(e.IP)
}

// appendConnection appends BROKER:PORT-CLIENT:PORT.
func appendConnection(b []byte, c *dissect.Connection) []byte {
	broker, client := ends(c)
	b = appendEndpoint(b, broker)
	b = append(b, '-')
	return appendEndpoint(b, client)
}
