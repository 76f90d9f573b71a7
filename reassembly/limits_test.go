package reassembly_test

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counter is a Handler that keeps numbers only.
type counter struct {
	opened, closed, chunks, gaps, bytes int64
	ends                                [6]int
	bufferLimit                         int
}

func (n *counter) Open(*reassembly.Conn) { n.opened++ }
func (n *counter) Chunk(_ *reassembly.Conn, _ reassembly.Dir, ch reassembly.Chunk) {
	n.chunks++
	n.bytes += int64(len(ch.Bytes))
}
func (n *counter) Gap(_ *reassembly.Conn, _ reassembly.Dir, g reassembly.Gap) {
	n.gaps++
	if g.Reason == reassembly.BufferLimit {
		n.bufferLimit++
	}
}
func (n *counter) Note(*reassembly.Conn, reassembly.Dir, reassembly.Note) {}
func (n *counter) Finish(*reassembly.Conn, reassembly.Dir, int64, int64)  {}
func (n *counter) Close(_ *reassembly.Conn, why reassembly.End, _, _ int64) {
	n.closed++
	n.ends[why]++
}

// client returns the i-th of many client addresses.
func client(i int) reassembly.Flow {
	var ip [4]byte
	binary.BigEndian.PutUint32(ip[:], 10<<24|uint32(i/50000))
	return reassembly.Flow{
		Src: reassembly.EndpointFrom(netip.AddrPortFrom(netip.AddrFrom4(ip), uint16(1024+i%50000))),
		Dst: serverEnd,
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A million connections one after another leave nothing behind but the last few, and so it is
// without Advance ever being called.
func TestManyConnections(t *testing.T) {
	n := 1_000_000
	if testing.Short() || corpus.Race {
		n = 50_000
	}
	h := &counter{}
	before := heap()
	f := newFeeder(h, reassembly.Limits{MaxConnections: 1000, MaxClosed: 1000})
	for i := range n {
		f.flow = client(i)
		f.handshake(uint32(i), uint32(i)*7)
		f.send(fwd, ack, uint32(i)+1, uint32(i)*7+1, "x")
		if i%3 == 0 {
			f.send(bwd, rst, uint32(i)*7+1, uint32(i)+2, "")
		} else {
			f.send(fwd, fin|ack, uint32(i)+2, uint32(i)*7+1, "")
			f.send(bwd, fin|ack, uint32(i)*7+1, uint32(i)+3, "")
		}
	}
	after := heap()
	t.Logf("heap grew by %d KiB", (int64(after)-int64(before))/1024)
	assert.Less(t, int64(after)-int64(before), int64(8<<20))
	f.a.Flush()
	assert.Equal(t, int64(n), h.opened)
	assert.Equal(t, int64(n), h.closed)
	assert.Equal(t, int64(n), h.bytes)
	assert.Equal(t, n, h.ends[reassembly.EndFIN]+h.ends[reassembly.EndRST])
	assert.Equal(t, (n+2)/3, h.ends[reassembly.EndRST])
}

// Half-open connections stay small, and the longest idle gives way.
func TestMaxConnections(t *testing.T) {
	h := &counter{}
	before := heap()
	f := newFeeder(h, reassembly.Limits{MaxConnections: 10_000})
	for i := range 15_000 {
		f.flow = client(i)
		f.send(fwd, syn, uint32(i), 0, "")
		if i > 0 {
			f.flow = client(0)
			f.send(fwd, ack, uint32(i), 7, "x") // never idle
		}
	}
	size := int64(heap()) - int64(before)
	t.Logf("%d bytes for each connection", size/10_000)
	assert.Less(t, size, int64(16<<20))
	assert.Equal(t, 5000, h.ends[reassembly.EndLimit])
	assert.Equal(t, int64(14_999), h.bytes)
	f.a.Flush()
	assert.Equal(t, h.opened, h.closed)
}

// What waits behind a hole is bounded, for one connection and for all, whatever its segments.
func TestHeldBytes(t *testing.T) {
	for _, size := range []int{1, 100, 1460, 60000} {
		for _, conns := range []int{1, 100} {
			h := &counter{}
			l := reassembly.Limits{MaxConnBytes: 1 << 20, MaxBytes: 4 << 20, MaxHold: 1 << 60}
			f := newFeeder(h, l)
			payload := strings.Repeat("x", size)
			total := 20 << 20
			if size < 1000 {
				total = 8000 * size
			}
			most := 0
			for i := range conns {
				f.flow = client(i)
				f.handshake(100, 500)
			}
			for n := range total / size {
				f.flow = client(n % conns)
				f.send(fwd, ack, 101+uint32(n/conns*(size+1)+1), 501, payload)
				f.send(bwd, ack, 501, 101, "")
				most = max(most, f.a.Held())
			}
			assert.LessOrEqual(t, most, l.MaxBytes)
			if conns == 1 {
				assert.LessOrEqual(t, most, l.MaxConnBytes)
			}
			assert.NotZero(t, h.bufferLimit, "size %d, %d connections", size, conns)
			f.a.Flush()
			assert.Equal(t, int64(total/size*size), h.bytes)
			assert.Zero(t, f.a.Held())
		}
	}
}

// Bytes nobody acknowledged wait for MaxHold only.
func TestMaxHold(t *testing.T) {
	h := &counter{}
	f := newFeeder(h, reassembly.Limits{MaxHold: 100 * ms})
	f.handshake(100, 500)
	f.send(fwd, ack, 111, 501, "late")
	f.a.Advance(f.time + 50*ms)
	assert.Zero(t, h.gaps)
	f.a.Advance(f.time + 300*ms)
	assert.Equal(t, 1, h.bufferLimit)
	assert.Equal(t, int64(4), h.bytes)
}

func TestMemoryOfAPeakIsGivenBack(t *testing.T) {
	h := &counter{}
	f := newFeeder(h, reassembly.Limits{MaxHold: 1 << 60})
	payload := strings.Repeat("x", 1400)
	before := heap()
	for i := range 4 {
		f.flow = client(i)
		f.handshake(100, 500)
		for n := range 2000 {
			f.send(fwd, ack, 102+uint32(n*1400), 501, payload)
		}
	}
	peak := int64(heap()) - int64(before)
	for i := range 4 {
		f.flow = client(i)
		f.send(fwd, ack, 101, 501, "y")
	}
	require.Zero(t, f.a.Held())
	after := int64(heap()) - int64(before)
	runtime.KeepAlive(f)
	t.Logf("peak %d KiB, after %d KiB", peak/1024, after/1024)
	assert.Less(t, after, int64(6<<20))
	assert.Less(t, peak, int64(128<<20))
	assert.Equal(t, int64(4*2000*1400+4), h.bytes)
	assert.Zero(t, h.gaps)
}

func TestInOrderAllocatesNothing(t *testing.T) {
	h := &counter{}
	f := newFeeder(h, reassembly.Limits{})
	f.handshake(100, 500)
	seg := reassembly.Segment{Flow: toServer, Flags: ack, Seq: 101, Ack: 501, Payload: make([]byte, 1000), WireLen: 1000, Time: f.time}
	back := reassembly.Segment{Flow: toServer.Reverse(), Flags: ack, Seq: 501, Time: f.time}
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		f.a.Segment(&seg)
		seg.Seq += 1000
		back.Ack = seg.Seq
		f.a.Segment(&back)
		f.a.Advance(seg.Time)
	}))
	assert.Equal(t, h.chunks*1000, h.bytes)
}
