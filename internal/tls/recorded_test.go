package tls

import (
	"bytes"
	stdtls "crypto/tls"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

var anew = flag.Bool("record", false, "record the connections of testdata anew")

// recording is a connection of testdata: lines of hex, "> " before what the client has sent and
// "< " before what the server has, and the lines of its key log.
type recording struct {
	pieces []piece
	keys   *Keys
}

func recorded(t testing.TB, name string) recording {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	r := recording{keys: NewKeys(0)}
	for line := range bytes.Lines(text) {
		dir := reassembly.Backward
		switch line[0] {
		case '>':
			dir = reassembly.Forward
		case '<':
		default:
			r.keys.Add(line)
			continue
		}
		b, err := hex.DecodeString(string(bytes.TrimSpace(line[2:])))
		require.NoError(t, err)
		r.pieces = append(r.pieces, piece{dir, b})
	}
	return r
}

// record writes a recording.
func record(t testing.TB, name string, version uint16, turns [][]byte) {
	var tap wiretap
	var out bytes.Buffer
	server := &stdtls.Config{Certificates: []stdtls.Certificate{certificate(t, false)}, MinVersion: version, MaxVersion: version}
	client := &stdtls.Config{KeyLogWriter: &out, InsecureSkipVerify: true, ServerName: "broker.test"}
	c, s := tap.pair(t)
	talk(t, stdtls.Client(c, client), stdtls.Server(s, server), turns)
	for _, p := range tap.pieces {
		out.WriteString([]string{"> ", "< "}[p.dir] + hex.EncodeToString(p.b) + "\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join("testdata", name), out.Bytes(), 0o600))
}

// TestRecorded decrypts the connections that fuzzing begins with.
func TestRecorded(t *testing.T) {
	turns := [][]byte{[]byte("a request"), bytes.Repeat([]byte("an answer "), 60), []byte("another"), []byte("and its answer")}
	for name, version := range map[string]uint16{"tls12.txt": stdtls.VersionTLS12, "tls13.txt": stdtls.VersionTLS13} {
		if *anew {
			record(t, name, version, turns)
		}
		rec := recorded(t, name)
		r := decrypt(t, rec.pieces, Options{Keys: rec.keys}, nil)
		sameBytes(t, sent(turns), r.got, name)
		assert.Empty(t, r.info.Failure)
	}
}
