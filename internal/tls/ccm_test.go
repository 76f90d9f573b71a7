package tls

import (
	"bytes"
	"crypto/aes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func span(from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from + i)
	}
	return b
}

func unhexed(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// TestCCM holds the vectors of RFC 3610 (section 8) and of NIST SP 800-38C (appendix C).
func TestCCM(t *testing.T) {
	for _, v := range []struct {
		name                         string
		key, nonce, additional, text []byte
		tag                          int
		sealed                       string
	}{
		{"RFC 3610, 1", span(0xc0, 16), unhexed(t, "00000003020100a0a1a2a3a4a5"), span(0, 8), span(8, 23), 8,
			"588c979a61c663d2f066d0c2c0f989806d5f6b61dac38417e8d12cfdf926e0"},
		{"RFC 3610, 2", span(0xc0, 16), unhexed(t, "00000004030201a0a1a2a3a4a5"), span(0, 8), span(8, 24), 8,
			"72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3ba091d56e10400916"},
		{"SP 800-38C, 1", span(0x40, 16), span(0x10, 7), span(0, 8), span(0x20, 4), 4,
			"7162015b4dac255d"},
		{"SP 800-38C, 2", span(0x40, 16), span(0x10, 8), span(0, 16), span(0x20, 16), 6,
			"d2a1f0e051ea5f62081a7792073d593d1fc64fbfaccd"},
		{"SP 800-38C, 3", span(0x40, 16), span(0x10, 12), span(0, 20), span(0x20, 24), 8,
			"e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951"},
		{"SP 800-38C, 4", span(0x40, 16), span(0x10, 13), bytes.Repeat(span(0, 256), 256), span(0x20, 32), 14,
			"69915dad1e84c6376a68c2967e4dab615ae0fd1faec44cc484828529463ccf72b4ac6bec93e8598e7f0dadbcea5b"},
	} {
		t.Run(v.name, func(t *testing.T) {
			block, err := aes.NewCipher(v.key)
			require.NoError(t, err)
			c, err := newCCM(block, len(v.nonce), v.tag)
			require.NoError(t, err)
			sealed := c.Seal(nil, v.nonce, v.text, v.additional)
			assert.Equal(t, v.sealed, hex.EncodeToString(sealed))
			text, err := c.Open([]byte("before"), v.nonce, sealed, v.additional)
			require.NoError(t, err)
			assert.Equal(t, append([]byte("before"), v.text...), text)
			for i := range sealed {
				sealed[i] ^= 1
				_, err := c.Open(nil, v.nonce, sealed, v.additional)
				assert.Error(t, err, "byte %d changed", i)
				sealed[i] ^= 1
			}
			_, err = c.Open(nil, v.nonce, sealed[:v.tag-1], v.additional)
			assert.Error(t, err)
		})
	}
	block, err := aes.NewCipher(span(0, 16))
	require.NoError(t, err)
	for _, sizes := range [][2]int{{6, 16}, {14, 16}, {12, 2}, {12, 18}, {12, 7}} {
		_, err := newCCM(block, sizes[0], sizes[1])
		assert.Error(t, err, sizes)
	}
}
