package dump_test

import (
	"bytes"
	"encoding/hex"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/dump"
)

var want, _ = hex.DecodeString("0000001700120063303006320003636c6900046c696204312e3000")

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name string
		form dump.Form
		text string
	}{
		{"hex", dump.Hex, "0000001700120063303006320003636c6900046c696204312e3000"},
		{"hex in upper case, spaced", dump.Hex, "00 00 00 17 00 12 00 63 30 30 06 32 00 03 63 6C 69 00 04 6C 69 62 04 31 2E 30 00\n"},
		{"hex with 0x and commas", dump.Hex, "{0x00, 0x00, 0x00, 0x17, 0x00, 0x12, 0x00, 0x63, 0x30, 0x30, 0x06, 0x32, 0x00, 0x03, 0x63, 0x6c, 0x69, 0x00, 0x04, 0x6c, 0x69, 0x62, 0x04, 0x31, 0x2e, 0x30, 0x00}"},
		{"hex with one 0x", dump.Hex, "0x0000001700120063303006320003636c6900046c696204312e3000"},
		{"hex with colons", dump.Hex, "00:00:00:17:00:12:00:63:30:30:06:32:00:03:63:6c:69:00:04:6c:69:62:04:31:2e:30:00"},
		{"base64", dump.Base64, "AAAAFwASAGMwMAYyAANjbGkABGxpYgQxLjAA"},
		{"escapes", dump.Escapes, `b'\x00\x00\x00\x17\x00\x12\x00c00\x062\x00\x03cli\x00\x04lib\x041.0\x00'`},
		{"xxd", dump.Hexdump, "00000000: 0000 0017 0012 0063 3030 0632 0003 636c  .......c00.2..cl\n00000010: 6900 046c 6962 0431 2e30 00              i..lib.1.0.\n"},
		{"hexdump -C", dump.Hexdump, "00000000  00 00 00 17 00 12 00 63  30 30 06 32 00 03 63 6c  |.......c00.2..cl|\n00000010  69 00 04 6c 69 62 04 31  2e 30 00                 |i..lib.1.0.|\n0000001b\n"},
		{"tcpdump -x", dump.Hexdump, "\t0x0000:  0000 0017 0012 0063 3030 0632 0003 636c\n\t0x0010:  6900 046c 6962 0431 2e30 00\n"},
		{"a grid of ours", dump.Hexdump, "0x0000  00 00 00 17 00 12 00 63 30 30 06 32 00 03 63 6c  .......c00.2..cl\n0x0010  69 00 04 6c 69 62 04 31 2e 30 00                 i..lib.1.0.\n"},
		{"binary", dump.Binary, string(want)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, form, err := dump.Parse([]byte(c.text), dump.Auto)
			require.NoError(t, err)
			assert.Equal(t, c.form, form)
			assert.Equal(t, want, got)
		})
	}
}

func TestParseHexdumpWords(t *testing.T) {
	got, form, err := dump.Parse([]byte("0000000 0000 1700 1200 6300\n0000008\n"), dump.Auto)
	require.NoError(t, err)
	assert.Equal(t, dump.Hexdump, form)
	assert.Equal(t, want[:8], got)
}

func TestParseRepeatedRows(t *testing.T) {
	got, _, err := dump.Parse([]byte("00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000040  01\n00000041\n"), dump.Auto)
	require.NoError(t, err)
	assert.Equal(t, append(make([]byte, 64), 1), got)
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		form dump.Form
		text string
		want string
	}{
		{"odd", dump.Hex, "012", "odd number of digits"},
		{"no digit", dump.Hex, "01 g2", "no hex digit"},
		{"empty", dump.Hex, " ", "no digits"},
		{"offset that does not follow", dump.Hexdump, "0000: 00\n0010: 00\n", "want 0x1"},
		{"escape cut short", dump.Escapes, `\x0`, "needs two hex digits"},
		{"repetition without end", dump.Hexdump, "00000000  00\n*\nffffffff  01\n", "cannot follow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := dump.Parse([]byte(c.text), c.form)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// TestParseToolOutput reads what the tools of this machine write.
func TestParseToolOutput(t *testing.T) {
	b := make([]byte, 1000)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	copy(b[200:], make([]byte, 200)) // rows that repeat
	for _, tool := range [][]string{{"xxd"}, {"hexdump", "-C"}, {"hexdump"}, {"xxd", "-p"}, {"od", "-A", "x", "-t", "x1", "-v"}, {"base64"}} {
		path, err := exec.LookPath(tool[0])
		if err != nil {
			continue
		}
		cmd := exec.Command(path, tool[1:]...)
		cmd.Stdin = bytes.NewReader(b)
		out, err := cmd.Output()
		require.NoError(t, err)
		got, _, err := dump.Parse(out, dump.Auto)
		require.NoError(t, err, tool)
		assert.Equal(t, b, got, tool)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("00000000: 0000 0017  ....\n"))
	f.Add([]byte(`\x00\n`))
	f.Add([]byte("AAAAFw=="))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, form, err := dump.Parse(data, dump.Auto)
		if err == nil && form != dump.Hexdump && len(b) > len(data) {
			t.Fatalf("%d bytes of %d", len(b), len(data))
		}
	})
}
