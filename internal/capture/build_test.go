package capture

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

// Builders of packets, inside out. They leave checksums zero, which nobody looks at.

const (
	testSeq     = 0xfffffff0
	testSrcPort = 40000
	testDstPort = 9092
)

var (
	src4 = netip.MustParseAddr("192.0.2.10")
	dst4 = netip.MustParseAddr("198.51.100.20")
	src6 = netip.MustParseAddr("2001:db8:a::10")
	dst6 = netip.MustParseAddr("2001:db8:b::20")
)

func u16b(vs ...int) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func u32b(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func tcpOpts(options, payload []byte) []byte {
	return join(u16b(testSrcPort, testDstPort), u32b(testSeq), u32b(77), []byte{byte(20+len(options)) << 2, 0xd8}, u16b(1024, 0, 0), options, payload)
}

func tcpOf(payload []byte) []byte { return tcpOpts(nil, payload) }

// ip4Raw has a total length and a fragment field as given.
func ip4Raw(proto, total, id, frag int, options, payload []byte) []byte {
	return join([]byte{byte(0x40 | (20+len(options))/4), 0}, u16b(total, id, frag), []byte{64, byte(proto), 0, 0}, src4.AsSlice(), dst4.AsSlice(), options, payload)
}

func ip4(proto int, payload []byte) []byte {
	return ip4Raw(proto, 20+len(payload), 1, 0x4000, nil, payload)
}

func ip6Raw(next, length int, payload []byte) []byte {
	return join([]byte{0x60, 0, 0, 0}, u16b(length), []byte{byte(next), 64}, src6.AsSlice(), dst6.AsSlice(), payload)
}

func ip6(next int, payload []byte) []byte { return ip6Raw(next, len(payload), payload) }

func eth(kind int, payload []byte) []byte {
	return join([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, u16b(kind), payload)
}

func udpTo(port int, payload []byte) []byte {
	return join(u16b(51000, port, 8+len(payload), 0), payload)
}

// decodeOne runs one packet through a fresh Decoder.
func decodeOne(link LinkType, data []byte, wire int) (reassembly.Segment, Verdict) {
	var seg reassembly.Segment
	v := NewDecoder(Limits{}).Decode(&Packet{Data: data, WireLen: wire, Link: link, Number: 1}, &seg)
	return seg, v
}

// Builders of files.

type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

type record struct {
	sec, frac uint32
	data      []byte
	wire      int // 0 is len(data)
}

func (r record) wireLen() uint32 {
	if r.wire > 0 {
		return uint32(r.wire)
	}
	return uint32(len(r.data))
}

func pcapFile(o order, magic uint32, link int, records ...record) []byte {
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, 2)
	b = o.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = o.AppendUint32(b, 65535)
	b = o.AppendUint32(b, uint32(link))
	for _, r := range records {
		b = o.AppendUint32(b, r.sec)
		b = o.AppendUint32(b, r.frac)
		b = o.AppendUint32(b, uint32(len(r.data)))
		b = o.AppendUint32(b, r.wireLen())
		if magic == magicModified {
			b = append(b, make([]byte, 8)...)
		}
		b = append(b, r.data...)
	}
	return b
}

// ng writes pcapng blocks in one byte order.
type ng struct{ order }

func (n ng) block(kind uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body[:len(body):len(body)], 0)
	}
	size := uint32(len(body) + 12)
	b := n.AppendUint32(nil, kind)
	b = n.AppendUint32(b, size)
	b = append(b, body...)
	return n.AppendUint32(b, size)
}

func (n ng) section() []byte {
	b := n.AppendUint32(nil, byteOrderMagic)
	b = n.AppendUint16(b, 1)
	b = n.AppendUint16(b, 0)
	return n.block(blockSection, append(b, bytes.Repeat([]byte{0xff}, 8)...))
}

func (n ng) iface(link, snaplen int, options ...[]byte) []byte {
	b := n.AppendUint16(nil, uint16(link))
	b = n.AppendUint16(b, 0)
	b = n.AppendUint32(b, uint32(snaplen))
	return n.block(blockInterface, join(b, join(options...)))
}

func (n ng) option(code int, value []byte) []byte {
	b := n.AppendUint16(nil, uint16(code))
	b = n.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func (n ng) enhanced(iface uint32, ts uint64, data []byte, captured, wire int) []byte {
	b := n.AppendUint32(nil, iface)
	b = n.AppendUint32(b, uint32(ts>>32))
	b = n.AppendUint32(b, uint32(ts))
	b = n.AppendUint32(b, uint32(captured))
	b = n.AppendUint32(b, uint32(wire))
	return n.block(blockEnhanced, append(b, data...))
}

func (n ng) packet(iface uint32, ts uint64, data []byte) []byte {
	return n.enhanced(iface, ts, data, len(data), len(data))
}

// Readers.

type kept struct {
	Packet
	Bytes string
}

// openBytes reads b through the name "-".
func openBytes(t testing.TB, b []byte, opts Options) (*Reader, error) {
	t.Helper()
	opts.Stdin = bytes.NewReader(b)
	r, err := Open(context.Background(), []string{"-"}, opts)
	if err == nil {
		t.Cleanup(func() { _ = r.Close() })
	}
	return r, err
}

// readAll returns all packets and warnings of a capture that opens.
func readAll(t testing.TB, b []byte, opts Options) ([]kept, []Warning) {
	t.Helper()
	var warnings []Warning
	opts.Warn = func(w Warning) { warnings = append(warnings, w) }
	r, err := openBytes(t, b, opts)
	require.NoError(t, err)
	return drain(t, r), warnings
}

func drain(t testing.TB, r *Reader) []kept {
	t.Helper()
	var out []kept
	for {
		var p Packet
		err := r.Next(&p)
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		out = append(out, kept{p, string(p.Data)})
	}
}
