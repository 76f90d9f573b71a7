package cli

import (
	"bufio"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile writes a capture of raw IPv4 packets.
type hostile struct {
	w    *bufio.Writer
	time uint32
}

func newHostile(t *testing.T, write func(*hostile)) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "hostile.pcap")
	file, err := os.Create(name)
	require.NoError(t, err)
	h := &hostile{w: bufio.NewWriterSize(file, 1<<20)}
	h.begin()
	write(h)
	require.NoError(t, h.w.Flush())
	require.NoError(t, file.Close())
	return name
}

// begin writes the file's header.
func (h *hostile) begin() {
	head := make([]byte, 24)
	binary.LittleEndian.PutUint32(head, 0xa1b2c3d4)
	binary.LittleEndian.PutUint16(head[4:], 2)
	binary.LittleEndian.PutUint16(head[6:], 4)
	binary.LittleEndian.PutUint32(head[16:], 1<<18)
	binary.LittleEndian.PutUint32(head[20:], 101)
	_, _ = h.w.Write(head)
}

// empty writes n packets of 1970 with nothing in them.
func (h *hostile) empty(n int) {
	for range n {
		_, _ = h.w.Write(make([]byte, 16))
	}
}

// packet writes a segment of connection n, from its client or from its broker.
func (h *hostile) packet(n int, client bool, flags byte, seq uint32, payload []byte) {
	h.segment(n, client, flags, seq, 0, payload)
}

// segment writes one that acknowledges something.
func (h *hostile) segment(n int, client bool, flags byte, seq, ack uint32, payload []byte) {
	h.time++
	size := uint32(40 + len(payload))
	b := make([]byte, 16+40)
	binary.LittleEndian.PutUint32(b[4:], h.time/10%1_000_000)
	binary.LittleEndian.PutUint32(b, 1_700_000_000+h.time/10_000_000)
	binary.LittleEndian.PutUint32(b[8:], size)
	binary.LittleEndian.PutUint32(b[12:], size)
	ip := b[16:]
	ip[0], ip[8], ip[9] = 0x45, 64, 6
	binary.BigEndian.PutUint16(ip[2:], uint16(size))
	from, to := ip[12:16], ip[16:20]
	tcp := ip[20:]
	source, target := tcp[0:2], tcp[2:4]
	if !client {
		from, to, source, target = to, from, target, source
	}
	copy(from, []byte{10, byte(n >> 24), byte(n >> 16), byte(n >> 8)})
	copy(to, []byte{10, 255, 0, 1})
	binary.BigEndian.PutUint16(source, uint16(1024+n&0xff))
	binary.BigEndian.PutUint16(target, 9092)
	binary.BigEndian.PutUint32(tcp[4:], seq)
	binary.BigEndian.PutUint32(tcp[8:], ack)
	tcp[12], tcp[13] = 0x50, flags
	_, _ = h.w.Write(b)
	_, _ = h.w.Write(payload)
}
