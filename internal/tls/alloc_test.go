package tls

import (
	stdtls "crypto/tls"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

// discard is a Handler that does nothing.
type discard struct{ n int64 }

func (d *discard) Open(*reassembly.Conn) {}
func (d *discard) Chunk(_ *reassembly.Conn, _ reassembly.Dir, ch reassembly.Chunk) {
	d.n += int64(len(ch.Bytes))
}
func (d *discard) Gap(*reassembly.Conn, reassembly.Dir, reassembly.Gap)   {}
func (d *discard) Note(*reassembly.Conn, reassembly.Dir, reassembly.Note) {}
func (d *discard) Finish(*reassembly.Conn, reassembly.Dir, int64, int64)  {}
func (d *discard) Close(*reassembly.Conn, reassembly.End, int64, int64)   {}

// TestRecordsDoNotAllocate holds that a record in the middle of a connection costs no allocation,
// encrypted or not.
func TestRecordsDoNotAllocate(t *testing.T) {
	cert := certificate(t, true)
	for name, config := range setups() {
		t.Run(name, func(t *testing.T) {
			server := config.Clone()
			server.Certificates = []stdtls.Certificate{cert}
			pieces, keys := run(t, config.Clone(), server, noise(20, 20, 1_000_000, 20))
			segs := segments(joined(pieces, 1<<24), 1448)
			d := New(&discard{}, Options{Keys: keys})
			conn := &reassembly.Conn{ID: 1}
			d.Open(conn)
			var off [2]int64
			i := 0
			next := func() {
				s := segs[i]
				i++
				d.Chunk(conn, s.dir, reassembly.Chunk{Off: off[s.dir], Bytes: s.b, Packet: 1})
				off[s.dir] += int64(len(s.b))
			}
			for range 100 {
				next()
			}
			require.Greater(t, len(segs), 600)
			assert.Zero(t, testing.AllocsPerRun(400, next))
		})
	}
	t.Run("not TLS", func(t *testing.T) {
		d := New(&discard{}, Options{})
		conn := &reassembly.Conn{ID: 1}
		d.Open(conn)
		ch := reassembly.Chunk{Bytes: make([]byte, 1448)}
		d.Chunk(conn, 0, ch)
		assert.Zero(t, testing.AllocsPerRun(100, func() { d.Chunk(conn, 0, ch) }))
	})
}

// owns notes whether the bytes of chunks are said to be of segments.
type owns struct {
	discard
	got []bool
}

func (o *owns) Chunk(t *reassembly.Conn, _ reassembly.Dir, _ reassembly.Chunk) {
	o.got = append(o.got, t.Own)
}

// TestOnlyWhatPassesIsOfSegments: what was queued or decrypted is not.
func TestOnlyWhatPassesIsOfSegments(t *testing.T) {
	next := &owns{}
	d := New(next, Options{})
	conn := &reassembly.Conn{ID: 1}
	for _, b := range [][]byte{{22}, {9}, {7}} {
		conn.Own = true
		d.Chunk(conn, reassembly.Forward, reassembly.Chunk{Bytes: b, Packet: 1})
	}
	assert.Equal(t, []bool{false, false, true}, next.got)

	cert := certificate(t, true)
	for name, config := range setups() {
		server := config.Clone()
		server.Certificates = []stdtls.Certificate{cert}
		pieces, keys := run(t, config.Clone(), server, noise(20))
		next := &owns{}
		d := New(next, Options{Keys: keys})
		conn := &reassembly.Conn{ID: 1}
		var off [2]int64
		for _, s := range segments(joined(pieces, 1<<24), 1448) {
			conn.Own = true
			d.Chunk(conn, s.dir, reassembly.Chunk{Off: off[s.dir], Bytes: s.b, Packet: 1})
			off[s.dir] += int64(len(s.b))
		}
		assert.NotEmpty(t, next.got, name)
		assert.NotContains(t, next.got, true, name)
	}
}

// BenchmarkDecryptor reads a connection of one large answer.
func BenchmarkDecryptor(b *testing.B) {
	cert := certificate(b, true)
	for name, config := range setups() {
		b.Run(name, func(b *testing.B) {
			server := config.Clone()
			server.Certificates = []stdtls.Certificate{cert}
			pieces, keys := run(b, config.Clone(), server, noise(20, 10_000_000))
			segs := segments(pieces, 64<<10)
			b.SetBytes(10_000_000)
			b.ReportAllocs()
			for b.Loop() {
				d := New(&discard{}, Options{Keys: keys})
				lossy(d, segs, func(int, int64) bool { return false }, true)
			}
		})
	}
}
