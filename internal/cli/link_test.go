package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/brokerlog"
	"github.com/kdissect/kdissect/internal/corpus"
)

// member returns a member of a member.
func member(t *testing.T, v *brokerlog.Value, path ...string) *brokerlog.Value {
	t.Helper()
	for _, name := range path {
		m, ok := v.Member(name)
		require.True(t, ok, "%s in %v", name, v)
		v = m
	}
	return v
}

// bodies are the members of a line that do not depend on how the packets travelled.
var bodies = []string{"requestHeader", "request", "response"}

// TestLinkLayers reads one conversation behind every link type, tunnel, fragmentation and TCP
// shape, and what is left of it in damaged captures.
func TestLinkLayers(t *testing.T) {
	dir := corpus.Path(t, "captures/lab/link")
	base := readJSON(t, filepath.Join(dir, "base-ethernet-ipv4.pcapng"))
	logged, err := brokerlog.ReadJSON(corpus.Path(t, "captures/lab/clients/mini-kio.requests.ndjson.gz"))
	require.NoError(t, err)
	require.Len(t, base, len(logged), "exchanges")
	files, err := filepath.Glob(filepath.Join(dir, "*.pcap*"))
	require.NoError(t, err)
	equal := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		damaged, ok := strings.CutPrefix(name, "damaged-")
		t.Run(name, func(t *testing.T) {
			lines := readJSON(t, file)
			if ok {
				damagedLink(t, base, lines, damaged)
				return
			}
			equal++
			require.Len(t, lines, len(base))
			for i := range base {
				for _, part := range append(bodies, "clientInformation", "issues") {
					assert.Equal(t, member(t, &base[i], part), member(t, &lines[i], part), "%s of exchange %d", part, i)
				}
				for _, part := range []string{"state", "requestBytes", "responseBytes"} {
					assert.Equal(t, member(t, &base[i], "capture", part), member(t, &lines[i], "capture", part), "%s of exchange %d", part, i)
				}
			}
		})
	}
	assert.Equal(t, 53, equal, "files that carry the whole conversation")
}

// damagedLink compares what is shown of a damaged capture: whole exchanges are those of base, and
// the rest is said to be damaged.
func damagedLink(t *testing.T, base, lines []brokerlog.Value, name string) {
	want, ok := map[string]string{
		"lost-response":        "1 paired, 2 paired, 3 unanswered, 4 paired, 5 paired, 6 paired",
		"lost-request":         "1 paired, 2 orphan, 3 paired, 4 paired, 5 paired, 6 paired",
		"lost-middle-segment":  "1 paired, 2 paired, 3 interrupted, 4 paired, 5 paired, 6 paired",
		"one-direction-client": "1 unanswered, 2 unanswered, 3 unanswered, 4 unanswered, 5 unanswered, 6 unanswered",
		"one-direction-server": "1 orphan, 2 orphan, 3 orphan, 4 orphan, 5 orphan, 6 orphan",
		"snaplen":              "1 interrupted, 2 interrupted, 3 interrupted, 4 interrupted, 5 interrupted, 6 interrupted",
	}[name]
	require.True(t, ok, "what to expect of %s", name)
	states := make([]string, len(base))
	for i := range lines {
		line := &lines[i]
		state := member(t, line, "capture", "state").Text
		issues := member(t, line, "issues")
		id := len(base)
		if h := member(t, line, "requestHeader"); h.Kind == brokerlog.Object {
			_, err := fmt.Sscan(member(t, h, "correlationId").Text, &id)
			require.NoError(t, err)
		} else {
			_, err := fmt.Sscanf(member(t, &issues.Items[0], "text").Text, "no request with correlation id %d was captured", &id)
			require.NoError(t, err)
		}
		require.Empty(t, states[id-1], "exchange %d twice", id)
		states[id-1] = fmt.Sprintf("%d %s", id, state)
		if state == "paired" {
			for _, part := range bodies {
				assert.Equal(t, member(t, &base[id-1], part), member(t, line, part), "%s of exchange %d", part, id)
			}
			assert.Empty(t, issues.Items)
			continue
		}
		assert.NotEmpty(t, issues.Items, "exchange %d says what is wrong", id)
	}
	assert.Equal(t, want, strings.Join(states, ", "))
}
