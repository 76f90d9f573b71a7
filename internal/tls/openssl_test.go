package tls

import (
	"bytes"
	stdtls "crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

// openSSL runs s_server and s_client with a wiretap between them.
type openSSL struct {
	t      *testing.T
	dir    string
	server string // address
	keyLog string
	out    guarded // of the server
	mute   bool    // the server does not answer
}

// newOpenSSL starts a server that answers each line with the same line backwards.
func newOpenSSL(t *testing.T, cert stdtls.Certificate, args ...string) *openSSL {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	o := &openSSL{t: t, dir: t.TempDir()}
	o.keyLog = filepath.Join(o.dir, "keys")
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	require.NoError(t, err)
	file := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	name := filepath.Join(o.dir, "server.pem")
	require.NoError(t, os.WriteFile(name, file, 0o600))

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o.server = l.Addr().String()
	require.NoError(t, l.Close())
	cmd := exec.Command("openssl", append([]string{"s_server", "-accept", o.server, "-cert", name, "-key", name, "-quiet"}, args...)...)
	cmd.Stdout, cmd.Stderr = &o.out, &o.out
	_, err = cmd.StdinPipe() // which stays open
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("s_server: %s", o.out.String())
		}
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", o.server)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, "s_server does not listen")
	return o
}

// relay forwards one connection to the server and gathers what is sent.
func (o *openSSL) relay() (address string, pieces func() []piece) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(o.t, err)
	var tap wiretap
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		client, err := l.Accept()
		_ = l.Close()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", o.server)
		if err != nil {
			_ = client.Close()
			return
		}
		var both sync.WaitGroup
		both.Add(2)
		pass := func(from, to net.Conn, d reassembly.Dir) {
			defer both.Done()
			_, _ = io.Copy(&tapped{to, &tap, d}, from)
			_ = to.(*net.TCPConn).CloseWrite()
		}
		go pass(client, server, reassembly.Forward)
		go pass(server, client, reassembly.Backward)
		both.Wait()
		_ = client.Close()
		_ = server.Close()
	}()
	return l.Addr().String(), func() []piece { done.Wait(); return tap.pieces }
}

// talk has a client send lines, each after the answer to the one before. A line of one letter is
// a command of s_client.
func (o *openSSL) talk(lines []string, args ...string) []piece {
	t := o.t
	t.Helper()
	address, pieces := o.relay()
	cmd := exec.Command("openssl", append([]string{"s_client", "-connect", address, "-keylogfile", o.keyLog, "-servername", "broker.test"}, args...)...)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	var out guarded
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	deadline := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer deadline.Stop()
	for _, line := range lines {
		_, err := io.WriteString(stdin, line+"\n")
		require.NoError(t, err)
		if len(line) == 1 {
			time.Sleep(100 * time.Millisecond) // commands have no answer to wait for
			continue
		}
		require.Eventually(t, func() bool {
			return strings.Contains(out.String(), backwards(line)) || o.mute && strings.Contains(o.out.String(), line)
		},
			15*time.Second, 5*time.Millisecond, "no answer: %s", &out)
	}
	_, _ = io.WriteString(stdin, "Q\n")
	_ = cmd.Wait()
	return pieces()
}

// keys reads the key log as it is now.
func (o *openSSL) keys() *Keys {
	keys := NewKeys(0)
	require.NoError(o.t, NewKeyFile(o.keyLog, keys).ReadAll())
	return keys
}

// guarded is a buffer for several goroutines.
type guarded struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (g *guarded) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buf.Write(b)
}

func (g *guarded) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buf.String()
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// said returns what client and server say for lines.
func said(lines []string) [2][]byte {
	var both [2]strings.Builder
	for _, l := range lines {
		if len(l) > 1 {
			both[0].WriteString(l + "\n")
			both[1].WriteString(backwards(l) + "\n")
		}
	}
	return [2][]byte{[]byte(both[0].String()), []byte(both[1].String())}
}

var someLines = []string{"first line", "another one " + strings.Repeat("x", 5000), "and the last"}

