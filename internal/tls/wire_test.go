package tls

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	stdtls "crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

// piece is bytes that one side has sent at once.
type piece struct {
	dir reassembly.Dir
	b   []byte
}

// wiretap gathers what two sides send to each other.
type wiretap struct {
	mu     sync.Mutex
	pieces []piece
}

type tapped struct {
	net.Conn
	tap *wiretap
	dir reassembly.Dir
}

func (c *tapped) Write(b []byte) (int, error) {
	c.tap.mu.Lock()
	c.tap.pieces = append(c.tap.pieces, piece{c.dir, bytes.Clone(b)})
	c.tap.mu.Unlock()
	return c.Conn.Write(b)
}

// pair returns the two ends of a connection over which w listens.
func (w *wiretap) pair(t testing.TB) (client, server net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	client, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	server = <-accepted
	require.NotNil(t, server)
	deadline := time.Now().Add(20 * time.Second)
	require.NoError(t, client.SetDeadline(deadline))
	require.NoError(t, server.SetDeadline(deadline))
	return &tapped{client, w, reassembly.Forward}, &tapped{server, w, reassembly.Backward}
}

// certificate makes a certificate of its own, with an RSA or an ECDSA key.
func certificate(t testing.TB, useRSA bool) stdtls.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, DNSNames: []string{"broker.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	if useRSA {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		require.NoError(t, err)
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		require.NoError(t, err)
		return stdtls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return stdtls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// exchange are the bytes that the sides send in turns, the client first.
func exchange() [][]byte {
	var all [][]byte
	for i, n := range []int{1, 100, 40_000, 3, 17_000, 20, 5, 100_000} {
		all = append(all, bytes.Repeat([]byte{byte('a' + i)}, n))
	}
	return all
}

// talk sends turns to and fro and closes both sides.
func talk(t testing.TB, client, server net.Conn, turns [][]byte) {
	sides := [2]net.Conn{client, server}
	for i, b := range turns {
		from, to := sides[i%2], sides[(i+1)%2]
		done := make(chan error, 1)
		go func() {
			_, err := from.Write(b)
			done <- err
		}()
		got := make([]byte, len(b))
		_, err := io.ReadFull(to, got)
		require.NoError(t, err)
		require.NoError(t, <-done)
		require.Equal(t, b, got)
	}
	_ = client.Close()
	_ = server.Close()
}

// sent returns what each side sends of turns.
func sent(turns [][]byte) (both [2][]byte) {
	for i, b := range turns {
		both[i%2] = append(both[i%2], b...)
	}
	return both
}

// recorder is a Handler that keeps what it is given, and checks that it tiles the streams.
type recorder struct {
	t        testing.TB
	got      [2][]byte // gaps of known length as zeros
	chunks   int
	gaps     []reassembly.Gap
	off      [2]int64
	finished [2]bool
	info     *reassembly.TLS
	closed   bool
}

func (r *recorder) Open(*reassembly.Conn) {}
func (r *recorder) Chunk(_ *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	require.Equal(r.t, r.off[d], ch.Off)
	require.False(r.t, r.finished[d])
	require.NotEmpty(r.t, ch.Bytes)
	r.off[d] += int64(len(ch.Bytes))
	r.got[d] = append(r.got[d], ch.Bytes...)
	r.chunks++
}
func (r *recorder) Gap(_ *reassembly.Conn, d reassembly.Dir, g reassembly.Gap) {
	require.Equal(r.t, r.off[d], g.Off)
	r.gaps = append(r.gaps, g)
	n := max(g.Len, 0)
	r.off[d] += n
	r.got[d] = append(r.got[d], make([]byte, n)...)
}
func (r *recorder) Note(*reassembly.Conn, reassembly.Dir, reassembly.Note) {}
func (r *recorder) Finish(_ *reassembly.Conn, d reassembly.Dir, _, _ int64) {
	require.False(r.t, r.finished[d])
	r.finished[d] = true
}
func (r *recorder) Close(c *reassembly.Conn, _ reassembly.End, _, _ int64) {
	r.closed, r.info = true, c.TLS
}

// decrypt gives pieces to a Decryptor, cut by cut, which may return nil for what was lost.
func decrypt(t testing.TB, pieces []piece, opt Options, cut func(piece) [][]byte) *recorder {
	r := &recorder{t: t}
	d := New(r, opt)
	conn := &reassembly.Conn{ID: 1}
	feed(d, conn, pieces, cut)
	require.True(t, r.closed)
	require.Equal(t, [2]bool{true, true}, r.finished)
	require.Zero(t, d.held)
	return r
}

// feed gives one connection to a Decryptor.
func feed(d *Decryptor, conn *reassembly.Conn, pieces []piece, cut func(piece) [][]byte) {
	d.Open(conn)
	var off [2]int64
	for i, p := range pieces {
		parts := [][]byte{p.b}
		if cut != nil {
			parts = cut(p)
		}
		packet := int64(i + 1)
		for _, b := range parts {
			d.Chunk(conn, p.dir, reassembly.Chunk{Off: off[p.dir], Bytes: bytes.Clone(b), Packet: packet, Time: packet})
			off[p.dir] += int64(len(b))
		}
	}
	last := int64(len(pieces))
	d.Finish(conn, reassembly.Forward, last, last)
	d.Finish(conn, reassembly.Backward, last, last)
	d.Close(conn, reassembly.EndFIN, last, last)
}

// bytewise cuts into single bytes.
func bytewise(p piece) (parts [][]byte) {
	for i := range p.b {
		parts = append(parts, p.b[i:i+1])
	}
	return parts
}

// joined puts pieces of a direction that follow each other together, up to n bytes.
func joined(pieces []piece, n int) (out []piece) {
	for _, p := range pieces {
		if k := len(out) - 1; k >= 0 && out[k].dir == p.dir && len(out[k].b)+len(p.b) <= n {
			out[k].b = append(bytes.Clone(out[k].b), p.b...)
			continue
		}
		out = append(out, p)
	}
	return out
}

// sameBytes compares streams without printing them whole.
func sameBytes(t testing.TB, want, got [2][]byte, what ...any) {
	t.Helper()
	for i, side := range []string{"client", "server"} {
		if !bytes.Equal(want[i], got[i]) {
			at := 0
			for at < min(len(want[i]), len(got[i])) && want[i][at] == got[i][at] {
				at++
			}
			assert.Fail(t, "streams differ", "%v: the %s's %d bytes, got %d, equal up to %d", what, side, len(want[i]), len(got[i]), at)
		}
	}
}
