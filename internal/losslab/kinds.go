package losslab

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Kind is a way to damage a capture.
type Kind struct {
	Name string
	// Lossless kinds lose no byte: everything must be shown.
	Lossless bool
	// Renames is set where addresses are not those of the whole capture.
	Renames bool

	apply func(r *rand.Rand, in []Packet) []Packet
}

// Apply returns what is left of the packets, which it does not change.
func (k *Kind) Apply(seed uint64, in []Packet) []Packet {
	return k.apply(rand.New(rand.NewPCG(seed, 0x6b64)), in)
}

// Kinds are all ways, in the order of the table.
func Kinds() []Kind {
	return []Kind{
		{Name: "drop 0.1 %", apply: drop(0.001)},
		{Name: "drop 1 %", apply: drop(0.01)},
		{Name: "drop 3 %", apply: drop(0.03)},
		{Name: "drop 10 %", apply: drop(0.1)},
		{Name: "bursts of up to 10", apply: bursts(100, 10)},
		{Name: "bursts of up to 100", apply: bursts(500, 100)},
		{Name: "neighbours swapped", Lossless: true, apply: swap},
		{Name: "doubled", Lossless: true, apply: double},
		{Name: "doubled and swapped", Lossless: true, apply: both(double, swap)},
		{Name: "split, with overlaps", Lossless: true, apply: overlap},
		{Name: "cut at 64 bytes", apply: cut(64)},
		{Name: "cut at 96 bytes", apply: cut(96)},
		{Name: "cut at 128 bytes", apply: cut(128)},
		{Name: "cut at 256 bytes", apply: cut(256)},
		{Name: "client only", apply: oneWay(true)},
		{Name: "broker only", apply: oneWay(false)},
		{Name: "begun and ended anywhere", apply: part},
		{Name: "ports used again", Lossless: true, Renames: true, apply: reuse},
		{Name: "ports used again, drop 1 %", Renames: true, apply: both(reuse, drop(0.01))},
		{Name: "sequence numbers wrap", Lossless: true, apply: wrap},
		{Name: "sequence numbers wrap, drop 1 %", apply: both(wrap, drop(0.01))},
	}
}

type change = func(r *rand.Rand, in []Packet) []Packet

func both(a, b change) change {
	return func(r *rand.Rand, in []Packet) []Packet { return b(r, a(r, in)) }
}

// drop loses each packet with a probability.
func drop(rate float64) change {
	return func(r *rand.Rand, in []Packet) (out []Packet) {
		for _, p := range in {
			if r.Float64() >= rate {
				out = append(out, p)
			}
		}
		return out
	}
}

// bursts loses up to most packets in a row, about every apart packets.
func bursts(apart, most int) change {
	return func(r *rand.Rand, in []Packet) (out []Packet) {
		left := 0
		for _, p := range in {
			if left == 0 && r.IntN(apart) == 0 {
				left = 1 + r.IntN(most)
			}
			if left > 0 {
				left--
				continue
			}
			out = append(out, p)
		}
		return out
	}
}

// swap lets one in ten packets change places with the next one. Times stay in order.
func swap(r *rand.Rand, in []Packet) []Packet {
	out := append([]Packet(nil), in...)
	for i := 0; i+1 < len(out); i++ {
		if r.IntN(10) > 0 {
			continue
		}
		out[i], out[i+1] = out[i+1], out[i]
		out[i].Time, out[i+1].Time = out[i+1].Time, out[i].Time
		i++
	}
	return out
}

// double gives one in ten packets again, at once or a few packets later.
func double(r *rand.Rand, in []Packet) (out []Packet) {
	var late []Packet
	for _, p := range in {
		out = append(out, p)
		if r.IntN(10) == 0 {
			late = append(late, p)
		}
		if len(late) > 0 && r.IntN(2) == 0 {
			late[0].Time = p.Time
			out = append(out, late[0])
			late = late[1:]
		}
	}
	return append(out, late...)
}

// overlap splits one in four packets in two that overlap, at times in the wrong order.
func overlap(r *rand.Rand, in []Packet) (out []Packet) {
	for i := range in {
		p := &in[i]
		n := p.payload()
		if n < 2 || r.IntN(4) > 0 {
			out = append(out, *p)
			continue
		}
		from := r.IntN(n-1) + 1
		to := from + r.IntN(n-from)
		a, okA := p.part(0, to)
		b, okB := p.part(from, n)
		switch {
		case !okA || !okB:
			out = append(out, *p)
		case r.IntN(3) == 0:
			out = append(out, b, a)
		default:
			out = append(out, a, b)
		}
	}
	return out
}