// TestOpenSSLSuites covers what crypto/tls lacks: CCM, and CBC with encrypt-then-MAC.
func TestOpenSSLSuites(t *testing.T) {
	certs := map[bool]stdtls.Certificate{true: certificate(t, true), false: certificate(t, false)}
	for _, s := range []struct {
		suite string // OpenSSL's name
		want  string
		rsa   bool
		args  []string
	}{
		{suite: "AES128-CCM", want: "TLS_RSA_WITH_AES_128_CCM", rsa: true},
		{suite: "AES256-CCM8", want: "TLS_RSA_WITH_AES_256_CCM_8", rsa: true},
		{suite: "DHE-RSA-AES256-CCM", want: "TLS_DHE_RSA_WITH_AES_256_CCM", rsa: true},
		{suite: "DHE-RSA-AES128-CCM8", want: "TLS_DHE_RSA_WITH_AES_128_CCM_8", rsa: true},
		{suite: "ECDHE-ECDSA-AES128-CCM", want: "TLS_ECDHE_ECDSA_WITH_AES_128_CCM"},
		{suite: "ECDHE-ECDSA-AES256-CCM", want: "TLS_ECDHE_ECDSA_WITH_AES_256_CCM"},
		{suite: "ECDHE-ECDSA-AES128-CCM8", want: "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"},
		{suite: "ECDHE-ECDSA-AES256-CCM8", want: "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8"},
		{suite: "AES128-SHA", want: "TLS_RSA_WITH_AES_128_CBC_SHA", rsa: true},
		{suite: "AES256-SHA256", want: "TLS_RSA_WITH_AES_256_CBC_SHA256", rsa: true},
		{suite: "DHE-RSA-AES128-SHA256", want: "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256", rsa: true},
		{suite: "ECDHE-RSA-AES256-SHA384", want: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384", rsa: true},
		{suite: "ECDHE-ECDSA-AES128-SHA", want: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"},
		{suite: "ECDHE-ECDSA-AES256-SHA384", want: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"},
		{suite: "DHE-RSA-CHACHA20-POLY1305", want: "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256", rsa: true},
		{suite: "DHE-RSA-AES256-GCM-SHA384", want: "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384", rsa: true},
		{suite: "PSK-AES128-CBC-SHA256", want: "TLS_PSK_WITH_AES_128_CBC_SHA256", rsa: true, args: []string{"-psk", "aabb"}},
		{suite: "ECDHE-PSK-AES256-CBC-SHA384", want: "TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA384", rsa: true, args: []string{"-psk", "aabb"}},
		{suite: "PSK-AES256-CCM8", want: "TLS_PSK_WITH_AES_256_CCM_8", rsa: true, args: []string{"-psk", "aabb"}},
		{want: "TLS_AES_128_CCM_SHA256"},
		{want: "TLS_AES_128_CCM_8_SHA256"},
		{want: "TLS_AES_128_GCM_SHA256"},
		{want: "TLS_AES_256_GCM_SHA384"},
		{want: "TLS_CHACHA20_POLY1305_SHA256"},
	} {
		t.Run(s.want, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"-tls1_2", "-cipher", s.suite + ":@SECLEVEL=0"}, s.args...)
			if s.suite == "" {
				args = []string{"-tls1_3", "-ciphersuites", s.want}
			}
			o := newOpenSSL(t, certs[s.rsa], append(args, "-rev")...)
			pieces := o.talk(someLines, args...)
			r := decrypt(t, pieces, Options{Keys: o.keys()}, nil)
			sameBytes(t, said(someLines), r.got)
			assert.Equal(t, s.want, r.info.Suite)
			assert.Empty(t, r.info.Failure)
			r = decrypt(t, pieces, Options{Keys: o.keys()}, bytewise)
			sameBytes(t, said(someLines), r.got, "byte by byte")
		})
	}
}

// TestOpenSSLHandshakes covers what happens beside a plain handshake.
func TestOpenSSLHandshakes(t *testing.T) {
	cert := certificate(t, true)
	t.Run("hello retry", func(t *testing.T) {
		o := newOpenSSL(t, cert, "-tls1_3", "-groups", "P-384", "-rev")
		r := decrypt(t, o.talk(someLines, "-groups", "X25519:P-384"), Options{Keys: o.keys()}, nil)
		sameBytes(t, said(someLines), r.got)
	})
	t.Run("key update", func(t *testing.T) {
		o := newOpenSSL(t, cert, "-tls1_3", "-rev")
		lines := []string{"before", "K", "between", "k", "after", "K", "K", "at last"}
		r := decrypt(t, o.talk(lines), Options{Keys: o.keys()}, nil)
		sameBytes(t, said(lines), r.got)
	})
	t.Run("renegotiation", func(t *testing.T) {
		o := newOpenSSL(t, cert, "-tls1_2", "-client_renegotiation", "-rev")
		lines := []string{"before", "R", "between", "R", "after"}
		r := decrypt(t, o.talk(lines, "-tls1_2"), Options{Keys: o.keys()}, nil)
		sameBytes(t, said(lines), r.got)
		assert.True(t, r.info.Renegotiated)
	})
	for _, how := range [][]string{{"-tls1_2"}, {"-tls1_2", "-no_ticket"}, {"-tls1_3"}} {
		t.Run(fmt.Sprint("resumption ", how), func(t *testing.T) {
			o := newOpenSSL(t, cert, append(how, "-rev")...)
			file := filepath.Join(o.dir, "session")
			first := o.talk(someLines, append(how, "-sess_out", file)...)
			early := o.keys()
			second := o.talk([]string{"resumed"}, append(how, "-sess_in", file)...)
			r := decrypt(t, second, Options{Keys: o.keys()}, nil)
			sameBytes(t, said([]string{"resumed"}), r.got)
			assert.True(t, r.info.Resumed)

			if how[0] != "-tls1_2" {
				return
			}
			// The first connection's secret is enough, once it was seen.
			r = &recorder{t: t}
			d := New(r, Options{Keys: early})
			feed(d, &reassembly.Conn{ID: 1}, first, nil)
			sameBytes(t, said(someLines), r.got)
			r = &recorder{t: t}
			d.next = r
			feed(d, &reassembly.Conn{ID: 2}, second, nil)
			sameBytes(t, said([]string{"resumed"}), r.got)
		})
	}
	for _, taken := range []bool{true, false} {
		t.Run(fmt.Sprintf("early data, taken: %v", taken), func(t *testing.T) {
			args := []string{"-tls1_3", "-rev", "-max_early_data", "16384"}
			if taken {
				args = []string{"-tls1_3", "-early_data", "-no_anti_replay"}
			}
			o := newOpenSSL(t, cert, args...)
			o.mute = taken
			session, file := filepath.Join(o.dir, "session"), filepath.Join(o.dir, "early")
			require.NoError(t, os.WriteFile(file, []byte("early bird\n"), 0o600))
			o.talk(someLines, "-sess_out", session)
			pieces := o.talk([]string{"later"}, "-sess_in", session, "-early_data", file)
			r := decrypt(t, pieces, Options{Keys: o.keys()}, nil)
			want := "later\n"
			if taken {
				want = "early bird\nlater\n"
			}
			assert.Equal(t, want, string(r.got[0]))
			assert.Empty(t, r.info.Failure)
		})
	}
}
