//go:build linux && !race

// Under the race detector it is that which takes the memory.

package cli

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// request is the beginning of a Produce request that claims to be of a size.
func request(size int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(size))
	b = append(b, 0, 0, 0, 9, 0, 0, 0, 1, 0, 4, 'e', 'v', 'i', 'l', 0)
	return append(b, make([]byte, 1000)...)
}

// hostileCaptures are what would make an unbounded dissector grow.
var hostileCaptures = map[string]func(*hostile){
	"half-open connections": func(h *hostile) {
		for n := range 200_000 {
			h.packet(n, true, 2, 1, nil)
		}
	},
	"connections that wait for the rest of a frame": func(h *hostile) {
		for n := range 60_000 {
			h.packet(n, true, 2, 0, nil)
			h.packet(n, true, 0x10, 1, request(100<<20))
		}
	},
	"frames of 100 MB": func(h *hostile) {
		piece := make([]byte, 60_000)
		for n := range 3 {
			h.packet(n, true, 2, 0, nil)
			h.packet(n, true, 0x10, 1, request(100<<20))
			for off := 1020; off < 100<<20; off += len(piece) {
				h.packet(n, true, 0x10, uint32(off), piece)
			}
		}
	},
	"segments behind holes": func(h *hostile) {
		piece := make([]byte, 1400)
		for n := range 2000 {
			h.packet(n, true, 2, 0, nil)
			h.packet(n, true, 0x10, 1, request(100))
		}
		for i := range 40 {
			for n := range 2000 {
				h.packet(n, true, 0x10, uint32(10_000+i*2000), piece)
			}
		}
	},
}

// TestMemoryStaysBelowItsLimit runs hostile captures in a process of their own and looks at its
// peak.
func TestMemoryStaysBelowItsLimit(t *testing.T) {
	for name, write := range hostileCaptures {
		t.Run(name, func(t *testing.T) {
			file := newHostile(t, write)
			for _, format := range []string{"summary", "json", "tree"} {
				for _, memory := range []int{96, 256} {
					if memory > 96 && format != "json" {
						continue
					}
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), "KDISSECT_CHILD="+strings.Join([]string{
						"read", "--port", "9092", "--format", format, "--max-memory", strconv.Itoa(memory) + "MiB", file}, "\n"))
					out, err := cmd.CombinedOutput()
					require.NoError(t, err, "%s", out)
					_, peak, found := strings.Cut(string(out), "peak KiB: ")
					require.True(t, found, "%s", out)
					peak, _, _ = strings.Cut(peak, "\n")
					kib, err := strconv.Atoi(peak)
					require.NoError(t, err)
					assert.LessOrEqual(t, kib, memory<<10, "%s, %d MiB", format, memory)
					t.Logf("%s, --max-memory %dMiB: %d MiB; %s", format, memory, kib>>10, warnings(string(out)))
				}
			}
		})
	}
}

func warnings(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "at its limits") {
			return strings.TrimSpace(line)
		}
	}
	return "no limit was hit"
}

// TestMain runs a command line instead of the tests where it is the process that
// TestMemoryStaysBelowItsLimit starts, and tells its peak.
func TestMain(m *testing.M) {
	args := os.Getenv("KDISSECT_CHILD")
	if args == "" {
		os.Exit(m.Run())
	}
	exit := Main(strings.Split(args, "\n"), os.Stdin, io.Discard, os.Stderr)
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			fmt.Println("peak KiB: " + f[1])
		}
	}
	os.Exit(exit)
}
