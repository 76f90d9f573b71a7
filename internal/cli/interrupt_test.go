//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watched is a buffer that tells when something was written.
type watched struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	wrote chan struct{}
}

func newWatched() *watched { return &watched{wrote: make(chan struct{}, 1)} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.wrote <- struct{}{}:
	default:
	}
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// TestInterrupt reads from a pipe that stays open: lines appear as their packets arrive, and an
// interrupt ends the command with what is complete.
func TestInterrupt(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("..", "..", "testdata", "pcaps", "consumer-group-describe.pcap"))
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join("..", "..", "testdata", "pcaps", "consumer-group-describe.summary.txt"))
	require.NoError(t, err)
	stdin, feed, err := os.Pipe()
	require.NoError(t, err)
	defer stdin.Close()
	defer feed.Close()
	stdout, stderr, ended := newWatched(), newWatched(), make(chan int, 1)
	go func() { ended <- Main([]string{"read", "-"}, stdin, stdout, stderr) }()

	// A pipe holds 64 KiB on Linux, 16 KiB elsewhere.
	_, err = feed.Write(whole[:12_000])
	require.NoError(t, err)
	select {
	case <-stdout.wrote:
	case <-time.After(time.Minute):
		require.Fail(t, "no line appeared while the pipe was open")
	}
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	select {
	case status := <-ended:
		assert.Equal(t, exitFailed, status)
	case <-time.After(time.Minute):
		require.Fail(t, "the interrupt did not end the command")
	}
	assert.Regexp(t, `^kdissect read: interrupted after \d+ packets; what was complete is shown\n$`, stderr.String())
	got := stdout.String()
	assert.True(t, strings.HasSuffix(got, "\n"), "whole lines")
	first, _, _ := strings.Cut(string(want), "\n")
	assert.True(t, strings.HasPrefix(got, first+"\n"), "the first line: %s", got)
}

// TestBrokenPipe writes to a reader that has gone away.
func TestBrokenPipe(t *testing.T) {
	gone, stdout, err := os.Pipe()
	require.NoError(t, err)
	defer stdout.Close()
	require.NoError(t, gone.Close())
	stderr := newWatched()
	file := filepath.Join("..", "..", "testdata", "pcaps", "consumer-group-describe.pcap")
	for _, args := range [][]string{{"read", "-t", file}, {"read", "-j", file}, {"read", file}, {"connections", file}, {"apis"}, {"help"}} {
		assert.Equal(t, exitDone, Main(args, os.Stdin, stdout, stderr), args)
		assert.Empty(t, stderr.String(), args)
	}
}
