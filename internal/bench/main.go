// Command bench compares kdissect with the floor, the least that any dissector of a capture has
// to do (read it, decode TCP, put the segments in order, split on Kafka's sizes), and with tcpdump
// and tshark where these are installed.
//
//	bench [-o FILE] [-runs N] KDISSECT
//
// The floor and the generator of captures are those of the folder bench beside the shared corpora
// ($KDISSECT_SHARED, else ../shared); where that is absent, captures of the same kind are made here
// and there is no floor. Programs and captures are built once, in the folder bench of the project.
// Runs alternate; the medians are written to FILE in Markdown, or printed.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/kdissect/kdissect/internal/traffic"
)

// captures are what is measured: large frames and small ones, and what shows how work grows.
var captures = []sample{
	{name: "a", mix: mix(430, 50, 64)},
	{name: "b", mix: mix(100, 1, 64)},
	{name: "b10", mix: mix(1000, 1, 64), only: "grows"},
	{name: "x1", mix: mix(100, 5, 64), only: "grows"},
	{name: "x4", mix: mix(400, 5, 64), only: "grows"},
	{name: "x16", mix: mix(1600, 5, 64), only: "grows"},
	{name: "x0.25", mix: mix(25, 5, 64), only: "grows"},
	{name: "c10", mix: opening(10), only: "connections"},
	{name: "c1000", mix: opening(1000), only: "connections"},
	{name: "c50000", mix: opening(50000), only: "connections"},
	{name: "y10", mix: mix(400, 50, 10), only: "yardstick"},
	{name: "y1000", mix: mix(400, 50, 1000), only: "yardstick"},
	{name: "y50000", mix: mix(400, 50, 50000), only: "yardstick"},
	{name: "z10", mix: mix(100, 1, 10), only: "small frames"},
	{name: "z1000", mix: mix(100, 1, 1000), only: "small frames"},
	{name: "z50000", mix: mix(100, 1, 50000), only: "small frames"},
	{name: "small", mix: mix(10, 1, 64), only: "tshark"},
}

// sample is a generated capture.
type sample struct {
	name string
	mix  traffic.Mix
	only string // the table that it is for; else the main ones
	path string
	size int64
}

// mix returns a mix of MiB of frames, records in a batch and connections.
func mix(mb, records, connections int) traffic.Mix {
	return traffic.Mix{Bytes: mb << 20, Records: records, Connections: connections}
}

// opening returns a mix of so many connections, with the same bytes and packets for up to 50,000.
func opening(connections int) traffic.Mix {
	m := mix(100, 50, connections)
	m.Openings = 50000
	return m
}

// command is a program to be measured.
type command struct {
	name string
	line []string
}

// bench is a run of all.
type bench struct {
	dir, kdissect, floor, gen string // floor and gen are empty where there is no source for them
	runs                      int
	out                       bytes.Buffer
}

func main() {
	out := flag.String("o", "", "file to write; without, stdout")
	runs := flag.Int("runs", 5, "runs of each command")
	flag.Parse()
	if flag.NArg() != 1 || *runs < 1 {
		fmt.Fprintln(os.Stderr, "usage: bench [-o FILE] [-runs N] KDISSECT")
		os.Exit(2)
	}
	b := &bench{kdissect: flag.Arg(0), runs: *runs}
	err := b.run()
	if err == nil {
		if *out == "" {
			_, err = os.Stdout.Write(b.out.Bytes())
		} else {
			err = os.WriteFile(*out, b.out.Bytes(), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run() error {
	if err := b.prepare(); err != nil {
		return err
	}
	return b.report()
}

// prepare builds the programs and makes the captures.
func (b *bench) prepare() error {
	dir, err := filepath.Abs("bench")
	if err != nil {
		return err
	}
	b.dir = dir
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	shared := os.Getenv("KDISSECT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	source := filepath.Join(shared, "bench")
	if _, err := os.Stat(source); err == nil {
		if b.floor, err = build(source, dir, "floor"); err != nil {
			return err
		}
		if b.gen, err = build(source, dir, "gen"); err != nil {
			return err
		}
	}
	for i := range captures {
		if err := b.make(&captures[i]); err != nil {
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

// make makes a capture, unless it is there.
func (b *bench) make(c *sample) error {
	c.path = filepath.Join(b.dir, c.name+".pcap")
	info, err := os.Stat(c.path)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "making %s\n", c.name)
		// Under another name first, so that an interrupted run leaves no half of one.
		part := c.path + ".part"
		if err := b.write(c, part); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := os.Rename(part, c.path); err != nil {
			return err
		}
		info, err = os.Stat(c.path)
	}
	if err == nil {
		c.size = info.Size()
	}
	return err
}

func (b *bench) write(c *sample, path string) error {
	if b.gen != "" && c.mix.Openings == 0 {
		cmd := exec.Command(b.gen, "-mb", strconv.Itoa(c.mix.Bytes>>20), "-nrec", strconv.Itoa(c.mix.Records), "-conns", strconv.Itoa(c.mix.Connections), "-o", path)
		return cmd.Run()
	}
	return traffic.WriteFile(path, c.mix)
}
