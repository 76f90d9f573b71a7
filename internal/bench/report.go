package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// formats are the ways of showing that are measured.
var formats = []struct {
	name string
	args []string
}{
	{"read (summary)", []string{"read"}},
	{"read --format json", []string{"read", "--format", "json"}},
	{"read --format tree", []string{"read", "--format", "tree"}},
}

// printf adds to what is reported.
func (b *bench) printf(format string, args ...any) { fmt.Fprintf(&b.out, format, args...) }

func (b *bench) report() error {
	b.printf("# Speed and memory\n\n%s\n\n", machine())
	b.printf("Written by `make bench`: medians of %d runs each, the programs taking turns; output goes to the null device. "+
		"`x floor` is the median of the ratios to the floor, pair by pair. CPU is user and system time. "+
		"`least` is the fastest run: what others on the machine have added is not in it.\n", b.runs)
	for i := range captures {
		if c := &captures[i]; c.only == "" {
			if err := b.compare(c); err != nil {
				return err
			}
		}
	}
	if err := b.growth("grows", "The same mix, 1, 4, 16 times and a quarter as much, and ten times the capture b", "x1", b.runs); err != nil {
		return err
	}
	if err := b.growth("connections", "The same bytes and packets on 10, 1,000 and 50,000 connections", "c10", 3*b.runs); err != nil {
		return err
	}
	if err := b.growth("yardstick", "As the yardstick makes it for 10, 1,000 and 50,000 connections, with three packets more for each", "y10", 2*b.runs); err != nil {
		return err
	}
	if err := b.growth("small frames", "The same with small frames, each on another connection than the one before", "z10", 2*b.runs); err != nil {
		return err
	}
	return b.tshark()
}

// compare measures the floor, kdissect and tcpdump on a capture.
func (b *bench) compare(c *sample) error {
	var commands []command
	if b.floor != "" {
		commands = append(commands, command{"floor", []string{b.floor, c.path}})
	}
	for _, f := range formats {
		commands = append(commands, command{f.name, append(append([]string{b.kdissect}, f.args...), c.path)})
	}
	if path, err := exec.LookPath("tcpdump"); err == nil {
		commands = append(commands, command{"tcpdump -w /dev/null", []string{path, "-r", c.path, "-w", "/dev/null"}})
	}
	results, err := alternate(commands, b.runs)
	if err != nil {
		return err
	}
	frames, err := b.frames(c)
	if err != nil {
		return err
	}
	b.printf("\n## %s: %d MB, %d frames\n\n", c.name, c.size/1e6, frames)
	b.printf("| | seconds | CPU seconds | x floor | MB/s | frames/s | MiB resident | seconds, least | x floor, least |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for i, x := range commands {
		m, least := results[i].median(), results[i].least().wall.Seconds()
		ratio, ratioOfLeast := "-", "-"
		if b.floor != "" {
			ratio = fmt.Sprintf("%.2f", results[i].ratio(results[0]))
			ratioOfLeast = fmt.Sprintf("%.2f", least/results[0].least().wall.Seconds())
		}
		s := m.wall.Seconds()
		b.printf("| %s | %.3f | %.3f | %s | %.0f | %.0f | %.1f | %.3f | %s |\n", x.name, s, m.cpu.Seconds(), ratio,
			float64(c.size)/1e6/s, float64(frames)/s, float64(m.rss)/(1<<20), least, ratioOfLeast)
	}
	return nil
}

// frames counts the Kafka frames of a capture: two for each exchange.
func (b *bench) frames(c *sample) (int64, error) {
	cmd := exec.Command(b.kdissect, "read", c.path)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines, err := countLines(pipe)
	if err != nil {
		return 0, err
	}
	return 2 * lines, cmd.Wait()
}

// startUp measures what kdissect takes for a capture without packets.
func (b *bench) startUp() (measure, error) {
	empty := filepath.Join(b.dir, "empty.pcap")
	if err := os.WriteFile(empty, []byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x01\x00\x00\x00"), 0o666); err != nil {
		return measure{}, err
	}
	results, err := alternate([]command{{"read", []string{b.kdissect, "read", empty}}}, max(b.runs, 5))
	if err != nil {
		return measure{}, err
	}
	return results[0].least(), nil
}

