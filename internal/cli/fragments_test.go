package cli

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A packet that is a fragment, and the only one of its datagram, is told of at the end.
func TestLostFragmentsAreTold(t *testing.T) {
	file := newHostile(t, func(h *hostile) {
		converse(h, 0, 100)
		converse(h, 1, 100).good()
	})
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	const header, record = 24, 16 + 40
	flags := b[header+record+16+6:] // of the second packet's IP header
	binary.BigEndian.PutUint16(flags, 0x2000)
	stderr := &bytes.Buffer{}
	require.Zero(t, Main([]string{"read", "-"}, bytes.NewReader(b), io.Discard, stderr))
	assert.Contains(t, stderr.String(), "passed over 1 IP datagram of which fragments are missing")
	assert.Equal(t, exitIssues, Main([]string{"read", "--strict", "-"}, bytes.NewReader(b), io.Discard, io.Discard))
}