// cut keeps the first bytes of each packet, as a snapshot length does.
func cut(snap int) change {
	return func(_ *rand.Rand, in []Packet) []Packet {
		out := append([]Packet(nil), in...)
		for i := range out {
			if p := &out[i]; len(p.Data) > snap {
				p.Data, p.Cut = p.Data[:snap], true
			}
		}
		return out
	}
}

// oneWay keeps what one side sends.
func oneWay(client bool) change {
	return func(_ *rand.Rand, in []Packet) (out []Packet) {
		brokers := brokerPorts(in)
		for _, p := range in {
			if h := p.tcp(); h != nil && brokers.isBroker(h) && brokers.fromClient(h) == client {
				out = append(out, p)
			}
		}
		return out
	}
}

// brokers are the ports that connections were opened to.
type brokers map[uint16]bool

func brokerPorts(in []Packet) brokers {
	ports := brokers{}
	for i := range in {
		if h := in[i].tcp(); h != nil && syn(h) {
			ports[dstPort(h)] = true
		}
	}
	return ports
}

// isBroker reports whether one side of a packet's connection is a broker.
func (b brokers) isBroker(h []byte) bool { return b[srcPort(h)] != b[dstPort(h)] }

func (b brokers) fromClient(h []byte) bool { return b[dstPort(h)] }

// ends are the ports of a connection.
type ends struct{ client, broker uint16 }

func (b brokers) ends(h []byte) ends {
	if b.fromClient(h) {
		return ends{srcPort(h), dstPort(h)}
	}
	return ends{dstPort(h), srcPort(h)}
}

// part keeps what lies between two moments.
func part(r *rand.Rand, in []Packet) []Packet {
	n := len(in)
	from := r.IntN(n/2 + 1)
	return in[from : n/2+r.IntN(n-n/2)+1]
}

// reuse gives the client's port of one connection to another one once that has ended, where that
// begins with a SYN.
func reuse(_ *rand.Rand, in []Packet) []Packet {
	brokers := brokerPorts(in)
	last := map[ends]int{}
	for i := range in {
		if h := in[i].tcp(); h != nil && brokers.isBroker(h) {
			last[brokers.ends(h)] = i
		}
	}
	given := map[ends]uint16{}
	taken := map[uint16][]int{} // of each broker's client ports, from firstPort on: the last packet
	out := append([]Packet(nil), in...)
	for i := range in {
		h := in[i].tcp()
		if h == nil || !brokers.isBroker(h) {
			continue
		}
		e := brokers.ends(h)
		port, ok := given[e]
		if !ok {
			n := len(taken[e.broker])
			if syn(h) {
				n = slices.IndexFunc(taken[e.broker], func(end int) bool { return end < i })
			}
			if n < 0 || n == len(taken[e.broker]) {
				n = len(taken[e.broker])
				taken[e.broker] = append(taken[e.broker], 0)
			}
			port = uint16(firstPort + n)
			given[e], taken[e.broker][n] = port, last[e]
		}
		out[i] = in[i].rewrite(func(h []byte) {
			if brokers.fromClient(h) {
				binary.BigEndian.PutUint16(h, port)
			} else {
				binary.BigEndian.PutUint16(h[2:], port)
			}
		})
	}
	return out
}

// firstPort is the first port of those that reuse gives; no client of the lab has it.
const firstPort = 20000

// wrap moves the sequence numbers so that they pass 2^32 early in each direction.
func wrap(r *rand.Rand, in []Packet) []Packet {
	shifts := map[[2]uint16]uint32{}
	shift := func(src, dst uint16, seq uint32) uint32 {
		w := [2]uint16{src, dst}
		if _, ok := shifts[w]; !ok {
			shifts[w] = -seq - uint32(1+r.IntN(2000))
		}
		return seq + shifts[w]
	}
	out := append([]Packet(nil), in...)
	for i := range in {
		out[i] = in[i].rewrite(func(h []byte) {
			src, dst := srcPort(h), dstPort(h)
			seq, ack := h[4:8], h[8:12]
			binary.BigEndian.PutUint32(seq, shift(src, dst, binary.BigEndian.Uint32(seq)))
			if hasACK := h[13]&16 != 0; hasACK {
				binary.BigEndian.PutUint32(ack, shift(dst, src, binary.BigEndian.Uint32(ack)))
			}
		})
	}
	return out
}
