package livetest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The test's own process is started again in three roles.
const (
	roleVariable = "KDISSECT_LIVETEST"
	roleTests    = "tests"  // in a network namespace of its own
	roleRemote   = "remote" // in another one, behind the end of a pair of interfaces
)

// The pair: near is the tests' end, remote the other one's.
const (
	nearName, remoteName = "kd0", "kd1"
	nearAddr, remoteAddr = "10.77.0.1", "10.77.0.2"
)

var binaries map[string]string // by build; only those that could be built

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case roleTests:
		os.Exit(inside(m))
	case roleRemote:
		os.Exit(remote())
	}
	why := ""
	if os.Getuid() != 0 {
		why = "not root"
	} else if _, err := exec.LookPath("ip"); err != nil {
		why = "no ip(8)"
	}
	if why != "" {
		fmt.Println("skipped: live capture cannot be tested here:", why)
		return
	}
	if err := fetchBroker(); err != nil {
		fmt.Println("the broker cannot be started:", err)
		os.Exit(1)
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"="+roleTests)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := cmd.Run(); err != nil {
		if cmd.ProcessState == nil {
			fmt.Println("skipped: no network namespace can be made here:", err)
			return
		}
		os.Exit(1)
	}
}

// inside builds both programs and runs the tests.
func inside(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kdissect-live")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // one test runs the program as nobody
		fmt.Println(err)
		return 1
	}
	binaries = map[string]string{}
	for build, args := range map[string][]string{"ring": nil, "libpcap": {"-tags", "libpcap"}} {
		name := filepath.Join(dir, "kdissect-"+build)
		cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", name}, args...), "./cmd/kdissect")...)
		cmd.Dir = filepath.Join("..", "..")
		if out, err := cmd.CombinedOutput(); err != nil {
			if build == "libpcap" && bytes.Contains(out, []byte("pcap.h")) {
				fmt.Println("libpcap's headers are not here: that build is not tested")
				continue
			}
			fmt.Printf("build %s: %v\n%s", build, err, out)
			return 1
		}
		binaries[build] = name
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		fmt.Printf("lo: %v: %s", err, out)
		return 1
	}
	return m.Run()
}

// eachBuild runs a test for each build.
func eachBuild(t *testing.T, test func(t *testing.T, program string)) {
	for build, program := range binaries {
		t.Run(build, func(t *testing.T) { test(t, program) })
	}
}

func ip(t *testing.T, args string) {
	t.Helper()
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	require.NoError(t, err, "ip %s: %s", args, out)
}

// live is a running `kdissect live`.
type live struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan error
}

// start starts `kdissect live` and waits until it captures.
func start(t *testing.T, program string, args ...string) *live {
	t.Helper()
	l := begin(t, exec.Command(program, append([]string{"live"}, args...)...))
	// It is ready once its sockets are open and its own threads run: nothing tells that from outside
	// but the kernel's list of packet sockets.
	require.Eventually(t, func() bool {
		select {
		case err := <-l.ended:
			l.ended <- err
			return true
		default:
		}
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/packet", l.cmd.Process.Pid))
		if err != nil {
			return false
		}
		running := 0
		for _, line := range strings.Split(string(list), "\n")[1:] {
			if fields := strings.Fields(line); len(fields) > 5 && fields[5] == "1" {
				running++
			}
		}
		return running > 0
	}, time.Minute, 10*time.Millisecond)
	time.Sleep(200 * time.Millisecond)
	return l
}

func begin(t *testing.T, cmd *exec.Cmd) *live {
	t.Helper()
	l := &live{t: t, cmd: cmd, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &l.stdout, &l.stderr
	require.NoError(t, cmd.Start())
	go func() { l.ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return l
}

// interrupt ends it as Ctrl-C does, and returns its exit status.
func (l *live) interrupt() int {
	l.t.Helper()
	time.Sleep(300 * time.Millisecond) // what was sent last is on its way
	require.NoError(l.t, l.cmd.Process.Signal(os.Interrupt), "stderr: %s", &l.stderr)
	return l.wait(time.Minute)
}

// wait waits for the end and returns the exit status.
func (l *live) wait(limit time.Duration) int {
	l.t.Helper()
	select {
	case <-l.ended:
	case <-time.After(limit):
		require.Fail(l.t, "kdissect live did not end", "stderr: %s", l.stderr.String())
	}
	return l.cmd.ProcessState.ExitCode()
}

// read runs `kdissect read`.
func read(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, append([]string{"read"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return string(out)
}

// deadline returns a context that ends before the test's time is up.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
