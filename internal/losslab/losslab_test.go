package losslab

import (
	"bufio"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

var update = flag.Bool("update", false, "rewrite docs/loss.md")

// names are the captures that are damaged: clusters, old brokers, frames of many packets, raw
// SASL tokens, every API and version, IPv6.
var names = []string{
	"broker/x-full", "broker/x-reseg", "broker/a-producer", "broker/e-share", "broker/n-large",
	"broker/j1-cluster-start", "broker/k-28-clients", "clients/sarama-sasl-rawv0", "clients/kio-sweep", "clients/franz-ipv6-veth",
}

// listed are the captures of the lab that are in clear, with the logs of their brokers.
func listed(t *testing.T) (all []Capture) {
	t.Helper()
	f, err := os.Open(corpus.Path(t, "captures/lab/list.tsv"))
	require.NoError(t, err)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		col := strings.Split(s.Text(), "\t")
		if len(col) < 6 || strings.HasPrefix(col[0], "#") || strings.Contains(col[5], "--keylog") {
			continue
		}
		c := Capture{Name: col[0], ByOrder: strings.Contains(col[5], "--by-order")}
		c.File, c.Log = corpus.Path(t, "captures/lab", col[1]), corpus.Path(t, "captures/lab", col[2])
		if _, ports, ok := strings.Cut(col[5], "--ports @"); ok {
			c.Relay = corpus.Path(t, "captures/lab", strings.Fields(ports)[0])
		}
		all = append(all, c)
	}
	return all
}

// labs reads the captures named.
func labs(t *testing.T, names ...string) (all []*Lab) {
	t.Helper()
	list := listed(t)
	for _, name := range names {
		i := slices.IndexFunc(list, func(c Capture) bool { return c.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		l, err := New(list[i])
		require.NoError(t, err)
		all = append(all, l)
	}
	return all
}

// TestLoss tries 210 variants and compares the results with the page that says so; make loss
// rewrites it.
func TestLoss(t *testing.T) {
	names := names
	if corpus.Race {
		names = names[2:4]
	}
	trials, err := Run(labs(t, names...))
	require.NoError(t, err)
	total := trials.Total()
	assert.Equal(t, 21*len(names), total.Variants)
	for i, k := range trials.Kinds {
		r := &trials.Rows[i]
		t.Logf("%s: %d of %d exchanges, %d of %d frames, bytes %+v", k.Name, r.Recovered, r.Possible, r.RecoveredFrames, r.PossibleFrames, r.Bytes)
		for _, w := range r.Wrong {
			assert.Fail(t, w, k.Name)
		}
		assert.Equal(t, r.Possible, r.Recovered+len(r.Swallowed), k.Name)
		if k.Lossless {
			assert.Equal(t, r.Possible, r.Recovered, "%s loses nothing", k.Name)
		}
	}
	for _, s := range total.Swallowed {
		t.Log("passed over: ", s)
	}
	if corpus.Race {
		return // with fewer captures the page is another one
	}
	page := filepath.Join("..", "..", "docs", "loss.md")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(page), 0o777))
		require.NoError(t, os.WriteFile(page, trials.Markdown(), 0o666))
	}
	want, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(trials.Markdown()), "run make loss, and read the difference")
}

// TestNothingLost changes every capture in the ways that lose nothing, all at once: all exchanges
// must be there.
func TestNothingLost(t *testing.T) {
	kinds := []Kind{
		{Name: "numbers wrap, overlaps, doubles, swaps", Lossless: true, apply: both(both(wrap, overlap), both(double, swap))},
		{Name: "ports used again", Lossless: true, Renames: true, apply: reuse},
	}
	var sum Result
	for i, c := range listed(t) {
		if corpus.Race && i%10 > 0 {
			continue
		}
		l, err := New(c)
		require.NoError(t, err)
		for j := range kinds {
			r, err := l.Trial(&kinds[j], uint64(50_000+10*i+j))
			require.NoError(t, err)
			for _, w := range r.Wrong {
				assert.Fail(t, w, "%s, %s", c.Name, kinds[j].Name)
			}
			assert.Equal(t, r.Possible, r.Recovered, "%s, %s", c.Name, kinds[j].Name)
			sum.Add(r)
		}
	}
	t.Logf("%d variants: %d of %d exchanges, %d of %d frames", sum.Variants, sum.Recovered, sum.Possible, sum.RecoveredFrames, sum.PossibleFrames)
}

// These were captured or made with loss, swaps and doubles; x-full is the same traffic whole.
func TestRecordedLoss(t *testing.T) {
	full := labs(t, "broker/x-full")[0]
	for name, whole := range map[string]bool{"x-drop3": false, "x-snap128": false, "x-dup": true, "x-reorder": true} {
		t.Run(name, func(t *testing.T) {
			r, err := full.Recorded(corpus.Path(t, "captures/lab/broker", name+".pcap.gz"))
			require.NoError(t, err)
			assert.Empty(t, r.Wrong)
			assert.Equal(t, r.Checked, r.Logged, "each has a line in the broker's log")
			if whole {
				assert.Equal(t, full.Exchanges, r.Checked)
			}
			assert.Positive(t, r.Checked)
			assert.Equal(t, r.Possible, r.Recovered+len(r.Swallowed))
			t.Logf("%d of %d packets damaged; %d of %d exchanges are shown as whole, %d of %d whose packets are all there; %d of %d captured bytes are in whole frames, %d in others, %d skipped; %d are missing",
				r.Damaged, r.Packets, r.Checked, full.Exchanges, r.Recovered, r.Possible, r.Whole, r.Stream, r.Incomplete, r.Skipped, r.Missing)
		})
	}
}

// This one begins and ends in the middle, and has a log of its own.
func TestRecordedMiddle(t *testing.T) {
	l := labs(t, "broker/x-midstream")[0]
	t.Logf("%d exchanges, of which %d equal the broker's log; bytes %+v", l.Exchanges, l.Logged, l.whole.Bytes)
	assert.Equal(t, l.Exchanges, l.Logged)
	assert.Positive(t, l.Logged)
}
