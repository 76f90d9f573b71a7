package tls

import (
	"bytes"
	stdtls "crypto/tls"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// run lets two ends of crypto/tls talk, and returns what they sent and their key log.
func run(t testing.TB, client, server *stdtls.Config, turns [][]byte) ([]piece, *Keys) {
	var tap wiretap
	var log bytes.Buffer
	client.KeyLogWriter = &log
	client.InsecureSkipVerify, client.ServerName = true, "broker.test"
	c, s := tap.pair(t)
	talk(t, stdtls.Client(c, client), stdtls.Server(s, server), turns)
	keys := NewKeys(0)
	keys.Add(log.Bytes())
	require.Positive(t, keys.Len())
	return tap.pieces, keys
}

// TestGoSuites decrypts what two ends of crypto/tls say to each other, in all suites they know.
func TestGoSuites(t *testing.T) {
	certs := map[bool]stdtls.Certificate{true: certificate(t, true), false: certificate(t, false)}
	type setup struct {
		name    string
		version uint16
		id      uint16
	}
	var setups []setup
	for _, s := range append(stdtls.CipherSuites(), stdtls.InsecureCipherSuites()...) {
		if suiteOf(s.ID).method == unsupported {
			continue
		}
		for _, v := range s.SupportedVersions {
			if v == stdtls.VersionTLS12 {
				setups = append(setups, setup{s.Name, v, s.ID})
			}
		}
	}
	require.Greater(t, len(setups), 10)
	setups = append(setups, setup{"TLS 1.3", stdtls.VersionTLS13, 0})
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			server := &stdtls.Config{
				Certificates: []stdtls.Certificate{certs[true], certs[false]},
				MinVersion:   s.version, MaxVersion: s.version,
			}
			if s.id != 0 {
				server.CipherSuites = []uint16{s.id}
			}
			client := &stdtls.Config{CipherSuites: server.CipherSuites, MinVersion: s.version, MaxVersion: s.version}
			turns := exchange()
			pieces, keys := run(t, client, server, turns)
			want := sent(turns)
			for name, cut := range map[string]func(piece) [][]byte{"as sent": nil, "byte by byte": bytewise} {
				r := decrypt(t, pieces, Options{Keys: keys}, cut)
				sameBytes(t, want, r.got, name)
				assert.Empty(t, r.gaps, name)
				assert.Empty(t, r.info.Failure, name)
				assert.True(t, r.info.Decrypted, name)
				assert.Equal(t, "broker.test", r.info.ServerName, name)
				assert.Equal(t, versionName(s.version), r.info.Version, name)
				if s.id != 0 {
					assert.Equal(t, s.name, r.info.Suite, name)
				}
				assert.Equal(t, [2]int64{int64(len(want[0])), int64(len(want[1]))}, r.info.Plain, name)
			}
			joined := joined(pieces, 1<<20)
			sameBytes(t, want, decrypt(t, joined, Options{Keys: keys}, nil).got, "coalesced")

			r := decrypt(t, pieces, Options{}, nil)
			assert.Empty(t, r.got[0])
			assert.Empty(t, r.got[1])
			assert.False(t, r.info.Decrypted)
			assert.Contains(t, r.info.Failure, "no secret for its client random")
			assert.NotEmpty(t, r.info.Suite)
		})
	}
}
