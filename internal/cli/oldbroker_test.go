package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/brokerlog"
	"github.com/kdissect/kdissect/internal/corpus"
)

// readJSON runs read over a capture and returns its lines.
func readJSON(t *testing.T, args ...string) []brokerlog.Value {
	t.Helper()
	stdout, stderr, status := runMain(t, append([]string{"read", "--format", "json", "--show-secrets"}, args...)...)
	require.Equal(t, exitDone, status, stderr)
	var lines []brokerlog.Value
	for line := range strings.Lines(stdout) {
		v, err := brokerlog.ParseJSON([]byte(line))
		require.NoError(t, err)
		lines = append(lines, v)
	}
	return lines
}

// TestOldBrokersLogs holds captures against the logs of brokers that wrote text: all name the
// requests, 0.9 has the fields of some, 0.10 those of all. A line is written when the response was
// sent, so a request that the log does not have got none.
func TestOldBrokersLogs(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		requests, fields, extra int // in the log; of these with fields; captured, not in the log
	}{
		{"k-08", 71, 0, 0},
		{"k-09", 113, 25, 1},
		{"k-010-v0", 354, 354, 0},
		{"k-010-v1", 352, 352, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			logged, err := brokerlog.ReadText(corpus.Path(t, "captures/lab/broker", tc.name+".requests.txt.gz"))
			require.NoError(t, err)
			captured := map[string][]brokerlog.Request{}
			for _, line := range readJSON(t, "--plain", corpus.Path(t, "captures/lab/broker", tc.name+".pcap.gz")) {
				q, err := brokerlog.FromLine(&line)
				require.NoError(t, err)
				captured[q.String()] = append(captured[q.String()], q)
			}
			fields := 0
			for _, want := range logged {
				found := captured[want.String()]
				if !assert.NotEmpty(t, found, "not found: %v", &want) {
					continue
				}
				got := found[0]
				captured[want.String()] = found[1:]
				if want.Request.Kind == brokerlog.Object {
					fields++
					assert.Empty(t, textDiff(&want, &got.Request), "%v", &want)
				}
			}
			extra := 0
			for _, left := range captured {
				for _, q := range left {
					extra++
					assert.Equal(t, brokerlog.Null, q.Response.Kind, "answered, and not in the log: %v", &q)
				}
			}
			assert.Equal(t, tc.requests, len(logged), "requests in the log")
			assert.Equal(t, tc.fields, fields, "requests whose fields the log has")
			assert.Equal(t, tc.extra, extra, "requests that the log does not have")
		})
	}
}

// textDiff compares the fields of a request with those that a text log has.
func textDiff(want *brokerlog.Request, got *brokerlog.Value) []string {
	d := brokerlog.Differ{ByOrder: true, Text: true}
	switch {
	case want.APIKey == 18 && want.APIVersion > 2:
		return nil // a version that these brokers do not know: they logged {}
	case want.APIKey != 0:
		return d.Diff("request", &want.Request, got)
	}
	// Of a Produce request they logged the sizes of its record sets, in no order.
	sizes, ok := want.Request.Member("partitionSizes")
	if !ok {
		return []string{"no partitionSizes"}
	}
	var had, have []string
	for _, s := range sizes.Items {
		had = append(had, s.Text)
	}
	topics, _ := got.Member("topicData")
	for _, topic := range topics.Items {
		name, _ := topic.Member("name")
		partitions, _ := topic.Member("partitionData")
		for _, p := range partitions.Items {
			index, _ := p.Member("index")
			size, _ := p.Member("recordsSizeInBytes")
			have = append(have, fmt.Sprintf("%s-%s=%s", name.Text, index.Text, size.Text))
		}
	}
	slices.Sort(had)
	slices.Sort(have)
	if !slices.Equal(had, have) {
		return []string{fmt.Sprintf("want %v, got %v", had, have)}
	}
	head := func(v *brokerlog.Value) *brokerlog.Value {
		return &brokerlog.Value{Kind: brokerlog.Object, Names: v.Names[:2], Items: v.Items[:2]}
	}
	return d.Diff("request", head(&want.Request), head(got))
}
