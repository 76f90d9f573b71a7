package tls

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

// FuzzKeyLog takes any text for a key log, within bounds.
func FuzzKeyLog(f *testing.F) {
	f.Add([]byte("# comment\n" + line("CLIENT_RANDOM", 48, 1, 2)))
	f.Add([]byte(line("SERVER_TRAFFIC_SECRET_0", 32, 1, 2) + "RSA Session-ID:00 Master-Key:11\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		k := NewKeys(4)
		k.Add(text)
		require.LessOrEqual(t, k.Len(), 4)
		for _, s := range k.random {
			for _, secret := range s {
				require.LessOrEqual(t, len(secret), maxSecret)
			}
		}
	})
}

// FuzzDecryptor feeds records of a real connection, cut, lost, changed and swapped as the input
// says, and then the input itself. What comes out tiles the streams, and nothing stays held.
func FuzzDecryptor(f *testing.F) {
	var all []recording
	for _, name := range []string{"tls12.txt", "tls13.txt"} {
		all = append(all, recorded(f, name))
	}
	f.Add(uint8(0), []byte{0, 0, 0})
	f.Add(uint8(1), []byte{0, 1, 2, 3, 4, 5, 6, 7, 0x16, 3, 1, 0, 4, 1, 0, 0, 0})
	f.Add(uint8(1), []byte("\x17\x03\x03\x00\x10aaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, which uint8, script []byte) {
		rec := all[int(which)%len(all)]
		r := &recorder{t: t}
		d := New(r, Options{Keys: rec.keys, Limits: Limits{Hold: 20_000, Trials: 50}})
		conn := &reassembly.Conn{ID: 1}
		d.Open(conn)
		var off [2]int64
		chunk := func(dir reassembly.Dir, b []byte) {
			d.Chunk(conn, dir, reassembly.Chunk{Off: off[dir], Bytes: b})
			off[dir] += int64(len(b))
		}
		gap := func(dir reassembly.Dir, n int64) {
			d.Gap(conn, dir, reassembly.Gap{Off: off[dir], Len: n})
			off[dir] += max(n, 0)
		}
		for i, s := range segments(rec.pieces, 100) {
			op := byte(0)
			if i < len(script) {
				op = script[i]
			}
			switch op % 8 {
			case 1:
				gap(s.dir, int64(len(s.b)))
			case 2:
				gap(s.dir, -1)
			case 3:
				changed := append([]byte(nil), s.b...)
				changed[int(op)%len(changed)] ^= op
				chunk(s.dir, changed)
			case 4:
				at := int(op) % len(s.b)
				if at > 0 {
					chunk(s.dir, s.b[:at])
				}
				chunk(s.dir, s.b[at:])
			case 5:
				chunk(s.dir.Other(), s.b)
			case 6:
				cut := 1 + int(op)%len(s.b)
				chunk(s.dir, s.b[:cut])
				if n := len(s.b) - cut; n > 0 {
					gap(s.dir, int64(n))
				}
			default:
				chunk(s.dir, s.b)
			}
		}
		for len(script) > 3 {
			n := min(1+int(binary.BigEndian.Uint16(script)%600), len(script))
			chunk(reassembly.Dir(script[2]&1), script[:n])
			script = script[n:]
		}
		d.Close(conn, reassembly.EndCapture, 0, 0)
		require.Zero(t, d.held)
	})
}
