package cli

import (
	"bytes"
	"encoding/hex"
	"os"
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
