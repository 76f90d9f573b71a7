// Command cost measures what `kdissect live` costs a host: it sends Produce requests through the
// loopback interface at several rates, with and without kdissect watching, and prints the CPU time
// of both sides as a share of one core.
//
//	cost PROGRAM [TCPDUMP]
//
// It needs root, and is best run in a network namespace of its own, where nothing else goes on.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/kdissect/kdissect/internal/livetest/traffic"
)

const (
	duration = 8 * time.Second
	roleName = "KDISSECT_COST_RATE" // megabytes a second, in the process that makes the traffic
	records  = 64
	size     = 1000
	port     = "127.0.0.1:29092"
)

func main() {
	if rate := os.Getenv(roleName); rate != "" {
		if err := send(rate); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: cost PROGRAM [TCPDUMP]")
		os.Exit(2)
	}
	if err := measure(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// send makes the traffic: client and server in one process.
func send(megabytes string) error {
	var rate float64
	if _, err := fmt.Sscan(megabytes, &rate); err != nil {
		return err
	}
	l, err := net.Listen("tcp", port)
	if err != nil {
		return err
	}
	go traffic.Serve(l)
	load := traffic.Load{Connections: 4, Records: records, RecordSize: size,
		Rate: int(rate * 1e6 / (records * (size + 8))), Duration: duration}
	r, err := traffic.Run(context.Background(), l.Addr().String(), load)
	if err == nil {
		fmt.Printf("%.0f MB/s, %d requests in %v", float64(r.Bytes)/r.Took.Seconds()/1e6, r.Requests, r.Took.Round(time.Millisecond))
	}
	return err
}

func measure(program string, tcpdump []string) error {
	kept := filepath.Join(os.TempDir(), fmt.Sprintf("cost-%d.pcapng", os.Getpid()))
	defer os.Remove(kept)
	live := []string{program, "live", "-i", "lo", "--port", "29092"}
	watchers := []struct {
		name string
		line []string
	}{
		{"nobody", nil},
		{"lines", live},
		{"JSON", append(live[:len(live):len(live)], "-j")},
		{"lines, -w", append(live[:len(live):len(live)], "-w", kept)},
	}
	for _, t := range tcpdump {
		watchers = append(watchers, struct {
			name string
			line []string
		}{"tcpdump -w", []string{t, "-i", "lo", "-w", kept, "port", "29092"}})
	}
	fmt.Println("asked for | watched by | watcher's CPU | client's and server's CPU | traffic | watcher says")
	for _, rate := range []string{"10", "100", "300"} {
		for _, w := range watchers {
			if err := one(rate, w.name, w.line); err != nil {
				return fmt.Errorf("%s MB/s, %s: %w", rate, w.name, err)
			}
		}
	}
	return nil
}

var losses = regexp.MustCompile(`lost: .*|\d+ packets dropped by kernel`)

// one measures one rate with one watcher.
func one(rate, name string, line []string) error {
	var watcher *exec.Cmd
	var said bytes.Buffer
	if line != nil {
		watcher = exec.Command(line[0], line[1:]...)
		watcher.Stderr = &said
		if err := watcher.Start(); err != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	sender := exec.Command(self)
	sender.Env = append(os.Environ(), roleName+"="+rate)
	sender.Stderr = os.Stderr
	out, err := sender.Output()
	if err != nil {
		return err
	}
	share := func(s *os.ProcessState) float64 {
		return 100 * (s.UserTime() + s.SystemTime()).Seconds() / duration.Seconds()
	}
	watched := 0.0
	if watcher != nil {
		time.Sleep(300 * time.Millisecond)
		if err := watcher.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		_ = watcher.Wait()
		watched = share(watcher.ProcessState)
	}
	fmt.Printf("%s MB/s | %s | %.1f %% | %.1f %% | %s | %s\n", rate, name, watched, share(sender.ProcessState), out, losses.FindString(said.String()))
	return nil
}
