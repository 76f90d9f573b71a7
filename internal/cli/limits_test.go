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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// peakOf runs a command line in a process of its own and returns its peak of memory and what it told.
func peakOf(t *testing.T, args ...string) (kib int, told string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KDISSECT_CHILD="+strings.Join(args, "\n"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, peak, found := strings.Cut(string(out), "peak KiB: ")
	require.True(t, found, "%s", out)
	peak, _, _ = strings.Cut(peak, "\n")
	kib, err = strconv.Atoi(peak)
	require.NoError(t, err)
	return kib, string(out)
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
					kib, out := peakOf(t, "read", "--port", "9092", "--format", format, "--max-memory", strconv.Itoa(memory)+"MiB", file)
					assert.LessOrEqual(t, kib, memory<<10, "%s, %d MiB", format, memory)
					t.Logf("%s, --max-memory %dMiB: %d MiB; %s", format, memory, kib>>10, warnings(out))
				}
			}
		})
	}
}

// TestLongTextsStayBelowTheLimit holds texts that are many times as long as their frames to the
// limit on memory: one as large as a frame may be, and many that are complete at the same time.
func TestLongTextsStayBelowTheLimit(t *testing.T) {
	for name, make := range longTexts {
		t.Run(name, func(t *testing.T) {
			for _, tc := range []struct {
				memory, connections, size int
				flags                     string
			}{
				{96, 1, 3 << 20, "-j"}, {96, 1, 3 << 20, "-tx --full"}, {96, 1, 6 << 20, "-j --workers 1"},
				{96, 40, 200_000, "-j"}, {96, 40, 200_000, "-j --workers 1"}, {96, 40, 200_000, "-t"},
				{256, 1, 15 << 20, "-j"},
			} {
				q, r := make(tc.size)
				file := newHostile(t, func(h *hostile) { sendLong(h, tc.connections, q, r) })
				args := []string{"read", "--port", "9092", "--workers", "2", "--max-memory", strconv.Itoa(tc.memory) + "MiB", file}
				kib, out := peakOf(t, append(args, strings.Fields(tc.flags)...)...)
				assert.LessOrEqual(t, kib, tc.memory<<10, "%s of %d times %d bytes", tc.flags, tc.connections, tc.size)
				t.Logf("%s of %d times %d bytes, --max-memory %dMiB: %d MiB; %s", tc.flags, tc.connections, tc.size, tc.memory, kib>>10, warnings(out))
			}
		})
	}
}

// TestManyConnectionsInTurn reads a million connections one after another, each of which speaks
// Kafka and ends, in a process of its own whose memory is looked at.
func TestManyConnectionsInTurn(t *testing.T) {
	const n = 1_000_000
	r, w, err := os.Pipe()
	require.NoError(t, err)
	go func() {
		h := &hostile{w: bufio.NewWriterSize(w, 1<<20)}
		h.begin()
		q, a := heartbeatOf(1)
		for i := range n {
			c := converse(h, i, uint32(i))
			c.send(true, q)
			c.send(false, a)
			c.close()
		}
		_ = h.w.Flush()
		_ = w.Close()
	}()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KDISSECT_CHILD=read\n--api\nFetch\n-")
	cmd.Stdin = r
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, peak, found := strings.Cut(string(out), "peak KiB: ")
	require.True(t, found, "%s", out)
	kib, err := strconv.Atoi(strings.Fields(peak)[0])
	require.NoError(t, err)
	t.Logf("%d connections in %v, peak of memory %d MiB", n, time.Since(begun).Round(time.Millisecond), kib>>10)
	assert.Less(t, kib, 112<<10)
	assert.Less(t, time.Since(begun), 2*time.Minute)
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
