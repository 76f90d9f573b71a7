package livetest

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/kdissect/kdissect/internal/livetest/traffic"
)

// broker starts kfake at an address and returns where it listens.
func broker(t *testing.T, addr string) string {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation(),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) {
			return net.Listen(network, addr+":0")
		}))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

// apis counts the exchanges of each API in lines of JSON, and requires both sides of each, but
// for those that the end of the capture cut off.
func apis(t *testing.T, lines string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for line := range strings.Lines(lines) {
		var x struct {
			RequestHeader     struct{ RequestAPIKeyName string }
			Request, Response json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(line), &x), line)
		count[x.RequestHeader.RequestAPIKeyName]++
	}
	return count
}

const nothingLost = "lost: 0 in the kernel, 0 not decoded in time"

// checkSame requires that the exchanges shown live are those of the file kept, and that there are
// as many as the client must have had.
func checkSame(t *testing.T, program string, l *live, file string) map[string]int {
	t.Helper()
	assert.Contains(t, l.stderr.String(), nothingLost)
	assert.Equal(t, read(t, program, "-j", file), l.stdout.String())
	count := apis(t, l.stdout.String())
	assert.GreaterOrEqual(t, count["PRODUCE"], clientBatches)
	assert.NotZero(t, count["FETCH"])
	assert.NotZero(t, count["JOIN_GROUP"])
	assert.NotZero(t, count["OFFSET_COMMIT"])
	return count
}

func TestLoopback(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		file := filepath.Join(t.TempDir(), "kept.pcapng")
		addr := broker(t, "127.0.0.1")
		l := start(t, program, "-i", "lo", "-j", "-w", file)
		require.NoError(t, client(deadline(t), addr, "loopback"))
		require.Equal(t, 0, l.interrupt(), l.stderr.String())
		count := checkSame(t, program, l, file)
		assert.LessOrEqual(t, count["PRODUCE"], clientBatches+2, "each packet once")
	})
}

func TestPair(t *testing.T) {
	for _, iface := range []string{nearName, "any"} {
		t.Run(iface, func(t *testing.T) {
			eachBuild(t, func(t *testing.T, program string) {
				far := newPair(t)
				file := filepath.Join(t.TempDir(), "kept.pcapng")
				addr := broker(t, nearAddr)
				_, port, err := net.SplitHostPort(addr)
				require.NoError(t, err)
				l := start(t, program, "-i", iface, "-j", "-w", file, "--port", port, "--host", nearAddr)
				far.do("client " + addr + " pair")
				require.Equal(t, 0, l.interrupt(), l.stderr.String())
				count := checkSame(t, program, l, file)
				assert.LessOrEqual(t, count["PRODUCE"], clientBatches+2, "each packet once")
				list, err := exec.Command(program, "connections", file).Output()
				require.NoError(t, err)
				assert.NotContains(t, string(list), "gap")
			})
		})
	}
}

// TestSeveralInterfaces watches both ways to a broker at once.
func TestSeveralInterfaces(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		far := newPair(t)
		file := filepath.Join(t.TempDir(), "kept.pcapng")
		addr := broker(t, nearAddr)
		l := start(t, program, "-i", "lo", "-i", nearName, "-j", "-w", file)
		require.NoError(t, client(deadline(t), addr, "near")) // by lo, as the address is the host's own
		far.do("client " + addr + " far")
		require.Equal(t, 0, l.interrupt(), l.stderr.String())
		count := checkSame(t, program, l, file)
		assert.GreaterOrEqual(t, count["PRODUCE"], 2*clientBatches)
	})
}

// TestRate has 20 thousand frames a second, requests and responses together. A machine that is busy
// with something else may have no time for them: one time of three has to be without loss.
func TestRate(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		var trouble string
		for range 3 {
			if trouble = atRate(t, program); trouble == "" {
				return
			}
			t.Log(trouble)
		}
		assert.Fail(t, trouble)
	})
}

// atRate captures what goes over the loopback interface for some seconds, and returns what was lost.
func atRate(t *testing.T, program string) (trouble string) {
	file := filepath.Join(t.TempDir(), "kept.pcapng")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go traffic.Serve(listener)
	l := start(t, program, "-i", "lo", "-w", file)
	load := traffic.Load{Connections: 8, Records: 1, RecordSize: 200, Rate: 10_000, Duration: 4 * time.Second}
	result, err := traffic.Run(deadline(t), listener.Addr().String(), load)
	require.NoError(t, err)
	require.Equal(t, 0, l.interrupt(), l.stderr.String())
	assert.Equal(t, read(t, program, file), l.stdout.String(), "what was captured is shown, also where some was lost")
	t.Logf("%d exchanges in %v; %v user, %v system; %s", result.Requests, result.Took,
		l.cmd.ProcessState.UserTime(), l.cmd.ProcessState.SystemTime(), l.stderr.String())
	switch shown := strings.Count(l.stdout.String(), " ok  "); {
	case result.Took > 5*time.Second:
		return "the traffic was slower than asked for: " + result.Took.String()
	case !strings.Contains(l.stderr.String(), nothingLost):
		return l.stderr.String()
	case shown != result.Requests:
		return fmt.Sprintf("%d exchanges, of which %d are shown", result.Requests, shown)
	}
	return ""
}

