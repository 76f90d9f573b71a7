package dissect_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// change drops or cuts segments on their way to the assembler.
type change func(s reassembly.Segment, give func(reassembly.Segment))

func same(s reassembly.Segment, give func(reassembly.Segment)) { give(s) }

// variants of a capture, by name.
func variants(seed uint64, packets int64) map[string]change {
	r := rand.New(rand.NewPCG(seed, 7))
	burst, begin, end := int64(0), int64(0), int64(0)
	if packets > 0 {
		begin, end = r.Int64N(packets/2), packets/2+r.Int64N(packets/2)
	}
	drop := func(rate float64) change {
		return func(s reassembly.Segment, give func(reassembly.Segment)) {
			if r.Float64() >= rate {
				give(s)
			}
		}
	}
	oneWay := func(client bool) change {
		return func(s reassembly.Segment, give func(reassembly.Segment)) {
			if (s.Flow.Src.Port > s.Flow.Dst.Port) == client {
				give(s)
			}
		}
	}
	return map[string]change{
		"drop 1 %":  drop(0.01),
		"drop 10 %": drop(0.10),
		"bursts": func(s reassembly.Segment, give func(reassembly.Segment)) {
			if burst == 0 && r.IntN(100) == 0 {
				burst = 1 + r.Int64N(12)
			}
			if burst > 0 {
				burst--
				return
			}
			give(s)
		},
		"client only": oneWay(true),
		"broker only": oneWay(false),
		"a part": func(s reassembly.Segment, give func(reassembly.Segment)) {
			if s.Packet >= begin && s.Packet < end {
				give(s)
			}
		},
		"cut at 96": func(s reassembly.Segment, give func(reassembly.Segment)) {
			s.Payload = s.Payload[:min(len(s.Payload), 96-66)]
			give(s)
		},
		"cut at 256": func(s reassembly.Segment, give func(reassembly.Segment)) {
			s.Payload = s.Payload[:min(len(s.Payload), 256-66)]
			give(s)
		},
	}
}

// truth is what the whole capture shows. Halves are known by client, side and bytes.
type truth struct {
	halves  map[string]int
	pairs   map[string]string
	all     []exchange
	packets int64
}

func place(x *exchange, h *half, side string) string {
	return clientName(x) + " " + side + " " + string(h.Bytes)
}

func truthOf(c *collector) *truth {
	w := &truth{halves: map[string]int{}, pairs: map[string]string{}}
	for _, x := range c.exchanges {
		w.all = append(w.all, x)
		if x.Req != nil {
			w.halves[place(&x, x.Req, "request")]++
			w.packets = max(w.packets, x.Req.Last)
		}
		if x.Resp != nil {
			w.halves[place(&x, x.Resp, "response")]++
			w.packets = max(w.packets, x.Resp.Last)
		}
		if x.Req != nil && x.Resp != nil {
			w.pairs[place(&x, x.Resp, "response")] = place(&x, x.Req, "request")
		}
	}
	return w
}

