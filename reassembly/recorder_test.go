package reassembly_test

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/kdissect/kdissect/reassembly"
	"github.com/stretchr/testify/assert"
)

// direction is what a recorder was told of one direction.
type direction struct {
	bytes    []byte // captured bytes, gaps adding nothing
	at       []int64
	gaps     []reassembly.Gap
	chunks   int
	next     int64
	missing  int64
	inner    int64 // of missing: with captured bytes behind them
	trailing int64
	finished int
	first    reassembly.Chunk // its bytes are not kept
}

// connection is what a recorder was told of one connection.
type connection struct {
	conn   *reassembly.Conn
	dirs   [2]direction
	opener reassembly.Flow // direction of the segment that opened it
	closes int
	why    reassembly.End
}

// recorder is a Handler that keeps everything and checks what every Handler may rely on: Open
// before all else, chunks and gaps that tile, nothing behind Finish, one Close at the end.
type recorder struct {
	t     testing.TB
	conns []*connection
	notes map[reassembly.NoteKind]int
	flows map[int64]reassembly.Flow // of the segments given, by packet
	onGap func(c *reassembly.Conn, d reassembly.Dir, g reassembly.Gap)
}

func newRecorder(t testing.TB) *recorder {
	return &recorder{t: t, notes: map[reassembly.NoteKind]int{}, flows: map[int64]reassembly.Flow{}}
}

func (r *recorder) of(c *reassembly.Conn) *connection {
	k, ok := c.User.(*connection)
	if !ok || k.closes > 0 {
		r.t.Fatalf("connection %d: called before Open or after Close", c.ID)
	}
	return k
}

// dir returns what was told of a direction of the first connection.
func (r *recorder) dir(d reassembly.Dir) *direction {
	if len(r.conns) == 0 {
		return &direction{}
	}
	return &r.conns[0].dirs[d]
}

// closed says whether the first connection was closed.
func (r *recorder) closed() bool { return len(r.conns) > 0 && r.conns[0].closes > 0 }

func (r *recorder) Open(c *reassembly.Conn) {
	assert.Nil(r.t, c.User)
	k := &connection{conn: c, opener: r.flows[c.FirstPacket]}
	c.User = k
	r.conns = append(r.conns, k)
}

func (r *recorder) Chunk(c *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	x := &r.of(c).dirs[d]
	if ch.Off != x.next || len(ch.Bytes) == 0 || x.finished > 0 {
		r.t.Fatalf("connection %d %d: chunk of %d at %d, expected at %d, finished %d", c.ID, d, len(ch.Bytes), ch.Off, x.next, x.finished)
	}
	if x.chunks == 0 {
		x.first = ch
	}
	x.chunks++
	for i := range ch.Bytes {
		x.at = append(x.at, ch.Off+int64(i))
	}
	x.bytes = append(x.bytes, ch.Bytes...)
	x.next += int64(len(ch.Bytes))
	x.inner += x.trailing
	x.trailing = 0
}

func (r *recorder) Gap(c *reassembly.Conn, d reassembly.Dir, g reassembly.Gap) {
	x := &r.of(c).dirs[d]
	if g.Off != x.next || g.Len == 0 || g.Len < -1 || x.finished > 0 {
		r.t.Fatalf("connection %d %d: gap of %d at %d, expected at %d, finished %d", c.ID, d, g.Len, g.Off, x.next, x.finished)
	}
	if r.onGap != nil {
		r.onGap(c, d, g)
	}
	x.gaps = append(x.gaps, g)
	n := max(g.Len, 0)
	x.next += n
	x.missing += n
	x.trailing += n
}

func (r *recorder) Note(c *reassembly.Conn, d reassembly.Dir, n reassembly.Note) {
	r.of(c)
	r.notes[n.Kind]++
}

func (r *recorder) Finish(c *reassembly.Conn, d reassembly.Dir, packet, time int64) {
	x := &r.of(c).dirs[d]
	x.finished++
	assert.Equal(r.t, 1, x.finished)
}

func (r *recorder) Close(c *reassembly.Conn, why reassembly.End, packet, time int64) {
	k := r.of(c)
	k.closes++
	k.why = why
	kept := *c // it is not ours any longer
	k.conn = &kept
	for d := range k.dirs {
		x, st, odd := &k.dirs[d], c.Dirs[d], c.Odd[d]
		assert.Equal(r.t, int64(len(x.bytes)), st.Bytes)
		assert.Equal(r.t, x.missing, odd.Missing)
		assert.Equal(r.t, int64(len(x.gaps)), odd.Gaps)
	}
}

var (
	clientEnd = reassembly.EndpointFrom(netip.MustParseAddrPort("192.0.2.10:40000"))
	serverEnd = reassembly.EndpointFrom(netip.MustParseAddrPort("198.51.100.20:9092"))
	toServer  = reassembly.Flow{Src: clientEnd, Dst: serverEnd}
)

const (
	fin = reassembly.FIN
	syn = reassembly.SYN
	rst = reassembly.RST
	ack = reassembly.ACK

	ms = int64(1e6)
)

// feeder numbers segments and gives each a time, a millisecond after the one before.
type feeder struct {
	a      *reassembly.Assembler
	flow   reassembly.Flow
	packet int64
	time   int64
}

func newFeeder(h reassembly.Handler, l reassembly.Limits) *feeder {
	return &feeder{a: reassembly.New(l, h), flow: toServer, time: 1_700_000_000_000 * ms}
}

func (f *feeder) send(d reassembly.Dir, flags reassembly.Flags, seq, ackNo uint32, payload string) {
	f.cut(d, flags, seq, ackNo, payload, len(payload))
}

// cut sends a segment of wire bytes, of which payload was captured.
func (f *feeder) cut(d reassembly.Dir, flags reassembly.Flags, seq, ackNo uint32, payload string, wire int) {
	f.packet++
	f.time += ms
	flow := f.flow
	if d == reassembly.Backward {
		flow = flow.Reverse()
	}
	b := []byte(payload)
	f.a.Segment(&reassembly.Segment{Flow: flow, Seq: seq, Ack: ackNo, Flags: flags, Payload: b,
		WireLen: wire, Time: f.time, Packet: f.packet})
	clear(b) // alive during the call only
}

// handshake opens a connection with the initial sequence numbers x and y.
func (f *feeder) handshake(x, y uint32) {
	f.send(reassembly.Forward, syn, x, 0, "")
	f.send(reassembly.Backward, syn|ack, y, x+1, "")
	f.send(reassembly.Forward, ack, x+1, y+1, "")
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// offsetIn returns where in stream the direction begins that d was told of, given its first
// chunk's bytes.
func (d *direction) offsetIn(stream []byte) (int64, bool) {
	if len(d.at) == 0 {
		return 0, false
	}
	n := 1
	for n < len(d.at) && d.at[n] == d.at[0]+int64(n) {
		n++
	}
	i := bytes.Index(stream, d.bytes[:n])
	if i < 0 || bytes.LastIndex(stream, d.bytes[:n]) != i {
		return 0, false
	}
	return int64(i) - d.at[0], true
}
