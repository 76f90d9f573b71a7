package tls

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func line(word string, n, random, secret int) string {
	return fmt.Sprintf("%s %x %x\n", word, span(random, 32), span(secret, n))
}

func TestKeys(t *testing.T) {
	k := NewKeys(0)
	k.Add([]byte("# a comment\n\n" +
		line("CLIENT_RANDOM", 48, 1, 10) +
		strings.ToUpper(line("SERVER_TRAFFIC_SECRET_0", 32, 2, 20)) +
		strings.TrimSuffix(line("CLIENT_HANDSHAKE_TRAFFIC_SECRET", 48, 2, 30), "\n") + " \r\n" +
		line("EXPORTER_SECRET", 32, 3, 40) +
		fmt.Sprintf("RSA Session-ID:%X Master-Key:%X\n", span(50, 32), span(60, 48)) +
		"RSA 0102030405060708 " + strings.Repeat("00", 48) + "\n"))
	assert.Zero(t, k.Mistakes())
	assert.Equal(t, 3, k.Len())
	assert.Equal(t, span(10, 48), k.secret((*[32]byte)(span(1, 32)), masterSecret))
	assert.Equal(t, span(20, 32), k.secret((*[32]byte)(span(2, 32)), serverTraffic))
	assert.Equal(t, span(30, 48), k.secret((*[32]byte)(span(2, 32)), clientHandshake))
	assert.Nil(t, k.secret((*[32]byte)(span(2, 32)), clientTraffic))
	assert.Nil(t, k.secret((*[32]byte)(span(9, 32)), masterSecret))
	assert.Equal(t, span(60, 48), k.resumable(span(50, 32)))

	k.Add([]byte("CLIENT_RANDOM 00 00\nnonsense\n" + line("CLIENT_RANDOM", 47, 1, 1) + strings.Repeat("x", 1000) +
		"\nRSA Session-ID:01 Master-Key:02\n"))
	assert.EqualValues(t, 5, k.Mistakes())
	assert.Equal(t, 3, k.Len())
}

// TestKeysAreBounded keeps the latest.
func TestKeysAreBounded(t *testing.T) {
	k := NewKeys(10)
	for i := range 100 {
		k.Add([]byte(line("CLIENT_RANDOM", 48, i, i)))
		k.Add([]byte(line("CLIENT_RANDOM", 48, i, i+1)))
	}
	assert.Equal(t, 10, k.Len())
	assert.EqualValues(t, 90, k.Dropped())
	assert.Nil(t, k.secret((*[32]byte)(span(89, 32)), masterSecret))
	assert.Equal(t, span(91, 48), k.secret((*[32]byte)(span(90, 32)), masterSecret))
}

// TestKeyFile follows a file that grows in pieces, and begins anew.
func TestKeyFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys")
	k := NewKeys(0)
	f := NewKeyFile(name, k)
	require.NoError(t, f.Poll())
	require.Error(t, f.Read())
	text := line("CLIENT_RANDOM", 48, 1, 10) + line("CLIENT_RANDOM", 48, 2, 20)
	for i := range len(text) {
		require.NoError(t, os.WriteFile(name, []byte(text[:i]), 0o600))
		require.NoError(t, f.Poll())
		assert.Equal(t, strings.Count(text[:i], "\n"), k.Len())
	}
	require.NoError(t, f.ReadAll()) // without the end of its last line
	assert.Equal(t, 2, k.Len())
	assert.Zero(t, k.Mistakes())

	require.NoError(t, os.WriteFile(name, []byte(line("CLIENT_RANDOM", 48, 3, 30)), 0o600))
	require.NoError(t, f.Poll())
	assert.Equal(t, 3, k.Len())

	long := strings.Repeat("x", 3*keyFileRead) + "\n" + strings.Repeat(line("CLIENT_RANDOM", 48, 4, 30), 2000)
	require.NoError(t, os.WriteFile(name, []byte(long), 0o600))
	require.NoError(t, f.Poll())
	assert.Equal(t, 4, k.Len())
	require.Error(t, NewKeyFile(t.TempDir(), k).Read(), "a folder")
}
