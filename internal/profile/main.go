// Command profile writes the CPU profile by which the compiler optimises kdissect: that of reading
// generated captures in each form of output, most of it as summaries: a call for each frame counts
// there, and too small a share of it would leave calls out of what is worth inlining.
//
//	profile FILE
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/kdissect/kdissect/internal/cli"
	"github.com/kdissect/kdissect/internal/traffic"
)

// work is what is profiled: captures, and how often each is read in which form.
var work = []struct {
	mix  traffic.Mix
	args []string
	runs int
}{
	{traffic.Mix{Bytes: 50 << 20, Records: 1, Connections: 64}, []string{"--workers", "1"}, 120},
	{traffic.Mix{Bytes: 50 << 20, Records: 1, Connections: 64}, nil, 60},
	{traffic.Mix{Bytes: 50 << 20, Records: 50, Connections: 64}, nil, 60},
	{traffic.Mix{Bytes: 50 << 20, Records: 5, Connections: 20_000}, nil, 20},
	{traffic.Mix{Bytes: 25 << 20, Records: 1, Connections: 64}, []string{"--format", "json"}, 30},
	{traffic.Mix{Bytes: 25 << 20, Records: 20, Connections: 64}, []string{"--format", "json"}, 40},
	{traffic.Mix{Bytes: 25 << 20, Records: 1, Connections: 64}, []string{"--format", "tree"}, 15},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: profile FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

// write writes the profile to a file.
func write(name string) error {
	dir, err := os.MkdirTemp("", "kdissect-profile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	captures := make([]string, len(work))
	for i, w := range work {
		captures[i] = filepath.Join(dir, fmt.Sprintf("%d.pcap", i))
		if err := traffic.WriteFile(captures[i], w.mix); err != nil {
			return err
		}
	}
	var profile bytes.Buffer // the file stays as it was where anything fails
	if err := pprof.StartCPUProfile(&profile); err != nil {
		return err
	}
	for i, w := range work {
		args := append(append([]string{"read"}, w.args...), captures[i])
		for range w.runs {
			if status := cli.Main(args, nil, io.Discard, os.Stderr); status != 0 {
				return fmt.Errorf("kdissect %q ended with status %d", args, status)
			}
		}
	}
	pprof.StopCPUProfile()
	return os.WriteFile(name, profile.Bytes(), 0o644)
}