// growth measures how the work grows, by the least CPU time for each packet behind the start. All
// commands take turns on all captures of a table.
func (b *bench) growth(table, title, base string, runs int) error {
	start, err := b.startUp()
	if err != nil {
		return err
	}
	b.printf("\n## %s\n\nMedians of %d runs. CPU of a packet is by the least, without the %.3f seconds that a capture without packets takes.\n\n"+
		"| capture | connections | MB | packets | | seconds | CPU seconds | CPU seconds, least | CPU of a packet, to that of %s | MiB resident |\n|---|---:|---:|---:|---|---:|---:|---:|---:|---:|\n",
		title, runs, start.cpu.Seconds(), base)
	var grown []*sample
	var commands []command
	for i := range captures {
		c := &captures[i]
		if c.only != table {
			continue
		}
		grown = append(grown, c)
		for _, f := range formats[:2] {
			commands = append(commands, command{f.name, append(append([]string{b.kdissect}, f.args...), c.path)})
		}
		if b.floor != "" {
			commands = append(commands, command{"floor", []string{b.floor, c.path}})
		}
	}
	results, err := alternate(commands, runs)
	if err != nil {
		return err
	}
	each := make([]float64, len(commands)) // seconds for a packet
	first := map[string]float64{}          // of base, by command
	baseRecords := 0
	packets := make([]int64, len(grown))
	perCapture := len(commands) / len(grown)
	for i, x := range commands {
		c := grown[i/perCapture]
		if i%perCapture == 0 {
			if packets[i/perCapture], err = countPackets(c.path); err != nil {
				return err
			}
		}
		cpu := results[i].least().cpu
		if x.name != "floor" {
			cpu -= start.cpu
		}
		each[i] = cpu.Seconds() / float64(packets[i/perCapture])
		if c.name == base {
			first[x.name], baseRecords = each[i], c.mix.Records
		}
	}
	for i, x := range commands {
		c, m, ratio := grown[i/perCapture], results[i].median(), "-"
		if c.mix.Records == baseRecords { // else it is other traffic
			ratio = fmt.Sprintf("%.2f", each[i]/first[x.name])
		}
		b.printf("| %s | %d | %d | %d | %s | %.3f | %.3f | %.3f | %s | %.1f |\n", c.name, c.mix.Connections, c.size/1e6, packets[i/perCapture],
			x.name, m.wall.Seconds(), m.cpu.Seconds(), results[i].least().cpu.Seconds(), ratio, float64(m.rss)/(1<<20))
	}
	return nil
}

// tshark measures tshark, where it is installed, on a small capture: it takes long.
func (b *bench) tshark() error {
	path, err := exec.LookPath("tshark")
	if err != nil {
		b.printf("\ntshark is not installed here.\n")
		return nil
	}
	for i := range captures {
		c := &captures[i]
		if c.only != "tshark" {
			continue
		}
		results, err := alternate([]command{
			{"tshark", []string{path, "-r", c.path, "-d", "tcp.port==9092,kafka"}},
			{"tshark -T json", []string{path, "-r", c.path, "-d", "tcp.port==9092,kafka", "-T", "json"}},
			{"read (summary)", []string{b.kdissect, "read", c.path}},
			{"read --format json", []string{b.kdissect, "read", "--format", "json", c.path}},
		}, min(b.runs, 3))
		if err != nil {
			return err
		}
		frames, err := b.frames(c)
		if err != nil {
			return err
		}
		b.printf("\n## tshark: %s\n\n%s, on %d MB of such traffic as b, %d frames\n\n| | seconds | frames/s | MiB resident |\n|---|---:|---:|---:|\n",
			c.name, versionOf(path), c.size/1e6, frames)
		for j, name := range []string{"tshark", "tshark -T json", "kdissect read", "kdissect read --format json"} {
			m := results[j].median()
			b.printf("| %s | %.3f | %.0f | %.1f |\n", name, m.wall.Seconds(), float64(frames)/m.wall.Seconds(), float64(m.rss)/(1<<20))
		}
	}
	return nil
}
