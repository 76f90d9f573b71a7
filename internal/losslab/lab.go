package losslab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kdissect/kdissect/internal/brokerlog"
)

// Capture names a capture of the corpus and the log of its broker.
type Capture struct {
	Name, File, Log string
	// ByOrder: the broker had other names for some fields, in the same order.
	ByOrder bool
	// Relay is a file that gives the client's address for each port that the broker saw, where
	// the traffic passed a relay.
	Relay string
}

// Lab is a whole capture and what is true of it.
type Lab struct {
	Name    string
	Packets []Packet
	whole   *shown
	truth   truth
	renamed truth // with addresses left out

	Exchanges int // with both halves, or without a response to come
	Logged    int // of these, the ones that equal a line of the broker's log
}

// New reads a capture and holds what is shown of it against the broker's log: each exchange that
// the log has must equal it.
func New(c Capture) (*Lab, error) {
	packets, err := load(c.File)
	if err != nil {
		return nil, err
	}
	whole, err := run(packets)
	if err != nil {
		return nil, err
	}
	l := &Lab{Name: c.Name, Packets: packets, whole: whole}
	if len(whole.unaccounted) > 0 {
		return nil, fmt.Errorf("%s: bytes do not add up: %v", c.Name, whole.unaccounted)
	}
	if err := l.hold(c); err != nil {
		return nil, err
	}
	l.order()
	l.truth, l.renamed = l.truthOf(false), l.truthOf(true)
	return l, nil
}

// hold compares the exchanges with the broker's log.
func (l *Lab) hold(c Capture) error {
	logged, err := brokerlog.ReadJSON(c.Log)
	if err != nil {
		return err
	}
	relay := map[string]string{}
	if c.Relay != "" {
		raw, err := os.ReadFile(c.Relay)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &relay); err != nil {
			return fmt.Errorf("%s: %w", c.Relay, err)
		}
	}
	waiting := map[string][]brokerlog.Request{}
	for _, r := range logged {
		if to := relay[r.Client[strings.LastIndexByte(r.Client, ':')+1:]]; to != "" {
			r.Client = to
		}
		if !r.Forwarded {
			waiting[r.String()] = append(waiting[r.String()], r)
		}
	}
	d := brokerlog.Differ{ByOrder: c.ByOrder}
	for i := range l.whole.exchanges {
		x := &l.whole.exchanges[i]
		v, err := brokerlog.ParseJSON([]byte(x.line))
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		got, err := brokerlog.FromLine(&v)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		x.what = got.String()
		if !x.complete() {
			continue
		}
		l.Exchanges++
		found := waiting[x.what]
		if len(found) == 0 {
			continue
		}
		waiting[x.what] = found[1:]
		want := &found[0]
		var diffs []string
		if want.APIKey != 18 || len(want.Request.Items) > 0 { // of an unknown version it logs {}
			diffs = d.Diff("request", &want.Request, &got.Request)
		}
		if a := &want.Response; a.Kind == brokerlog.String && a.Text == "" { // Kafka 2.8 for one that is not sent
			*a = brokerlog.Value{Text: "null"}
		}
		diffs = append(diffs, d.Diff("response", &want.Response, &got.Response)...)
		if len(diffs) > 0 {
			return fmt.Errorf("%s: %s: %s", c.Name, x.what, strings.Join(diffs, "; "))
		}
		l.Logged++
		x.logged = true
	}
	return nil
}

// order finds for each frame the one in front of it in its stream.
func (l *Lab) order() {
	type stream struct {
		conn    int64
		request bool
	}
	streams := map[stream][]*half{}
	for i := range l.whole.exchanges {
		x := &l.whole.exchanges[i]
		for _, h := range x.halves() {
			k := stream{x.conn, h.request}
			streams[k] = append(streams[k], h)
		}
	}
	for _, frames := range streams {
		slices.SortFunc(frames, func(a, b *half) int { return cmp.Compare(a.offset, b.offset) })
		for i := 1; i < len(frames); i++ {
			frames[i].before = frames[i-1]
		}
	}
}

// truth is what the whole capture holds, by name.
type truth struct {
	frames    map[string]int
	streams   map[string][]*half
	exchanges map[string]known
}

// begins reports whether a frame of the stream begins with what is left of h.
func (t *truth) begins(stream string, h *half) bool {
	return slices.ContainsFunc(t.streams[stream], func(f *half) bool {
		return f.size == h.size && strings.HasPrefix(f.bytes, h.bytes)
	})
}

// known is what is known of an exchange.
type known struct {
	times  int
	body   string
	logged bool
}

func (l *Lab) truthOf(renamed bool) truth {
	t := truth{map[string]int{}, map[string][]*half{}, map[string]known{}}
	for i := range l.whole.exchanges {
		x := &l.whole.exchanges[i]
		for _, h := range x.halves() {
			s := x.stream(h, renamed)
			t.streams[s] = append(t.streams[s], h)
			if h.whole {
				t.frames[x.frame(h, renamed)]++
			}
		}
		if x.complete() {
			k := t.exchanges[x.name(renamed)]
			t.exchanges[x.name(renamed)] = known{k.times + 1, x.body(), k.logged || x.logged}
		}
	}
	return t
}
