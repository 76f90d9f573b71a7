package output

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// ends returns the broker's and the client's endpoint of a connection.
func ends(c *dissect.Connection) (broker, client reassembly.Endpoint) {
	if c.Broker == reassembly.Forward {
		return c.TCP.Flow.Src, c.TCP.Flow.Dst
	}
	return c.TCP.Flow.Dst, c.TCP.Flow.Src
}

// appendEndpoint appends ADDRESS:PORT as Kafka's log writes it: IPv6 as in RFC 5952, without
// brackets.
func appendEndpoint(b []byte, e reassembly.Endpoint) []byte {
	a := e.AddrPort()
	b = a.Addr().AppendTo(b)
	b = append(b, ':')
	return strconv.AppendUint(b, uint64(a.Port()), 10)
}

// appendConnection appends BROKER:PORT-CLIENT:PORT.
func appendConnection(b []byte, c *dissect.Connection) []byte {
	broker, client := ends(c)
	b = appendEndpoint(b, broker)
	b = append(b, '-')
	return appendEndpoint(b, client)
}
