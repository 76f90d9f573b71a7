package output

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// recentPeers is of how many connections the text is remembered.
const recentPeers = 256

// peers writes who speaks to whom. It remembers the text of connections that were seen lately.
type peers struct{ recent [recentPeers]peerText }

// peerText is the padded text of a connection.
type peerText struct {
	flow   reassembly.Flow
	broker reassembly.Dir
	text   []byte // nil where there is none yet
}

// append appends CLIENT > BROKER, as wide as its column.
func (p *peers) append(b []byte, c *dissect.Connection) []byte {
	t := &p.recent[uint64(c.TCP.ID)%recentPeers]
	if t.text == nil || t.flow != c.TCP.Flow || t.broker != c.Broker {
		t.flow, t.broker = c.TCP.Flow, c.Broker
		t.text = pad(appendPeers(t.text[:0], c), 0, connWidth)
	}
	return append(b, t.text...)
}

// appendPeers appends CLIENT > BROKER, the broker without its address where that is the
// client's.
func appendPeers(b []byte, c *dissect.Connection) []byte {
	broker, client := ends(c)
	b = appendBracketed(b, client)
	b = append(b, " > "...)
	if broker.IP == client.IP {
		b = append(b, ':')
		return strconv.AppendUint(b, uint64(broker.Port), 10)
	}
	return appendBracketed(b, broker)
}

// appendBracketed appends ADDRESS:PORT with IPv6 addresses in brackets.
func appendBracketed(b []byte, e reassembly.Endpoint) []byte { return e.AddrPort().AppendTo(b) }