func TestVanishedInterface(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		newPair(t)
		l := start(t, program, "-i", nearName)
		ip(t, "link del "+nearName)
		assert.Equal(t, 1, l.wait(time.Minute))
		assert.Contains(t, l.stderr.String(), "interface "+nearName+" has vanished")
	})
}

func TestWrongFilter(t *testing.T) {
	for build, want := range map[string]string{
		"libpcap": "syntax error",
		"ring":    "go build -tags libpcap",
	} {
		program := binaries[build]
		if program == "" {
			continue
		}
		l := begin(t, exec.Command(program, "live", "-i", "lo", "--filter", "tcp prot 9092"))
		assert.Equal(t, 2, l.wait(time.Minute), build)
		assert.Contains(t, l.stderr.String(), want, build)
	}
}

func TestFilter(t *testing.T) {
	program := binaries["libpcap"]
	if program == "" {
		t.Skip("libpcap's headers are not here")
	}
	addr := broker(t, "127.0.0.1")
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	for filter, want := range map[string]bool{"tcp port " + port: true, "tcp port 1": false} {
		l := start(t, program, "-i", "lo", "--filter", filter)
		require.NoError(t, client(deadline(t), addr, "filter"))
		require.Equal(t, 0, l.interrupt(), l.stderr.String())
		assert.Equal(t, want, l.stdout.Len() > 0, filter)
	}
}

func TestNoRight(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		for _, iface := range []string{"lo", "any"} {
			cmd := exec.Command(program, "live", "-i", iface)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			l := begin(t, cmd)
			assert.Equal(t, 1, l.wait(time.Minute))
			assert.Contains(t, l.stderr.String(), "sudo setcap cap_net_raw,cap_net_admin+eip "+program)
		}
	})
}

func TestNoSuchInterface(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		l := begin(t, exec.Command(program, "live", "-i", "nowhere0"))
		assert.Equal(t, 1, l.wait(time.Minute))
		assert.Contains(t, l.stderr.String(), "interface nowhere0: ")
	})
}

// TestUser gives up root, for the user named or for the one behind sudo.
func TestUser(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		addr := broker(t, "127.0.0.1")
		for name, cmd := range map[string]*exec.Cmd{
			"named": exec.Command(program, "live", "-i", "lo", "--user", "nobody"),
			"sudo":  exec.Command(program, "live", "-i", "lo"),
		} {
			dir, err := os.MkdirTemp("", "kdissect-user")
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			require.NoError(t, os.Chown(dir, 65534, 65534))
			cmd.Args = append(cmd.Args, "-w", filepath.Join(dir, "kept.pcapng"))
			if name == "sudo" {
				cmd.Env = append(os.Environ(), "SUDO_UID=65534")
			}
			l := begin(t, cmd)
			time.Sleep(500 * time.Millisecond)
			require.NoError(t, client(deadline(t), addr, "user"))
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			require.NoError(t, err)
			assert.Contains(t, string(status), "Uid:\t65534\t65534\t65534\t65534", name)
			assert.Regexp(t, `CapEff:\t0+\n`, string(status), name)
			require.Equal(t, 0, l.interrupt(), l.stderr.String())
			assert.NotZero(t, l.stdout.Len(), name)
			info, err := os.Stat(filepath.Join(dir, "kept.pcapng"))
			require.NoError(t, err)
			assert.Equal(t, uint32(65534), info.Sys().(*syscall.Stat_t).Uid, name)
		}
	})
}

// TestEnds has live end by itself, and rotates its files.
func TestEnds(t *testing.T) {
	eachBuild(t, func(t *testing.T, program string) {
		addr := broker(t, "127.0.0.1")
		dir := t.TempDir()
		l := start(t, program, "-i", "lo", "--duration", "3s", "--report-every", "1s",
			"-w", filepath.Join(dir, "kept.pcapng"), "--rotate", "64KiB", "--keep", "2")
		require.NoError(t, client(deadline(t), addr, "ends"))
		assert.Equal(t, 0, l.wait(time.Minute))
		assert.Contains(t, l.stderr.String(), "kdissect: so far ")
		assert.Contains(t, l.stderr.String(), "kdissect: captured ")
		files, err := filepath.Glob(filepath.Join(dir, "kept-*.pcapng"))
		require.NoError(t, err)
		require.Len(t, files, 2)
		assert.NotContains(t, files[0], "00001")
		assert.NotEmpty(t, read(t, program, files...))

		l = start(t, program, "-i", "lo", "-n", "3")
		require.NoError(t, client(deadline(t), addr, "ends"))
		assert.Equal(t, 0, l.wait(time.Minute))
		assert.Equal(t, 3, strings.Count(l.stdout.String(), "\n"))
	})
}
