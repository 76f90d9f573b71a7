package dissect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/corpus"
)

// indexed is a frame of kafka-index.json.
type indexed struct {
	Src, Dst      string
	FirstFrame    int64  `json:"first_frame"`
	LastFrame     int64  `json:"last_frame"`
	Size          int32  `json:"size"`
	Dir           string `json:"dir"`
	APIKey        int16  `json:"api_key"`
	APIVersion    int16  `json:"api_version"`
	CorrelationID int32  `json:"correlation_id"`
	ClientID      string `json:"client_id"`
	ResponseFrame int64  `json:"response_frame"`
	RequestFrame  int64  `json:"request_frame"`
}

func TestPublicCapturesAgainstIndex(t *testing.T) {
	raw, err := os.ReadFile(corpus.Path(t, "captures/public/kafka-index.json"))
	require.NoError(t, err)
	var files map[string]struct {
		PDUs       []indexed `json:"pdus"`
		Gaps       []any     `json:"gaps"`
		Unanswered []any     `json:"unanswered_requests"`
		Orphans    []any     `json:"orphan_responses"`
	}
	require.NoError(t, json.Unmarshal(raw, &files))
	require.NotEmpty(t, files)
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			c := read(t, dissect.Options{}, false, "captures/public/kafka", name)
			line := func(f indexed) string {
				return fmt.Sprintf("%s > %s %s packets %d-%d size %d key %d v%d id %d client %q other half %d/%d",
					f.Src, f.Dst, f.Dir, f.FirstFrame, f.LastFrame, f.Size, f.APIKey, f.APIVersion, f.CorrelationID, f.ClientID, f.RequestFrame, f.ResponseFrame)
			}
			var wanted, got []string
			for _, f := range want.PDUs {
				wanted = append(wanted, line(f))
			}
			unanswered, orphans := 0, 0
			for _, x := range c.exchanges {
				client, broker := x.Client.AddrPort().String(), x.Broker.AddrPort().String()
				q, r := indexed{Src: client, Dst: broker, Dir: "request"}, indexed{Src: broker, Dst: client, Dir: "response"}
				if h := x.Req; h != nil {
					q.FirstFrame, q.LastFrame, q.Size, q.APIKey, q.APIVersion, q.CorrelationID, q.ClientID = h.First, h.Last, h.Size, h.Key, h.Version, h.ID, h.ClientID
					r.RequestFrame = h.First
					assert.True(t, h.Fits && h.Decoded, "request of packet %d decodes", h.First)
				}
				if h := x.Resp; h != nil {
					r.FirstFrame, r.LastFrame, r.Size, r.APIKey, r.APIVersion, r.CorrelationID = h.First, h.Last, h.Size, h.Key, h.Version, h.ID
					q.ResponseFrame = h.First
					assert.True(t, h.Fits && h.Decoded, "response of packet %d decodes", h.First)
					got = append(got, line(r))
				} else {
					unanswered++
				}
				if x.Req != nil {
					got = append(got, line(q))
				} else {
					orphans++
				}
			}
			assert.ElementsMatch(t, wanted, got)
			assert.Len(t, want.Unanswered, unanswered)
			assert.Len(t, want.Orphans, orphans)
			assert.Empty(t, c.skips)
		})
	}
}
