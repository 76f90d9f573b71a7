package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/fuzzing"
)

// readings are ways to show a capture.
var readings = [][]string{
	{"read", "-j", "-"},
	{"read", "-j", "--plain", "--show-secrets", "-"},
	{"read", "-tx", "--full", "--packets", "-"},
	{"read", "--full", "-"},
	{"read", "-j", "--workers", "2", "--where", `error != "" || api == "FETCH"`, "-"},
	{"connections", "--digest", "--format", "json", "-"},
	{"records", "-"},
}

// FuzzRead runs the whole program over anything that comes as a capture: it ends, without a fault
// of ours, JSON is JSON, and memory is bounded by the input.
func FuzzRead(f *testing.F) {
	for _, file := range fuzzing.Captures(f) {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		for how := range readings {
			f.Add(data, byte(how))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, how byte) {
		if len(data) > 1<<18 {
			return
		}
		// Batches that decompress to much would hide what is allocated by untrusted counts.
		args := append(slices.Clip(readings[int(how)%len(readings)]), "--max-decompressed", "64KiB")
		var stdout, stderr bytes.Buffer
		var status int
		allocated := fuzzing.Allocated(func() { status = Main(args, bytes.NewReader(data), &stdout, &stderr) })
		require.Contains(t, []int{exitDone, exitFailed}, status, stderr.String())
		require.NotContains(t, stderr.String(), "in kdissect itself")
		require.Less(t, allocated, uint64(24<<20+4096*len(data)))
		if args[1] == "-j" || args[0] == "connections" {
			for line := range bytes.Lines(stdout.Bytes()) {
				require.True(t, json.Valid(line), "%q", line)
			}
		}
	})
}
