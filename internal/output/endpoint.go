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
	if e.IPv4() {
		b = appendIPv4(b, e)
	} else {
		b = netip.AddrFrom16(e.IP).AppendTo(b)
	}
	return appendPort(b, e)
}

// appendBracketed appends ADDRESS:PORT with IPv6 addresses in brackets.
func appendBracketed(b []byte, e *reassembly.Endpoint) []byte {
	if e.IPv4() {
		return appendPort(appendIPv4(b, e), e)
	}
	return e.AddrPort().AppendTo(b)
}

func appendPort(b []byte, e *reassembly.Endpoint) []byte {
	return strconv.AppendUint(append(b, ':'), uint64(e.Port), 10)
}

// appendIPv4 appends an IPv4 address. Where there are many connections, it is not for the few
// lines of one that it is done, but for nearly every line.
func appendIPv4(b []byte, e *reassembly.Endpoint) []byte {
	for i, n := range e.IP[12:] {
		if i > 0 {
			b = append(b, '.')
		}
		if n >= 100 {
			b = append(b, '0'+n/100)
		}
		if n >= 10 {
			b = append(b, '0'+n/10%10)
		}
		b = append(b, '0'+n%10)
	}
	return b
}

// appendConnection appends BROKER:PORT-CLIENT:PORT.
func appendConnection(b []byte, c *dissect.Connection) []byte {
	broker, client := ends(c)
	b = appendEndpoint(b, broker)
	b = append(b, '-')
	return appendEndpoint(b, client)
}
