package main

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

// measure is what one run took.
type measure struct {
	wall, cpu time.Duration
	rss       int64 // bytes at most resident; 0 where the system does not tell
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
	s := cmd.ProcessState
	return measure{took, s.UserTime() + s.SystemTime(), maxRSS(s)}, nil
}

// measures are those of one command.
type measures []measure

// median returns the medians of each figure.
func (ms measures) median() measure {
	return measure{
		wall: median(ms, func(m measure) time.Duration { return m.wall }),
		cpu:  median(ms, func(m measure) time.Duration { return m.cpu }),
		rss:  median(ms, func(m measure) int64 { return m.rss }),
	}
}

// least returns the least of each time: what others on the machine have added is not in it.
func (ms measures) least() measure {
	l := ms[0]
	for _, m := range ms {
		l.wall, l.cpu, l.rss = min(l.wall, m.wall), min(l.cpu, m.cpu), max(l.rss, m.rss)
	}
	return l
}

// ratio returns the median of the ratios to base, run by run: both ran in turn.
func (ms measures) ratio(base measures) float64 {
	ratios := make([]float64, len(ms))
	for i := range ms {
		ratios[i] = ms[i].wall.Seconds() / base[i].wall.Seconds()
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func median[T int64 | time.Duration](ms []measure, of func(measure) T) T {
	values := make([]T, len(ms))
	for i, m := range ms {
		values[i] = of(m)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// alternate runs the commands in turn, a number of times.
func alternate(commands []command, runs int) ([]measures, error) {
	results := make([]measures, len(commands))
	for range runs {
		for i, c := range commands {
			m, err := run(c.line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			results[i] = append(results[i], m)
		}
	}
	return results, nil
}
