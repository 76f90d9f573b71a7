package cli

import (
	"fmt"
	"strings"
	"time"
)

// instant is a flag for a point in capture time: RFC 3339, a time of day in UTC on the day of
// the first packet, or an offset from the first packet.
type instant struct {
	text string
	kind instantKind
	ns   int64 // since 1970, since midnight or since the first packet
}

type instantKind uint8

const (
	instantUnset instantKind = iota
	instantAbsolute
	instantOfDay
	instantOffset
)

// String implements pflag.Value.
func (t *instant) String() string { return t.text }

// Type implements pflag.Value.
func (t *instant) Type() string { return "time" }

// Set implements pflag.Value.
func (t *instant) Set(s string) error {
	if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
		*t = instant{s, instantAbsolute, at.UnixNano()}
		return nil
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, s); err == nil {
			midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
			*t = instant{s, instantOfDay, int64(at.Sub(midnight))}
			return nil
		}
	}
	if d, err := time.ParseDuration(strings.TrimPrefix(s, "+")); err == nil && d >= 0 {
		*t = instant{s, instantOffset, int64(d)}
		return nil
	}
	return fmt.Errorf("want RFC 3339 (2026-11-29T10:00:00Z), a time of day in UTC (10:00:00.5), or an offset from the first packet (90s)")
}

// at returns the instant in nanoseconds since 1970, given the time of the first packet.
func (t *instant) at(first int64) int64 {
	switch t.kind {
	case instantOfDay:
		day := int64(24 * time.Hour)
		return first - ((first%day)+day)%day + t.ns
	case instantOffset:
		return first + t.ns
	}
	return t.ns
}
