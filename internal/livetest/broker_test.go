package livetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brokerTools returns the folder of the tools that start a broker and compare its request log,
// or why they cannot be used.
func brokerTools() (dir, missing string) {
	shared := os.Getenv("KDISSECT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	shared, err := filepath.Abs(shared)
	if err != nil {
		return "", err.Error()
	}
	dir = filepath.Join(shared, "tools")
	if _, err := os.Stat(filepath.Join(dir, "broker", "start.sh")); err != nil {
		return "", "corpus not found: set KDISSECT_SHARED"
	}
	for _, program := range []string{"java", "mvn", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", "no " + program
		}
	}
	return dir, ""
}

// fetchBroker has the broker's jars downloaded, which cannot be done from inside the namespace:
// by starting it once.
func fetchBroker() error {
	tools, missing := brokerTools()
	cache, err := os.UserCacheDir()
	if missing != "" || err != nil {
		return nil // the test says so
	}
	if jars, _ := filepath.Glob(filepath.Join(cache, "kdissect-kafka", "*", ".complete")); jars != nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "kdissect-broker")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := exec.Command(filepath.Join(tools, "broker", "start.sh"), dir, "39092").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return exec.Command(filepath.Join(tools, "broker", "stop.sh"), dir).Run()
}

// TestRealBroker compares what was captured with the broker's own log of the same requests.
func TestRealBroker(t *testing.T) {
	tools, missing := brokerTools()
	if missing != "" {
		t.Skip(missing)
	}
	dir := t.TempDir()
	out, err := exec.Command(filepath.Join(tools, "broker", "start.sh"), dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	defer func() { _ = exec.Command(filepath.Join(tools, "broker", "stop.sh"), dir).Run() }()
	const addr = "127.0.0.1:19092"
	require.NoError(t, client(deadline(t), addr, "before")) // makes the internal topics
	log := filepath.Join(dir, "requests.ndjson")

	eachBuild(t, func(t *testing.T, program string) {
		seen := len(settled(t, log, addr)) // also what the client before left in flight
		kept := filepath.Join(t.TempDir(), "kept.pcapng")
		l := start(t, program, "-i", "lo", "--port", "19092", "-j", "-w", kept)
		require.NoError(t, client(deadline(t), addr, "real-"+filepath.Base(program)))
		lines := settled(t, log, addr)[seen:]
		require.Equal(t, 0, l.interrupt(), l.stderr.String())
		assert.Contains(t, l.stderr.String(), nothingLost)
		assert.Equal(t, read(t, program, "-j", kept), l.stdout.String())

		require.Greater(t, len(lines), clientBatches)
		part := filepath.Join(t.TempDir(), "requests.ndjson")
		require.NoError(t, os.WriteFile(part, []byte(strings.Join(lines, "")), 0o666))
		out, err := exec.Command("python3", filepath.Join(tools, "compare_requestlog.py"), "--kdissect", program, kept, part).CombinedOutput()
		assert.NoError(t, err, "%s", out)
		t.Logf("%s", out)
	})
}

// settled returns the lines of a request log about one listener, once there are no new ones for a
// while.
func settled(t *testing.T, name, listener string) []string {
	t.Helper()
	for before := -1; ; time.Sleep(2 * time.Second) {
		lines := logged(t, name, listener)
		if len(lines) == before {
			return lines
		}
		before = len(lines)
	}
}

// logged returns the lines of a request log about one listener.
func logged(t *testing.T, name, listener string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"connection":"`+listener+`-`) {
			lines = append(lines, line)
		}
	}
	return lines
}
