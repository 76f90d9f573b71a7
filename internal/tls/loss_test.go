package tls

import (
	"bytes"
	"crypto/rand"
	stdtls "crypto/tls"
	"fmt"
	mathrand "math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

// noise are turns of random bytes, so that each stretch of them stands at one place only.
func noise(sizes ...int) (turns [][]byte) {
	for _, n := range sizes {
		b := make([]byte, n)
		_, _ = rand.Read(b)
		turns = append(turns, b)
	}
	return turns
}

// placed is a Handler that checks each chunk against what was sent.
type placed struct {
	recorder
	want      [2][]byte
	at        [2]int
	recovered [2]int
	unknown   bool
}

func (p *placed) Chunk(c *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	p.recorder.Chunk(c, d, ch)
	if p.unknown {
		i := bytes.Index(p.want[d][p.at[d]:], ch.Bytes)
		require.GreaterOrEqual(p.t, i, 0, "a chunk that was not sent")
		p.at[d] += i
		p.unknown = false
	}
	end := p.at[d] + len(ch.Bytes)
	require.LessOrEqual(p.t, end, len(p.want[d]))
	require.True(p.t, bytes.Equal(p.want[d][p.at[d]:end], ch.Bytes), "other bytes at %d than were sent", p.at[d])
	p.at[d] = end
	p.recovered[d] += len(ch.Bytes)
}

func (p *placed) Gap(c *reassembly.Conn, d reassembly.Dir, g reassembly.Gap) {
	p.recorder.Gap(c, d, g)
	if g.Len < 0 {
		p.unknown = true
		return
	}
	p.at[d] += int(g.Len)
}

// setups are a cipher suite of each kind.
func setups() map[string]*stdtls.Config {
	return map[string]*stdtls.Config{
		"TLS 1.3":          {MinVersion: stdtls.VersionTLS13},
		"TLS 1.2 GCM":      {MaxVersion: stdtls.VersionTLS12, CipherSuites: []uint16{stdtls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}},
		"TLS 1.2 ChaCha20": {MaxVersion: stdtls.VersionTLS12, CipherSuites: []uint16{stdtls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256}},
		"TLS 1.2 CBC":      {MaxVersion: stdtls.VersionTLS12, CipherSuites: []uint16{stdtls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA}},
	}
}

// segments cuts what was sent into segments.
func segments(pieces []piece, size int) (out []piece) {
	for _, p := range pieces {
		for b := p.b; len(b) > 0; {
			n := min(size, len(b))
			out, b = append(out, piece{p.dir, b[:n]}), b[n:]
		}
	}
	return out
}

// lossy feeds segments, those lost as gaps.
func lossy(d *Decryptor, segs []piece, lost func(i int, at int64) bool, known bool) {
	conn := &reassembly.Conn{ID: 1}
	d.Open(conn)
	var off [2]int64
	for i, s := range segs {
		n := int64(len(s.b))
		switch {
		case !lost(i, off[s.dir]):
			d.Chunk(conn, s.dir, reassembly.Chunk{Off: off[s.dir], Bytes: s.b, Packet: int64(i), Time: int64(i)})
		case known:
			d.Gap(conn, s.dir, reassembly.Gap{Off: off[s.dir], Len: n, Packet: int64(i), Time: int64(i)})
		default:
			d.Gap(conn, s.dir, reassembly.Gap{Off: off[s.dir], Len: -1, Packet: int64(i), Time: int64(i)})
			n = 0
		}
		off[s.dir] += n
	}
	d.Close(conn, reassembly.EndCapture, int64(len(segs)), 0)
}

func TestLosses(t *testing.T) {
	cert := certificate(t, true)
	for name, config := range setups() {
		t.Run(name, func(t *testing.T) {
			turns := noise(20, 300_000, 100, 40, 700, 1_000_000, 30, 30, 1500, 9000, 200_000, 100)
			server := config.Clone()
			server.Certificates = []stdtls.Certificate{cert}
			pieces, keys := run(t, config.Clone(), server, turns)
			segs := segments(pieces, 1448)
			want := sent(turns)
			total := len(want[0]) + len(want[1])
			for seed := range uint64(20) {
				for _, known := range []bool{true, false} {
					rnd := mathrand.New(mathrand.NewPCG(seed, 7))
					gaps, bytesLost := 0, 0
					p := &placed{want: want}
					p.t = t
					d := New(p, Options{Keys: keys})
					lossy(d, segs, func(i int, at int64) bool {
						if at < 6000 || rnd.IntN(300) != 0 {
							return false
						}
						gaps, bytesLost = gaps+1, bytesLost+len(segs[i].b)
						return true
					}, known)
					require.Zero(t, d.held)
					got := p.recovered[0] + p.recovered[1]
					// Each gap costs the records that it lies in, of which there are one or two, and
					// where its length is unknown one more that is needed to go on.
					least := total - gaps*3*(16384+1448)
					assert.GreaterOrEqual(t, got, least, "seed %d, known %v, %d gaps: %s", seed, known, gaps, p.info.Failure)
					assert.Empty(t, p.info.Failure)
				}
			}
		})
	}
}

// TestLossInTheHandshake loses each segment of the handshake in turn: what can be decrypted is, and
// nothing else.
func TestLossInTheHandshake(t *testing.T) {
	cert := certificate(t, true)
	for name, config := range setups() {
		t.Run(name, func(t *testing.T) {
			turns := noise(20, 3000, 100, 4000, 700, 10_000, 30, 30)
			server := config.Clone()
			server.Certificates = []stdtls.Certificate{cert}
			pieces, keys := run(t, config.Clone(), server, turns)
			segs := segments(pieces, 300)
			want := sent(turns)
			whole := 0
			for lose := range min(14, len(segs)) {
				p := &placed{want: want}
				p.t = t
				d := New(p, Options{Keys: keys})
				lossy(d, segs, func(i int, _ int64) bool { return i == lose }, true)
				require.Zero(t, d.held)
				if p.recovered[0]+p.recovered[1] == 0 {
					assert.NotEmpty(t, p.info.Failure, fmt.Sprint(lose))
				}
				if p.recovered == [2]int{len(want[0]), len(want[1])} {
					whole++
				}
			}
			assert.GreaterOrEqual(t, whole, 4, "the certificate does not matter")
		})
	}
}

// TestOrderOfDirections delivers one direction long before the other.
func TestOrderOfDirections(t *testing.T) {
	cert := certificate(t, true)
	for name, config := range setups() {
		t.Run(name, func(t *testing.T) {
			turns := noise(20, 3000, 100, 4000, 700, 10_000, 30, 30)
			server := config.Clone()
			server.Certificates = []stdtls.Certificate{cert}
			pieces, keys := run(t, config.Clone(), server, turns)
			for _, first := range []reassembly.Dir{reassembly.Forward, reassembly.Backward} {
				var order []piece
				for _, dir := range []reassembly.Dir{first, first.Other()} {
					for _, p := range pieces {
						if p.dir == dir {
							order = append(order, p)
						}
					}
				}
				r := decrypt(t, order, Options{Keys: keys}, nil)
				sameBytes(t, sent(turns), r.got, first)
				assert.Empty(t, r.gaps)
			}
		})
	}
}

// TestLateSecrets adds the secrets only when some of the application data was seen.
func TestLateSecrets(t *testing.T) {
	cert := certificate(t, true)
	for name, config := range setups() {
		t.Run(name, func(t *testing.T) {
			turns := noise(20, 3000, 100, 4000, 700, 10_000, 30, 30)
			server := config.Clone()
			server.Certificates = []stdtls.Certificate{cert}
			pieces, late := run(t, config.Clone(), server, turns)
			keys := NewKeys(0)
			asked := 0
			r := decrypt(t, pieces, Options{Keys: keys, Missing: func() {
				if asked++; asked == 12 {
					keys.random = late.random
				}
			}}, nil)
			sameBytes(t, sent(turns), r.got)
			assert.GreaterOrEqual(t, asked, 12)

			r = decrypt(t, pieces, Options{Keys: NewKeys(0), Limits: Limits{Hold: 4000}}, nil)
			assert.Zero(t, r.chunks)
			assert.Contains(t, r.info.Failure, "no secret")
		})
	}
}
