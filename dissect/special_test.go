package dissect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
)

// special is a line of special.ndjson.gz: a short conversation, or a frame that is odd.
type special struct {
	Case   string
	Frames []struct{ Dir, Hex, Expect string }
}

// greeting is an exchange that shows the connection to speak Kafka, for frames which by
// themselves would not.
var greeting = [2]string{"0000001500120003303006330003636c6900046c6962023100", "000000133030063300000200000003000d000000000000"}

// specials says for each of the cases what comes of it: the protocol, its exchanges, and the
// bytes that are no frame. What the vectors expect of each frame stands beside.
var specials = map[string][]string{
	"apiversions-fallback": {"Kafka", // header readable; body of an unknown version / ApiVersions response at version 0
		`paired: 18 v99 #808453682 "cli" unknown body, unsupported / answer whole, fallback`},
	"apiversions-v3-response-header": {"Kafka", `paired: 18 v3 #808453683 "cli" whole / answer whole`},
	"sasl-handshake-v0-raw-tokens": {"Kafka", // opaque tokens, the second of size 0, then Metadata again
		`paired: 17 v0 #808453684 "cli" whole / answer whole`,
		`paired: token of 13 / token of 0`,
		`unanswered: 3 v4 #808453685 "cli" whole`},
	"sasl-handshake-v1": {"Kafka",
		`paired: 17 v1 #808453686 "cli" whole / answer whole`,
		`paired: 36 v2 #808453687 "cli" whole / answer whole`},
	"produce-acks-0": {"Kafka", // the next response belongs to the next request
		`no response expected: 0 v9 #808453688 "cli" whole`,
		`paired: 3 v12 #808453689 "cli" whole / answer whole`},
	"unknown-api-key":                  {"Kafka", `unanswered: 999 v0 #5 "x" unknown body, unsupported`},
	"future-version":                   {"Kafka", `unanswered: 3 v99 #808453690 "cli" unknown body, unsupported`},
	"trailing-bytes":                   {"Kafka", `unanswered: 3 v12 #808453690 "cli" whole`}, // and 3 bytes behind it, an issue of decoding
	"body-cut-short":                   {"Kafka", `unanswered: 3 v12 #808453690 "cli" malformed`},
	"huge-array-length":                {"Kafka", `unanswered: 3 v1 #808453691 "cli" malformed`},
	"negative-array-length-2":          {"Kafka", `unanswered: 3 v1 #808453691 "cli" malformed`},
	"negative-array-length-2147483648": {"Kafka", `unanswered: 3 v1 #808453691 "cli" malformed`},
	"overlong-uvarint":                 {"Kafka", `unanswered: 3 v12 #808453692 "cli" malformed`},
	"size-zero":                        {"Kafka", `4 bytes skipped`},
	"size-negative":                    {"Kafka", `6 bytes skipped`},
	"http-on-kafka-port":               {"Kafka", `27 bytes skipped`},
	"pipelined": {"Kafka",
		`paired: 12 v4 #808453702 "cli" whole / answer whole`,
		`paired: 12 v4 #808453703 "cli" whole / answer whole`,
		`paired: 12 v4 #808453704 "cli" whole / answer whole`},
}

// alone is the protocol of a connection that has nothing but the frame.
var alone = map[string]dissect.Protocol{
	"unknown-api-key": dissect.ProtocolKafka, "future-version": dissect.ProtocolKafka, "trailing-bytes": dissect.ProtocolKafka,
	"http-on-kafka-port": dissect.ProtocolHTTP,
}

func TestSpecialVectors(t *testing.T) {
	seen := 0
	corpus.Lines(t, corpus.Path(t, "vectors/special.ndjson.gz"), func(_ int, v special) {
		seen++
		t.Run(v.Case, func(t *testing.T) {
			want, ok := specials[v.Case]
			require.True(t, ok, "a case that the test does not know")
			s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
			if len(v.Frames) == 1 {
				s.send(up, unhex(greeting[0]))
				s.send(down, unhex(greeting[1]))
			}
			for _, f := range v.Frames {
				d := up
				if f.Dir == "s2c" {
					d = down
				}
				s.send(d, unhex(f.Hex))
			}
			s.close(reassembly.EndFIN)
			got := []string{s.conns[0].Protocol.String()}
			for _, x := range s.exchanges {
				if len(v.Frames) == 1 && x.Number == 1 {
					continue
				}
				got = append(got, describe(x))
			}
			for _, skip := range s.conns[0].Skips {
				got = append(got, fmt.Sprintf("%d bytes skipped", skip.Len))
			}
			assert.Equal(t, want, got)
		})
		if len(v.Frames) > 1 {
			return
		}
		t.Run(v.Case+" alone", func(t *testing.T) {
			s := newStream(t, dissect.Options{Ports: []uint16{9092}}).open(50000, true)
			s.send(up, unhex(v.Frames[0].Hex))
			assert.Equal(t, alone[v.Case], s.protocol())
		})
	})
	assert.Equal(t, len(specials), seen)
}

// describe writes an exchange in a line.
func describe(x exchange) string {
	s := x.State.String() + ":"
	for _, h := range []*half{x.Req, x.Resp} {
		switch {
		case h == nil:
			continue
		case h.Kind == dissect.TokenFrame && h == x.Resp:
			s += " / token of " + fmt.Sprint(h.Size)
		case h.Kind == dissect.TokenFrame:
			s += " token of " + fmt.Sprint(h.Size)
		default:
			what := "whole"
			switch {
			case !h.Decoded:
				what = "unknown body"
			case !h.Fits:
				what = "malformed"
			}
			if h == x.Resp {
				s += " / answer " + what
			} else {
				s += fmt.Sprintf(" %d v%d #%d %q %s", h.Key, h.Version, h.ID, h.ClientID, what)
			}
		}
		for _, i := range h.Issues {
			s += ", " + string(i.Code)
		}
	}
	return s
}