// against checks what a damaged capture shows against the truth, and returns how many of the
// exchanges whose packets are all there were recovered.
func (w *truth) against(t *testing.T, c *collector, kept map[int64]bool) (recovered, possible int, missed []string) {
	t.Helper()
	shown := map[string]int{}
	for _, x := range c.exchanges {
		q, r := "", ""
		if x.Req != nil && !x.Req.Cut {
			q = place(&x, x.Req, "request")
			shown[q]++
			require.LessOrEqual(t, shown[q], w.halves[q], "not in the traffic, or not so often: %+v", x.Req)
		}
		if x.Resp != nil && !x.Resp.Cut {
			r = place(&x, x.Resp, "response")
			shown[r]++
			require.LessOrEqual(t, shown[r], w.halves[r], "not in the traffic, or not so often: %+v of %+v", x.Resp, x.Req)
		}
		if q != "" && r != "" {
			require.Equal(t, w.pairs[r], q, "paired with another request: %+v %+v", x.Req, x.Resp)
			shown[q+r]++
		}
		if x.State == dissect.Paired {
			require.NotEmpty(t, q)
			require.NotEmpty(t, r)
		}
	}
	for _, k := range c.conns {
		if k.Protocol != dissect.ProtocolKafka {
			continue
		}
		for d, n := range k.Counts {
			assert.Equal(t, k.tcp.Dirs[d].Bytes, n.FrameBytes+n.PartialBytes+n.Skipped+n.Limited, "connection %d, direction %d: %+v", k.tcp.ID, d, n)
		}
	}
	for _, x := range w.all {
		if x.Req == nil || x.Resp == nil || x.Req.Kind == dissect.TokenFrame {
			continue
		}
		there := true
		for _, p := range append(append([]int64(nil), x.Req.Packets...), x.Resp.Packets...) {
			there = there && kept[p]
		}
		if !there {
			continue
		}
		possible++
		if shown[place(&x, x.Req, "request")+place(&x, x.Resp, "response")] > 0 {
			recovered++
		} else {
			missed = append(missed, fmt.Sprintf("%v packets %v %v", x.asked(), x.Req.Packets, x.Resp.Packets))
		}
	}
	return recovered, possible, missed
}

func TestLossShowsNothingWrong(t *testing.T) {
	sums := map[string][2]int{}
	captures := []string{"broker/x-full.pcap.gz", "broker/b-txn.pcap.gz", "broker/c-classic-group.pcap.gz", "clients/sarama-sasl-rawv0.pcapng", "clients/kafkago-basic.pcapng", "clients/kio-sweep.pcapng"}
	for _, file := range captures {
		t.Run(file, func(t *testing.T) {
			full := read(t, dissect.Options{}, same, "captures/lab", file)
			w := truthOf(full)
			require.NotEmpty(t, w.all)
			for seed := range uint64(4) {
				for _, name := range slices.Sorted(maps.Keys(variants(seed, w.packets))) {
					ch := variants(seed, w.packets)[name]
					kept := map[int64]bool{}
					c := read(t, dissect.Options{}, func(s reassembly.Segment, give func(reassembly.Segment)) {
						before := len(s.Payload)
						ch(s, func(s reassembly.Segment) {
							kept[s.Packet] = len(s.Payload) == before
							give(s)
						})
					}, "captures/lab", file)
					recovered, possible, missed := w.against(t, c, kept)
					sums[name] = [2]int{sums[name][0] + recovered, sums[name][1] + possible}
					for _, m := range missed {
						t.Logf("%s, seed %d: not recovered: %s", name, seed, m)
					}
					if strings.HasSuffix(name, "only") {
						assert.Zero(t, possible)
					}
				}
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		t.Logf("%s: %d of %d exchanges whose packets are all there are shown whole", name, sums[name][0], sums[name][1])
		assert.GreaterOrEqual(t, float64(sums[name][0]), 0.99*float64(sums[name][1]), name)
	}
}

// These were recorded or made with loss; x-full is the same traffic whole.
func TestRecordedLossShowsNothingWrong(t *testing.T) {
	w := truthOf(read(t, dissect.Options{}, same, "captures/lab/broker/x-full.pcap.gz"))
	for _, name := range []string{"x-drop3", "x-snap128", "x-dup", "x-reorder", "x-reseg"} {
		t.Run(name, func(t *testing.T) {
			c := read(t, dissect.Options{}, same, "captures/lab/broker", name+".pcap.gz")
			w.against(t, c, nil)
			count := map[dissect.State]int{}
			for _, x := range c.exchanges {
				count[x.State]++
			}
			t.Logf("%d of %d exchanges: %v", len(c.exchanges), len(w.all), count)
			assert.Positive(t, count[dissect.Paired]+count[dissect.Interrupted])
		})
	}
}
