package reassembly_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/kdissect/kdissect/reassembly"
)

// FuzzReassemble reads its input as segments of one connection, four bytes each: what they are,
// where they lie in a stream of 8 KiB, how long they are. A simple model, bytes in an array,
// knows which copy of a byte was first and what had been captured when a gap was told.
func FuzzReassemble(f *testing.F) {
	f.Add([]byte{0, 0, 0, 10, 1, 0, 20, 10, 0, 0, 10, 10}, uint32(0xfffffff0))
	f.Add([]byte{0, 1, 0, 40, 2, 0, 0, 0, 4, 0, 200, 90, 0, 0, 0, 255, 6, 2, 0, 0}, uint32(7))
	f.Add([]byte{3, 0, 0, 50, 0, 0, 20, 60, 5, 0, 10, 80, 8, 0, 0, 0, 0, 3, 0, 200}, uint32(0x7fffffff))
	f.Add(bytes.Repeat([]byte{0, 4, 1, 9, 2, 9, 0, 0, 7, 0, 0, 9, 1, 1, 1, 1}, 40), uint32(1))
	f.Fuzz(reassembleFuzzed)
}

const fuzzStream = 8192

func reassembleFuzzed(t *testing.T, ops []byte, isn uint32) {
	if len(ops) > 4*2000 {
		return
	}
	rec := newRecorder(t)
	f := newFeeder(rec, reassembly.Limits{MaxConnBytes: 64 << 10, MaxBytes: 128 << 10})
	var first [fuzzStream + 512]int16 // of each byte, the first copy, or -1
	for i := range first {
		first[i] = -1
	}
	reassembled := func() *direction { return rec.dir(fwd) }
	var skipped int64
	rec.onGap = func(c *reassembly.Conn, d reassembly.Dir, g reassembly.Gap) {
		if c.ID != 1 || d != fwd {
			return
		}
		if g.Len < 0 {
			skipped = 1
			return
		}
		for i := g.Off; i < min(g.Off+g.Len, int64(len(first))); i++ {
			if first[i] >= 0 {
				t.Fatalf("gap of %d at %d holds byte %d, captured", g.Len, g.Off, i)
			}
		}
	}
	f.handshake(isn, 500)
	for i := 0; i+4 <= len(ops); i += 4 {
		op, off, n := ops[i], int64(ops[i+1]&31)<<8|int64(ops[i+2]), int(ops[i+3])*2
		seq := isn + 1 + uint32(off)
		switch op % 12 {
		case 0, 1, 2, 3: // data; a conflict where op is large
			payload := make([]byte, n)
			for k := range payload {
				payload[k] = byte(off+int64(k)) ^ op>>5
				if at := off + int64(k); first[at] < 0 && at >= reassembled().next {
					first[at] = int16(payload[k])
				}
			}
			f.send(fwd, ack, seq, 501, string(payload))
		case 4: // cut by the snapshot length
			payload := make([]byte, n/2)
			for k := range payload {
				payload[k] = byte(off + int64(k))
				if at := off + int64(k); first[at] < 0 && at >= reassembled().next {
					first[at] = int16(payload[k])
				}
			}
			f.cut(fwd, ack, seq, 501, string(payload), n)
		case 5, 6:
			f.send(bwd, ack, 501, seq, "")
		case 7:
			f.time += int64(n) * 10 * ms
			f.a.Advance(f.time)
		case 8:
			f.send(fwd, ack, seq, 501, "")
		case 9:
			f.time -= int64(n) * ms
		case 10:
			f.send(bwd, ack, 501+uint32(off), seq, "answer")
		case 11:
			f.send(bwd, rst, uint32(off)<<16, 0, "")
		}
		if len(rec.conns) > 1 || rec.closed() {
			break
		}
	}
	f.a.Flush()
	if f.a.Held() != 0 {
		t.Fatalf("%d bytes still held", f.a.Held())
	}
	if skipped > 0 {
		return
	}
	x := reassembled()
	for i, at := range x.at {
		if first[at] != int16(x.bytes[i]) {
			t.Fatalf("byte at %d is %#x, first copy was %#x", at, x.bytes[i], first[at])
		}
	}
	given := 0
	for _, v := range first {
		if v >= 0 {
			given++
		}
	}
	if given != len(x.bytes) {
		t.Fatalf("%d bytes captured, %d delivered", given, len(x.bytes))
	}
}

// TestModel has random inputs of FuzzReassemble.
func TestModel(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		reassembleFuzzed(t, randomBytes(r, 4*r.IntN(600)), r.Uint32())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzSegments gives segments that make no sense together.
func FuzzSegments(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 1, 0, 18, 0, 0, 0, 2, 1, 16, 0, 0, 0, 3, 9})
	f.Add(bytes.Repeat([]byte{16, 1, 2, 3, 4, 40, 24, 200, 1, 9, 9, 200, 17, 0, 0, 3, 7, 13}, 30))
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 6*4000 {
			return
		}
		rec := newRecorder(t)
		f := newFeeder(rec, reassembly.Limits{MaxConnections: 3, MaxClosed: 2, MaxConnBytes: 64 << 10, MaxBytes: 128 << 10})
		for i := 0; i+6 <= len(ops); i += 6 {
			o := ops[i : i+6]
			f.flow = client(int(o[5] >> 6))
			seq := uint32(o[1])<<24 | uint32(int32(int8(o[2]))*int32(o[3]))
			f.cut(reassembly.Dir(o[4]&1), reassembly.Flags(o[0]&31), seq, uint32(o[4])<<24|uint32(o[3]), string(make([]byte, o[5]&63)), int(o[5]&63)+int(o[4]>>6)*100)
			if o[4]&2 != 0 {
				f.time += int64(int8(o[2])) * 100 * ms
				f.a.Advance(f.time)
			}
			if f.a.Held() > 128<<10 {
				t.Fatalf("%d bytes held", f.a.Held())
			}
		}
		f.a.Flush()
		for _, k := range rec.conns {
			if k.closes != 1 {
				t.Fatalf("connection %d closed %d times", k.conn.ID, k.closes)
			}
		}
		if f.a.Held() != 0 {
			t.Fatalf("%d bytes still held", f.a.Held())
		}
	})
}
