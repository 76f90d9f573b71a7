package dissect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/corpus"
)

// logged is a line of a broker's request log.
type logged struct {
	IsForwarded   bool `json:"isForwarded"`
	RequestHeader struct {
		APIKey        int16   `json:"requestApiKey"`
		APIVersion    int16   `json:"requestApiVersion"`
		CorrelationID int32   `json:"correlationId"`
		ClientID      *string `json:"clientId"`
	} `json:"requestHeader"`
	Connection string          `json:"connection"`
	Response   json.RawMessage `json:"response"`
}

// asked is what a request is found by.
type asked struct {
	Client  string
	Key     int16
	Version int16
	ID      int32
	Name    string
}

func (a asked) String() string {
	return fmt.Sprintf("key %d v%d #%d of %s (%s)", a.Key, a.Version, a.ID, a.Client, a.Name)
}

// logOf returns the requests of a log, and of these the ones that were answered.
func logOf(t *testing.T, file string, relay map[string]string) (all, answered map[asked]int) {
	all, answered = map[asked]int{}, map[asked]int{}
	corpus.Lines(t, file, func(_ int, l logged) {
		if l.IsForwarded {
			return
		}
		client := strings.Split(l.Connection, "-")[1]
		if r := relay[client[strings.LastIndexByte(client, ':')+1:]]; r != "" {
			client = r
		}
		h := l.RequestHeader
		name := "null"
		if h.ClientID != nil {
			name = strconv.Quote(*h.ClientID)
		}
		a := asked{client, h.APIKey, h.APIVersion, h.CorrelationID, name}
		all[a]++
		if len(l.Response) > 0 && string(l.Response) != "null" {
			answered[a]++
		}
	})
	return all, answered
}

func (x *exchange) asked() asked {
	h := x.Req
	name := strconv.Quote(h.ClientID)
	if h.Null {
		name = "null"
	}
	return asked{clientName(x), h.Key, h.Version, h.ID, name}
}

func clientName(x *exchange) string {
	a := x.Client.AddrPort()
	return fmt.Sprintf("%s:%d", a.Addr(), a.Port())
}

func TestLabCapturesAgainstBrokerLog(t *testing.T) {
	for _, col := range corpus.Table(t, corpus.Path(t, "captures/lab/list.tsv")) {
		if len(col) < 6 || strings.Contains(col[5], "keylog") {
			continue
		}
		t.Run(col[0], func(t *testing.T) {
			t.Parallel()
			var relay map[string]string
			if _, file, ok := strings.Cut(col[5], "--ports @"); ok {
				raw, err := os.ReadFile(corpus.Path(t, "captures/lab", strings.Fields(file)[0]))
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(raw, &relay))
			}
			all, answered := logOf(t, corpus.Path(t, "captures/lab", col[2]), relay)
			c := read(t, dissect.Options{}, false, "captures/lab", col[1])
			unanswered, lacking := 0, 0
			for _, x := range c.exchanges {
				if x.Req == nil {
					assert.NotEqual(t, "0", col[4], "orphan %+v %+v", x, x.Resp)
					continue
				}
				if x.Req.Kind == dissect.TokenFrame {
					continue
				}
				a := x.asked()
				bad := path.Base(col[0]) == "nonkafka-badver" // its requests are of unknown versions
				require.True(t, bad || x.Req.Fits && x.Req.Decoded || a.Key == 18, "%v decodes: %+v", a, x.Req)
				if x.Resp != nil {
					require.True(t, x.Resp.Cut || x.Resp.Fits && x.Resp.Decoded, "response to %v decodes %+v", a, x.Resp)
				}
				if all[a] == 0 {
					// The log lacks what SASL authentication asks, envelopes, and what was in flight at the end.
					if a.Key != 18 && a.Key != 17 && a.Key != 36 && a.Key != 58 {
						t.Logf("not in the log: %v %v", a, x.State)
					}
					continue
				}
				all[a]--
				if all[a] == 0 {
					delete(all, a)
				}
				if answered[a] > 0 {
					answered[a]--
					if x.Resp == nil || x.Resp.Cut {
						unanswered++
						assert.NotEqual(t, dissect.Paired, x.State, "%v", a)
					} else {
						assert.Equal(t, dissect.Paired, x.State, "%v", a)
					}
				} else {
					assert.Equal(t, dissect.NoResponse, x.State, "%v", a)
				}
			}
			for a, n := range all {
				lacking += n
				if lacking < 10 {
					t.Logf("not found: %v", a)
				}
			}
			assert.Equal(t, col[3], strconv.Itoa(unanswered), "answers that the capture does not hold whole")
			assert.Equal(t, col[4], strconv.Itoa(lacking), "requests that the capture lacks")
			if path.Base(col[0]) != "x-midstream" {
				for id, s := range c.skips {
					assert.Empty(t, s, "connection %d", id)
				}
			}
		})
	}
}
