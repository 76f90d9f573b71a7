package scrub

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// all asks for everything.
var all = Options{Key: "test", ClientIDs: true, Topics: true, Groups: true, Hosts: true, Addresses: true}

// captures returns the capture files of the lab.
func captures(t *testing.T) []string {
	var names []string
	for _, dir := range []string{"broker", "clients", "link"} {
		names = append(names, corpus.Files(t, "captures", "lab", dir, "*.pcap*")...)
	}
	if corpus.Race {
		some := names[:0]
		for i := 0; i < len(names); i += 8 {
			some = append(some, names[i])
		}
		return some
	}
	return names
}

// atLeast returns what a test over captures must count at least, n over all of them.
func atLeast(n int) int {
	if corpus.Race {
		return max(n/10, 1)
	}
	return n
}

// seen is what a capture shows that scrubbing may not change.
type seen struct {
	tree.Discard
	exchanges []string
	issues    map[tree.Code]int
	packets   []string
	warnings  int

	walk   *walk.Decoder
	errors []int64
}

func (s *seen) Begin(tree.Event) bool { return true }

func (s *seen) Leaf(e tree.Event) {
	if schema.Role(e.Desc.Role) == schema.RoleErrorCode && e.Desc.Kind == tree.KindInt16 {
		s.errors = append(s.errors, e.Value.Num)
	}
}

func (s *seen) Issue(i tree.Issue) { s.issues[i.Code]++ }

func (s *seen) frame(f *dissect.Frame) string {
	if f == nil {
		return "-"
	}
	s.errors = nil
	for _, i := range f.Issues {
		s.issues[i.Code]++
	}
	f.Walk(s.walk, s)
	return fmt.Sprint(f.Kind, f.APIKey, f.Version, f.CorrelationID, len(f.Bytes), f.Size, f.Offset, f.FirstPacket, f.LastPacket, s.errors)
}

func (s *seen) Exchange(x *dissect.Exchange) {
	for _, i := range x.Issues {
		s.issues[i.Code]++
	}
	s.exchanges = append(s.exchanges, fmt.Sprint(x.Conn.TCP.ID, x.State, x.Latency, " ", s.frame(x.Request), " ", s.frame(x.Response)))
}

func (s *seen) Closed(c *dissect.Connection, _ reassembly.End) {
	for _, i := range c.Issues {
		s.issues[i.Code]++
	}
}

// look reads a capture.
func look(t *testing.T, name string) *seen {
	t.Helper()
	s := &seen{issues: map[tree.Code]int{}, walk: payload.New(nil, records.Limits{}).Decoder()}
	a := reassembly.New(reassembly.Limits{}, dissect.New(dissect.Options{Handler: s}))
	dec := capture.NewDecoder(capture.Limits{})
	var seg reassembly.Segment
	o := capture.Options{Warn: func(capture.Warning) { s.warnings++ }}
	require.NoError(t, each(context.Background(), name, 0, Options{}, o, func(p *capture.Packet) error {
		v := dec.Decode(p, &seg)
		s.packets = append(s.packets, fmt.Sprint(p.Time, len(p.Data), p.WireLen, p.Link, v))
		if v == capture.TCPSegment {
			a.Advance(seg.Time)
			a.Segment(&seg)
		}
		return nil
	}))
	a.Flush()
	sort.Strings(s.exchanges)
	return s
}

func TestSameExchanges(t *testing.T) {
	for _, name := range captures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			for which, opt := range []Options{{Key: "test"}, all} {
				out := filepath.Join(t.TempDir(), filepath.Base(name))
				if strings.HasSuffix(name, ".zst") {
					out = strings.TrimSuffix(out, ".zst")
				}
				rep, err := File(context.Background(), name, out, opt)
				require.NoError(t, err)
				if os.Getenv("SCRUB_V") != "" {
					t.Logf("%+v", rep)
				}
				before, after := look(t, name), look(t, out)
				assert.Equal(t, before.packets, after.packets)
				assert.Equal(t, before.exchanges, after.exchanges, "options %d", which)
				for code, n := range after.issues {
					assert.LessOrEqual(t, n, before.issues[code], "options %d: issues %s", which, code)
				}
			}
		})
	}
}
