package cli

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/reassembly"
)

func TestPattern(t *testing.T) {
	tests := map[string]struct {
		pattern, name string
		want          bool
	}{
		"exact":             {"orders", "orders", true},
		"exact, no prefix":  {"order", "orders", false},
		"prefix":            {"ord*", "orders", true},
		"suffix":            {"*ers", "orders", true},
		"middle":            {"o*d*s", "orders", true},
		"parts in order":    {"*d*r*", "orders", true},
		"parts out of turn": {"*r*o*", "orders", false},
		"no overlap":        {"ab*bc", "abc", false},
		"all":               {"*", "", true},
		"slash":             {"a*c", "a/b/c", true},
		"empty":             {"", "", true},
		"empty and name":    {"", "x", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, parsePattern(tt.pattern).match([]byte(tt.name)))
		})
	}
}

func TestInstant(t *testing.T) {
	first := time.Date(2026, 11, 29, 10, 0, 0, 500, time.UTC).UnixNano()
	tests := map[string]struct {
		text string
		want time.Time
	}{
		"RFC 3339":           {"2026-11-29T11:00:00+01:00", time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)},
		"RFC 3339 with nano": {"2026-11-29T10:00:00.000000001Z", time.Date(2026, 11, 29, 10, 0, 0, 1, time.UTC)},
		"time of day":        {"10:00:01.25", time.Date(2026, 11, 29, 10, 0, 1, 250e6, time.UTC)},
		"hours and minutes":  {"09:30", time.Date(2026, 11, 29, 9, 30, 0, 0, time.UTC)},
		"offset":             {"1m30s", time.Date(2026, 11, 29, 10, 1, 30, 500, time.UTC)},
		"offset with sign":   {"+2s", time.Date(2026, 11, 29, 10, 0, 2, 500, time.UTC)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var in instant
			require.NoError(t, in.Set(tt.text))
			assert.Equal(t, tt.want, time.Unix(0, in.at(first)).UTC())
		})
	}
	for _, bad := range []string{"", "yesterday", "25:00", "-5s", "10"} {
		var in instant
		assert.Error(t, in.Set(bad), bad)
	}
}

func TestSize(t *testing.T) {
	tests := map[string]struct {
		text string
		want int64 // 0: refused
		show string
	}{
		"bytes":      {"4097", 4097, "4097"},
		"kibibytes":  {"64KiB", 64 << 10, "64KiB"},
		"short":      {"2M", 2 << 20, "2MiB"},
		"lower case": {"1g", 1 << 30, "1GiB"},
		"empty":      {"", 0, ""},
		"unit only":  {"MiB", 0, ""},
		"negative":   {"-1", 0, ""},
		"zero":       {"0", 0, ""},
		"too large":  {"9999999999GiB", 0, ""},
		"unknown":    {"5TB", 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var s size
			err := s.Set(tt.text)
			if tt.want == 0 {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.EqualValues(t, tt.want, s)
			assert.Equal(t, tt.show, s.String())
		})
	}
}

func TestConnPattern(t *testing.T) {
	conn := func(id int64, src, dst string) *reassembly.Conn {
		return &reassembly.Conn{ID: id, Flow: reassembly.Flow{
			Src: reassembly.EndpointFrom(netip.MustParseAddrPort(src)),
			Dst: reassembly.EndpointFrom(netip.MustParseAddrPort(dst)),
		}}
	}
	four := conn(7, "10.0.0.2:4000", "10.0.0.1:9092")
	six := conn(8, "[2001:db8::2]:4000", "[2001:db8::1]:9092")
	tests := map[string]struct {
		text      string
		four, six bool
	}{
		"number":              {"7", true, false},
		"address":             {"10.0.0.1", true, false},
		"other side":          {"10.0.0.2", true, false},
		"port":                {":9092", true, true},
		"address and port":    {"10.0.0.1:9092", true, false},
		"wrong pairing":       {"10.0.0.1:4000", false, false},
		"both":                {"10.0.0.1:9092-10.0.0.2:4000", true, false},
		"both, other order":   {"10.0.0.2:4000-10.0.0.1:9092", true, false},
		"both, one wrong":     {"10.0.0.1:9092-10.0.0.2:4001", false, false},
		"IPv6":                {"2001:db8::1", false, true},
		"IPv6 in brackets":    {"[2001:db8::1]:9092", false, true},
		"IPv6 as JSON has it": {"2001:db8::1:9092-2001:db8::2:4000", false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := parseConnPattern(tt.text)
			require.NoError(t, err)
			assert.Equal(t, tt.four, p.match(four))
			assert.Equal(t, tt.six, p.match(six))
		})
	}
	for _, bad := range []string{"", "x", "0", ":x", "a-b", "1.1.1.1-2.2.2.2-3.3.3.3"} {
		_, err := parseConnPattern(bad)
		assert.Error(t, err, bad)
	}
}

func TestNearest(t *testing.T) {
	for word, want := range map[string]string{"raed": "read", "red": "read", "api": "apis", "conections": "connections", "frobnicate": ""} {
		assert.Equal(t, want, nearest(word, verbs()), word)
	}
}
