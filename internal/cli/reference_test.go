package cli

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/internal/corpus"
)

// about is what stands behind the span of a line.
var about = regexp.MustCompile(`(\[0x[0-9a-f]+, \d+B\]).*`)

// TestReferenceTrees holds the form of trees against the reference pages, on frames with the
// values of those pages.
func TestReferenceTrees(t *testing.T) {
	member := `{"memberId":"","instanceId":"","rackId":"","memberEpoch":0,"clientId":"","clientHost":"","subscribedTopicNames":[""],"subscribedTopicRegex":"",
		"assignment":{"topicPartitions":[{"partitions":[0]}]},"targetAssignment":{"topicPartitions":[{"partitions":[0]}]},"memberType":0}`
	for _, c := range []struct {
		side, line string
		size       int
	}{
		{"request", `{"kind":"request","api_key":69,"version":1,"header":{"clientId":""},"body":{"groupIds":[""]}}`, 19},
		{"response", `{"kind":"response","api_key":69,"version":1,"header":{},"body":{"groups":[{"errorMessage":"","authorizedOperations":0,"members":[` + member + `]}]}}`, 99},
	} {
		t.Run(c.side, func(t *testing.T) {
			want, err := os.ReadFile(corpus.Path(t, "reference", "ConsumerGroupDescribe.v1."+c.side+".tree.txt"))
			require.NoError(t, err)
			frame, err := encodeLine(schema.Default(), []byte(strings.ReplaceAll(c.line, "\n", "")), records.Encoder{})
			require.NoError(t, err)
			require.Len(t, frame, c.size)
			var stdout, stderr bytes.Buffer
			args := []string{"decode", "-t", hex.EncodeToString(frame)}
			if c.side == "response" {
				args = append(args, "--response", "--api", "69", "--api-version", "1")
			}
			require.Zero(t, Main(args, nil, &stdout, &stderr), stderr.String())
			got := about.ReplaceAllString(stdout.String(), "$1")
			// Generated pages, which the references are, give the words of no enumeration but the key's.
			got = strings.Replace(got, "MemberType int8 = 0 (CLASSIC)", "MemberType int8 = 0", 1)
			assert.Equal(t, about.ReplaceAllString(strings.TrimRight(string(want), "\n"), "$1"), strings.TrimRight(got, "\n"))
		})
	}
}

// checkReferencePage makes a page of ConsumerGroupDescribe and holds its trees to the reference pages.
func checkReferencePage(t *testing.T, flags ...string) {
	t.Helper()
	page, stderr, status := runMain(t, append([]string{"layout", "ConsumerGroupDescribe:1"}, flags...)...)
	require.Equal(t, exitDone, status, stderr)
	assert.Empty(t, stderr)
	for _, c := range []struct {
		side string
		size int
	}{{"request", 19}, {"response", 99}} {
		want, err := os.ReadFile(corpus.Path(t, "reference", "ConsumerGroupDescribe.v1."+c.side+".tree.txt"))
		require.NoError(t, err)
		root, _, _ := strings.Cut(string(want), "\n")
		at := strings.Index(page, root)
		require.GreaterOrEqual(t, at, 0, root)
		tree := page[at:][:min(len(want), len(page)-at)]
		assert.Equal(t, string(want), tree)
		assert.Regexp(t, fmt.Sprintf(`(?mi)^%s size +%d bytes$`, c.side, c.size), page)
	}
}

// TestReferencePages: with Kafka's own texts, pages have the trees of the reference pages to the
// letter.
func TestReferencePages(t *testing.T) {
	checkReferencePage(t, "--schema", corpus.Path(t, "reference", "ConsumerGroupDescribeRequest.json"),
		"--schema", corpus.Path(t, "reference", "ConsumerGroupDescribeResponse.json"))
}

// TestReferencePagesOfJar takes the texts from the jar of a release.
func TestReferencePagesOfJar(t *testing.T) {
	dir := os.Getenv("KDISSECT_JARS")
	if dir == "" {
		t.Skip("KDISSECT_JARS names no folder with Kafka's jars")
	}
	checkReferencePage(t, "--schema", filepath.Join(dir, "kafka-clients-4.4.0.jar"))
}

// TestReferenceDrafts makes pages of drafts of proposals.
func TestReferenceDrafts(t *testing.T) {
	for _, c := range []struct{ file, name, title, other string }{
		{"StreamsGroupHeartbeatRequest.draft.json", "StreamsGroupHeartbeat", "StreamsGroupHeartbeatRequest message v0 ", "StreamsGroupHeartbeatResponse"},
		{"StreamsGroupDescribeResponse.draft1.json", "StreamsGroupDescribe", "StreamsGroupDescribeResponse message v0 ", "StreamsGroupDescribeRequest"},
		{"StreamsGroupDescribeResponse.draft2.json", "StreamsGroupDescribe", "StreamsGroupDescribeResponse message v0 ", "StreamsGroupDescribeRequest"},
	} {
		file := corpus.Path(t, "reference", "drafts", c.file)
		for _, format := range []string{"text", "markdown", "html", "json"} {
			page, stderr, status := runMain(t, "layout", c.name, "--format", format, "--schema", file)
			require.Equal(t, exitDone, status, stderr)
			assert.Contains(t, page, c.name)
			assert.NotContains(t, page, c.other, "a page of one side")
			if format == "text" {
				assert.Contains(t, page, c.title)
				assert.Regexp(t, `(?m)^API key +unassigned, encoded as 0xffff$`, page)
			}
			for line := range strings.Lines(stderr) {
				assert.Regexp(t, `^`+regexp.QuoteMeta(file)+`:\d+:\d+: repaired: `, line)
			}
			assert.Contains(t, stderr, file+`:2:13: repaired: apiKey "TBD" is no number; read as not assigned`)
		}
		page, _, status := runMain(t, "layout", c.name, "--schema", file, "--as-key", "120")
		assert.Equal(t, exitDone, status)
		assert.Regexp(t, `(?m)^API key +120$`, page)
		_, _, status = runMain(t, "schema", "lint", file)
		assert.Equal(t, exitDone, status)
	}

	garbled := corpus.Path(t, "reference", "drafts", "StreamsGroupTopologyValue.garbled.json")
	page, stderr, status := runMain(t, "layout", "StreamsGroupTopologyValue", "--schema", garbled)
	assert.Equal(t, exitFailed, status)
	assert.Empty(t, page)
	assert.Contains(t, stderr, garbled+":24:9: error: field CopartitionGroups has no type")
	page, stderr, status = runMain(t, "layout", "StreamsGroupTopologyValue", "--lenient", "--schema", garbled)
	assert.Equal(t, exitDone, status)
	assert.Contains(t, page, "RepartitionSourceTopics []TopicInfo = 1 element")
	assert.NotContains(t, page, "CopartitionGroups")
	assert.Contains(t, stderr, garbled+":24:9: error: field CopartitionGroups has no type")
	_, _, status = runMain(t, "schema", "lint", garbled)
	assert.Equal(t, exitFailed, status)
}
