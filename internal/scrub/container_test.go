package scrub

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// words are little-endian 32-bit numbers and texts, which are padded.
func words(order binary.AppendByteOrder, parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			b = order.AppendUint32(b, uint32(v))
		case string:
			b = append(b, v...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		}
	}
	return b
}

func block(order binary.AppendByteOrder, kind int, body []byte) []byte {
	n := len(body) + 12
	return append(append(words(order, kind, n), body...), words(order, n)...)
}

// option is a pcapng option.
func option(order binary.AppendByteOrder, code uint16, value string) string {
	b := order.AppendUint16(nil, code)
	return string(words(order, string(order.AppendUint16(b, uint16(len(value))))+value))
}

func TestOnlyPacketsAndTheirTimesAreKept(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		link := string(order.AppendUint16(order.AppendUint16(nil, 101), 0)) // raw IP
		packet := "not an IP packet"
		in := block(order, blockSection, words(order, 0x1a2b3c4d, string(order.AppendUint16(order.AppendUint16(nil, 1), 0)), -1, -1,
			option(order, 2, "my hardware")+option(order, 3, "my system")+option(order, 1, "my comment")+option(order, 0, "")))
		in = append(in, block(order, blockInterface, words(order, link, 0,
			option(order, 2, "my interface")+option(order, 9, "\x09")+option(order, 12, "my system")+option(order, 0, "")))...)
		in = append(in, block(order, 0x0a, words(order, 0x544c534b, 9, "my secret"))...)
		in = append(in, block(order, 4, words(order, "my names"))...)
		in = append(in, block(order, blockEnhanced, words(order, 0, 1, 2, len(packet), len(packet), packet,
			option(order, 1, "my comment")+option(order, 2, "\x01\x00\x00\x00")+option(order, 0, "")))...)
		in = append(in, block(order, 5, words(order, 0, 1, 2))...)

		want := block(order, blockSection, words(order, 0x1a2b3c4d, string(order.AppendUint16(order.AppendUint16(nil, 1), 0)), -1, -1))
		want = append(want, block(order, blockInterface, words(order, link, 0, option(order, 9, "\x09")+option(order, 0, "")))...)
		want = append(want, block(order, blockEnhanced, words(order, 0, 1, 2, len(packet), len(packet), 0, 0, 0, 0,
			option(order, 2, "\x01\x00\x00\x00")+option(order, 0, "")))...)

		name, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
		require.NoError(t, os.WriteFile(name, in, 0o600))
		_, err := File(context.Background(), name, out, Options{})
		require.NoError(t, err)
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%v", order)
	}
}
