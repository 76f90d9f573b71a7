package output

import (
	"bytes"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/reassembly"
)

// Of how many layouts and connections the text is remembered.
const (
	recentAPIs  = 64
	recentPeers = 256
)

// columns writes the columns of a summary line that are the same for many exchanges. It remembers
// their padded text.
type columns struct {
	opt   *Options
	apis  [recentAPIs]apiText
	peers [recentPeers]peerText
}

// apiText is the text of an API at a version.
type apiText struct {
	plan    *schema.Plan // nil where there is no text yet
	version int16
	text    []byte
}

// peerText is the text of a connection and of its client.
type peerText struct {
	flow       reassembly.Flow
	broker     reassembly.Dir
	peers      []byte // nil where there is no text yet
	id, client []byte // the client's id and its text, the same
}

// appendAPI appends the API's name and version.
func (c *columns) appendAPI(b []byte, x *dissect.Exchange) []byte {
	f := x.Request
	if f == nil || f.Plan == nil || f.Plan.API == nil || f.Kind != dissect.KafkaFrame {
		from := len(b)
		return pad(appendAPI(b, c.opt, x), from, apiWidth)
	}
	t := &c.apis[(uint(f.APIKey)*5+uint(f.Version))%recentAPIs]
	if t.plan != f.Plan || t.version != f.Version {
		t.plan, t.version = f.Plan, f.Version
		t.text = pad(appendAPI(t.text[:0], c.opt, x), 0, apiWidth)
	}
	return append(b, t.text...)
}

// appendAPI appends the API's name and version.
func appendAPI(b []byte, o *Options, x *dissect.Exchange) []byte {
	f := x.Request
	switch {
	case f == nil && x.Response.Kind == dissect.TokenFrame, f != nil && f.Kind == dissect.TokenFrame:
		return append(b, "SASL token"...)
	case f == nil:
		return append(b, "response"...)
	}
	if api := apiOf(o, f); api != nil {
		b = append(b, api.Name...)
	} else {
		b = append(b, "key "...)
		b = appendInt(b, int64(f.APIKey))
	}
	b = append(b, " v"...)
	return appendInt(b, int64(f.Version))
}

// appendPeers appends CLIENT > BROKER.
func (c *columns) appendPeers(b []byte, conn *dissect.Connection) []byte {
	t := c.of(conn)
	if t.peers == nil || t.flow != conn.TCP.Flow || t.broker != conn.Broker {
		t.flow, t.broker = conn.TCP.Flow, conn.Broker
		t.peers = pad(appendPeers(t.peers[:0], conn), 0, connWidth)
	}
	return append(b, t.peers...)
}

// appendClient appends the client's id.
func (c *columns) appendClient(b []byte, x *dissect.Exchange) []byte {
	if x.Request == nil {
		return appendSpaces(b, clientWidth)
	}
	id := x.Request.ClientID
	if len(id) > clientWidth { // not worth the memory
		from := len(b)
		return pad(appendVisible(b, id), from, clientWidth)
	}
	t := c.of(x.Conn)
	if t.client == nil || !bytes.Equal(t.id, id) {
		t.id = append(t.id[:0], id...)
		t.client = pad(appendVisible(t.client[:0], id), 0, clientWidth)
	}
	return append(b, t.client...)
}

// of returns the place of a connection, which may be taken by another.
func (c *columns) of(conn *dissect.Connection) *peerText {
	return &c.peers[uint64(conn.TCP.ID)%recentPeers]
}

// appendPeers appends CLIENT > BROKER, the broker without its address where that is the
// client's.
func appendPeers(b []byte, c *dissect.Connection) []byte {
	broker, client := ends(c)
	b = appendBracketed(b, client)
	b = append(b, " > "...)
	if broker.At(client) {
		return appendPort(b, broker)
	}
	return appendBracketed(b, broker)
}
