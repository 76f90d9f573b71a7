package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/internal/traffic"
)

// workerCommands are what must not depend on the number of workers.
var workerCommands = [][]string{
	{"read"},
	{"read", "--strict"},
	{"read", "--format", "json"},
	{"read", "--format", "json", "--plain"},
	{"read", "--format", "tree", "--packets"},
	{"read", "-n", "7", "--format", "json"},
	{"read", "--errors", "--format", "json"},
	{"connections", "--digest", "--format", "json"},
}

// TestWorkersMakeNoDifference holds the output of several workers, and of stdin, to that of one.
func TestWorkersMakeNoDifference(t *testing.T) {
	for _, file := range captures(t) {
		t.Run(filepath.Base(file), func(t *testing.T) { workersMakeNoDifference(t, file) })
	}
}

// TestWorkersMakeNoDifferenceInTheCorpus does the same with captures of many connections, of loss
// and of encryption.
func TestWorkersMakeNoDifferenceInTheCorpus(t *testing.T) {
	for _, file := range manifold(t) {
		t.Run(filepath.Base(file), func(t *testing.T) { workersMakeNoDifference(t, file) })
	}
}

// manifold returns captures of the corpus that are hard on workers.
func manifold(t *testing.T) (files []string) {
	for _, pattern := range []string{
		"broker/x-drop3*", "broker/i-tls12*", "broker/h-sasl*", "clients/*share*", "clients/*txn*", "clients/*tls*",
	} {
		for i, file := range corpus.Files(t, "captures", "lab", pattern) {
			if i < 3 && (strings.Contains(file, ".pcap")) {
				files = append(files, file)
			}
		}
	}
	return files
}

// TestWorkersMakeNoDifferenceLater does the same behind as many packets as have each see what all
// others have shown: from there on workers go on by themselves, and exchanges wait for each other.
func TestWorkersMakeNoDifferenceLater(t *testing.T) {
	later(t, captures(t))
}

func TestWorkersMakeNoDifferenceLaterInTheCorpus(t *testing.T) {
	later(t, manifold(t))
}

func later(t *testing.T, files []string) {
	before := newHostile(t, func(h *hostile) { h.empty(exactPackets) })
	for _, file := range files {
		for _, command := range workerCommands {
			sameForWorkers(t, command, before, file)
		}
	}
}

// TestRemarksAmongExchangesForAnyWorkers has connections end that could not be decrypted while
// exchanges of others wait to be shown.
func TestRemarksAmongExchangesForAnyWorkers(t *testing.T) {
	file := newHostile(t, func(h *hostile) {
		h.empty(exactPackets)
		var plain []*conversation
		for n := range 6 {
			plain = append(plain, converse(h, n, 100))
		}
		for n := range 40 {
			for _, c := range plain {
				c.good()
			}
			c := converse(h, 100+n, 100)
			c.send(true, []byte{22, 3, 1, 0, 4, 1, 0, 0, 0}) // a ClientHello cut short
			c.close()
		}
	})
	sameForWorkers(t, []string{"read"}, file)
	_, stderr, _ := runMain(t, "read", file)
	assert.Contains(t, stderr, "TLS connection")
}

// TestManyConnectionsForAnyWorkers has so many that two workers look ahead.
func TestManyConnectionsForAnyWorkers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "many.pcap")
	require.NoError(t, traffic.WriteFile(file, traffic.Mix{Bytes: 8 << 20, Records: 1, Connections: 9000}))
	out := sameForWorkers(t, []string{"read"}, file)
	assert.Greater(t, strings.Count(out, "\n"), 9000)
}

// sameForWorkers holds what a command makes of files with several workers to that with one.
func sameForWorkers(t *testing.T, command []string, files ...string) (want string) {
	t.Helper()
	run := func(workers string) (stdout, stderr string, status int) {
		return runMain(t, slices.Concat(command, []string{"--workers", workers}, files)...)
	}
	want, wantErr, wantStatus := run("1")
	for _, workers := range []string{"2", "4", "7"} {
		got, gotErr, status := run(workers)
		require.Equal(t, want, got, "%v, %s workers, %v", command, workers, files)
		assert.Equal(t, wantErr, gotErr, "%v, %s workers, %v", command, workers, files)
		assert.Equal(t, wantStatus, status, "%v, %s workers, %v", command, workers, files)
	}
	return want
}

func workersMakeNoDifference(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, command := range workerCommands {
		want := sameForWorkers(t, command, file)
		for _, workers := range []string{"1", "4"} {
			var stdout, stderr bytes.Buffer
			Main(append(command, "--workers", workers, "-"), bytes.NewReader(content), &stdout, &stderr)
			require.Equal(t, want, stdout.String(), "%v, stdin, %s workers", command, workers)
		}
	}
}

// What workers may hold of frames they share, so that a large frame is whole however many they are.
func TestLargeFramesAreWholeForAnyWorkers(t *testing.T) {
	file := newHostile(t, func(h *hostile) { one(produced(recordOf(make([]byte, 40<<20)), 1))(t, h) })
	want, _, status := runMain(t, "read", "--strict", "--workers", "1", file)
	require.Zero(t, status)
	got, stderr, _ := runMain(t, "read", "--strict", "--workers", "7", file)
	assert.Equal(t, want, got)
	assert.Empty(t, stderr)
}
