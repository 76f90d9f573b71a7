package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
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
	for _, pattern := range []string{
		"broker/x-drop3*", "broker/i-tls12*", "broker/h-sasl*", "clients/*share*", "clients/*txn*", "clients/*tls*",
	} {
		files := corpus.Files(t, "captures", "lab", pattern)
		for i, file := range files {
			if i < 3 && (strings.Contains(file, ".pcap")) {
				t.Run(filepath.Base(file), func(t *testing.T) { workersMakeNoDifference(t, file) })
			}
		}
	}
}

func workersMakeNoDifference(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, command := range workerCommands {
		want, wantErr, wantStatus := runMain(t, append(command, "--workers", "1", file)...)
		for _, workers := range []string{"2", "4", "7"} {
			got, gotErr, status := runMain(t, append(command, "--workers", workers, file)...)
			require.Equal(t, want, got, "%v, %s workers", command, workers)
			assert.Equal(t, wantErr, gotErr, "%v, %s workers", command, workers)
			assert.Equal(t, wantStatus, status, "%v, %s workers", command, workers)
		}
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
