package output

import (
	"net/netip"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// node is a hand-made event with what it holds.
type node struct {
	e    tree.Event
	kids []node
}

// give sends the events of a node as a decoder would.
func (n node) give(s tree.Sink) {
	if !n.e.Desc.Kind.Group() || n.e.Has(tree.FlagNull) && len(n.kids) == 0 && n.e.Desc.Kind != tree.KindArray {
		s.Leaf(n.e)
		return
	}
	if s.Begin(n.e) {
		for _, k := range n.kids {
			k.give(s)
		}
	}
	s.End(n.e)
}

func desc(key string, kind tree.Kind) *tree.Desc { return &tree.Desc{Name: key, Key: key, Kind: kind} }

// role gives a node's description a role.
func (n node) role(r schema.Role) node { n.e.Desc.Role = uint8(r); return n }

// order gives a node's description a place among its struct's members.
func (n node) order(i int32) node { n.e.Desc.Order = i; return n }

func (n node) secret() node { n.e.Desc.Secret = true; return n }

func (n node) flags(f tree.Flags) node { n.e.Flags |= f; return n }

func (n node) names(w tree.Names) node { n.e.Desc.Names = w; return n }

func num(key string, kind tree.Kind, v int64) node {
	return node{e: tree.Event{Desc: desc(key, kind), Value: tree.Value{Num: v}}}
}

func i16(key string, v int64) node { return num(key, tree.KindInt16, v) }
func i32(key string, v int64) node { return num(key, tree.KindInt32, v) }
func i64(key string, v int64) node { return num(key, tree.KindInt64, v) }

func str(key, v string) node {
	return node{e: tree.Event{Desc: desc(key, tree.KindString), Value: tree.Value{Bytes: []byte(v)}}}
}

func raw(key, v string) node {
	return node{e: tree.Event{Desc: desc(key, tree.KindBytes), Value: tree.Value{Bytes: []byte(v)}}}
}

func uuid(key string, v [16]byte) node {
	return node{e: tree.Event{Desc: desc(key, tree.KindUUID), Value: tree.Value{Bytes: v[:]}}}
}

func null(key string, kind tree.Kind) node {
	return node{e: tree.Event{Desc: desc(key, kind), Flags: tree.FlagNull}}
}

func group(key string, kind tree.Kind, kids ...node) node {
	return node{e: tree.Event{Desc: desc(key, kind)}, kids: kids}
}

func object(key string, kids ...node) node { return group(key, tree.KindStruct, kids...) }

// list makes an array with its length leaf.
func list(key string, kids ...node) node {
	n := group(key, tree.KindArray, length(len(kids)))
	n.e.Count = int32(len(kids))
	for i, k := range kids {
		k.e.Flags |= tree.FlagElement
		k.e.Index = int32(i)
		n.kids = append(n.kids, k)
	}
	return n
}

func length(n int) node { return i32("length", int64(n)).flags(tree.FlagStructural) }

func tags(kids ...node) node { return group("", tree.KindTags, kids...) }

func tagged(tag int64, kid node) node {
	n := group("", tree.KindTag, num("tag", tree.KindUvarint, tag).flags(tree.FlagStructural), kid.flags(tree.FlagTagged))
	n.e.Aux = tag
	n.e.Flags = tree.FlagTagged
	return n
}

func unknown(tag int64, data string) node {
	n := group("", tree.KindTag, num("tag", tree.KindUvarint, tag).flags(tree.FlagStructural))
	if data != "" {
		n.kids = append(n.kids, raw("", data).flags(tree.FlagUnknownTag))
	}
	n.e.Aux = tag
	n.e.Flags = tree.FlagTagged | tree.FlagUnknownTag
	return n
}

// recordSet makes a records field of a number of bytes.
func recordSet(key string, data string, batches ...node) node {
	n := group(key, tree.KindRecords, append([]node{length(len(data))}, batches...)...)
	n.e.Value = tree.Value{Num: int64(len(data)), Bytes: []byte(data)}
	return n
}

func rest(data string) node {
	return node{e: tree.Event{Desc: desc("", tree.KindRest), Value: tree.Value{Bytes: []byte(data)}, Flags: tree.FlagStructural}}
}

// message makes the events of a frame with a header and the given body and rest.
func message(kids ...node) node {
	m := group("", tree.KindMessage,
		group("", tree.KindGroup, i32("size", 10).flags(tree.FlagStructural)),
		group("", tree.KindGroup, i16("requestApiKey", 3), i32("correlationId", 7)).flags(tree.FlagHeader))
	m.kids = append(m.kids, kids...)
	return m
}

func bodyOf(kids ...node) node { return object("", kids...).flags(tree.FlagBody) }

// frames gives hand-made events for the frames of a test.
type frames map[*dissect.Frame]node

func (m frames) walk(f *dissect.Frame, s tree.Sink) { m[f].give(s) }

func testConn(broker, client string) *dissect.Connection {
	return &dissect.Connection{
		TCP: &reassembly.Conn{ID: 4, Flow: reassembly.Flow{
			Src: reassembly.EndpointFrom(netip.MustParseAddrPort(client)),
			Dst: reassembly.EndpointFrom(netip.MustParseAddrPort(broker)),
		}},
		Broker: reassembly.Backward,
	}
}

var testAPI = &schema.API{Key: 3, Name: "Metadata", LogName: "METADATA"}

// testFrame makes a complete frame of API 3 with some packet numbers.
func testFrame(client string) *dissect.Frame {
	return &dissect.Frame{
		Bytes: make([]byte, 14), Size: 10, APIKey: testAPI.Key, Version: 12, CorrelationID: 7, ClientID: []byte(client),
		Plan:        &schema.Plan{API: testAPI, Version: 12},
		FirstPacket: 10, LastPacket: 11, FirstTime: 1700000000123456789, LastTime: 1700000000123500000,
	}
}

func testExchange() *dissect.Exchange {
	x := &dissect.Exchange{Number: 9, Conn: testConn("127.0.0.1:29092", "127.0.0.1:60270"), Request: testFrame("c1"), Response: testFrame(""), Latency: 3214000}
	x.Response.ClientID = nil
	x.Response.FirstPacket, x.Response.LastPacket = 12, 12
	x.Response.FirstTime += 3e6
	return x
}
