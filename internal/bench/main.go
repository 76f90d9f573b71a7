// Command bench compares kdissect with the floor: the least that any dissector of a capture has
// to do (read it, decode TCP, put the segments in order, split on Kafka's sizes).
//
//	bench KDISSECT
//
// The yardstick's programs are those of the folder bench beside the shared corpora
// ($KDISSECT_SHARED, else ../shared). Programs and captures are built once, in the folder bench
// of the project. Runs alternate; the medians are printed.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// runs is how often each program is measured.
const runs = 5

// captures are what the yardstick generates: large frames and small ones.
var captures = []struct {
	name string
	args []string
}{
	{"a.pcap", []string{"-mb", "430"}},
	{"b.pcap", []string{"-mb", "100", "-nrec", "1"}},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bench KDISSECT")
		os.Exit(2)
	}
	if err := bench(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(kdissect string) error {
	shared := os.Getenv("KDISSECT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	source := filepath.Join(shared, "bench")
	if _, err := os.Stat(source); err != nil {
		fmt.Printf("the yardstick is not here (%v): nothing measured\n", err)
		return nil
	}
	dir, err := filepath.Abs("bench")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	floor, err := build(source, dir, "floor")
	if err != nil {
		return err
	}
	gen, err := build(source, dir, "gen")
	if err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d CPUs, %s, median of %d runs\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs)
	for _, c := range captures {
		file := filepath.Join(dir, c.name)
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "making %s\n", c.name)
			// Under another name first, so that an interrupted run leaves no half of one.
			made := exec.Command(gen, append(c.args, "-o", file+".part")...)
			made.Stderr = os.Stderr
			if err := made.Run(); err != nil {
				return fmt.Errorf("gen: %w", err)
			}
			if err := os.Rename(file+".part", file); err != nil {
				return err
			}
		}
		if err := compare(file, floor, kdissect); err != nil {
			return err
		}
	}
	return nil
}

// build builds one of the yardstick's programs into dir and returns its path.
func build(source, dir, name string) (string, error) {
	out := filepath.Join(dir, name)
	if runtime.GOOS == "windows" {
		out += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", out, "./"+name)
	cmd.Dir, cmd.Stderr = source, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return out, nil
}

// measure is what one run took.
type measure struct {
	wall time.Duration
	rss  int64 // bytes at most resident; 0 where the system does not tell
}

// compare measures the programs on a capture and prints their medians.
func compare(file, floor, kdissect string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	commands := []struct {
		name string
		line []string
	}{
		{"floor", []string{floor, file}},
		{"read", []string{kdissect, "read", file}},
		{"read --format json", []string{kdissect, "read", "--format", "json", file}},
		{"read --format tree", []string{kdissect, "read", "--format", "tree", file}},
	}
	results := make([][]measure, len(commands))
	for range runs {
		for i, c := range commands {
			m, err := run(c.line)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			results[i] = append(results[i], m)
		}
	}
	fmt.Printf("\n%s, %d MB\n%-20s %9s %9s %9s %9s\n", filepath.Base(file), info.Size()/1e6, "", "seconds", "x floor", "MB/s", "MiB rss")
	base := median(results[0]).wall
	for i, c := range commands {
		m := median(results[i])
		fmt.Printf("%-20s %9.3f %9.2f %9.0f %9.1f\n", c.name, m.wall.Seconds(), m.wall.Seconds()/base.Seconds(),
			float64(info.Size())/1e6/m.wall.Seconds(), float64(m.rss)/(1<<20))
	}
	return nil
}

// run runs a program to its end, its output thrown away.
func run(line []string) (measure, error) {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdout = nil // the null device, without a pipe of ours
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return measure{}, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return measure{}, err
	}
	said, _ := io.ReadAll(stderr)
	err = cmd.Wait()
	took := time.Since(start)
	if err != nil {
		return measure{}, fmt.Errorf("%w: %s", err, said)
	}
	return measure{took, maxRSS(cmd.ProcessState)}, nil
}

// median returns the medians of time and memory.
func median(ms []measure) measure {
	var walls []time.Duration
	var sizes []int64
	for _, m := range ms {
		walls, sizes = append(walls, m.wall), append(sizes, m.rss)
	}
	slices.Sort(walls)
	slices.Sort(sizes)
	return measure{walls[len(walls)/2], sizes[len(sizes)/2]}
}
