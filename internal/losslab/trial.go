package losslab

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/kdissect/kdissect/dissect"
)

// Result is what one or more variants have shown.
type Result struct {
	Variants int
	Packets  int // of the whole captures
	Damaged  int // of these, lost or cut
	Bytes

	// Exchanges and frames of which every packet is whole, and how many of these are shown so.
	Possible, Recovered             int
	PossibleFrames, RecoveredFrames int
	// Swallowed are exchanges that are not shown although every packet is there: a search for
	// the next frame, behind a lost size prefix, passed over one of their frames.
	Swallowed []string

	Checked int      // exchanges that were shown as whole, and compared
	Logged  int      // of these, the ones that a broker's log was compared with
	Wrong   []string // shown and not true, or missing for no reason
}

// Add adds what another variant has shown.
func (r *Result) Add(o *Result) {
	r.Variants += o.Variants
	r.Packets += o.Packets
	r.Damaged += o.Damaged
	r.Bytes.add(o.Bytes)
	r.Possible += o.Possible
	r.Recovered += o.Recovered
	r.PossibleFrames += o.PossibleFrames
	r.RecoveredFrames += o.RecoveredFrames
	r.Swallowed = append(r.Swallowed, o.Swallowed...)
	r.Checked += o.Checked
	r.Logged += o.Logged
	r.Wrong = append(r.Wrong, o.Wrong...)
}

// Trial damages the capture and compares what is shown with what is true.
func (l *Lab) Trial(k *Kind, seed uint64) (*Result, error) {
	return l.compare(k.Apply(seed, l.Packets), k.Renames, k.Lossless)
}

// compare compares what packets show with the truth.
func (l *Lab) compare(packets []Packet, renamed, lossless bool) (*Result, error) {
	got, err := run(packets)
	if err != nil {
		return nil, err
	}
	t := &trial{
		lab: l, truth: &l.truth, renamed: renamed, intact: make([]bool, len(l.Packets)), seen: map[string]int{},
		Result: Result{Variants: 1, Packets: len(l.Packets), Bytes: got.Bytes},
	}
	if renamed {
		t.truth = &l.renamed
	}
	for _, p := range packets {
		t.intact[p.Origin] = t.intact[p.Origin] || !p.Cut
	}
	for _, ok := range t.intact {
		if !ok {
			t.Damaged++
		}
	}
	t.check(got)
	t.count(lossless)
	return &t.Result, nil
}

// Recorded compares what another capture of the same traffic shows, which lacks some packets, or
// the ends of them.
func (l *Lab) Recorded(file string) (*Result, error) {
	packets, err := load(file)
	if err != nil {
		return nil, err
	}
	if err := l.locate(packets); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l.compare(packets, false, false)
}

// locate finds the place of packets in the whole capture: they are in its order, but for some that
// were doubled or moved a little.
func (l *Lab) locate(packets []Packet) error {
	const far = 16
	next := 0
	for i := range packets {
		p := &packets[i]
		at := slices.IndexFunc(l.Packets[max(0, next-far):], func(w Packet) bool { return bytes.HasPrefix(w.Data, p.Data) })
		if at < 0 {
			return fmt.Errorf("packet %d is not in the whole capture", i+1)
		}
		p.Origin = max(0, next-far) + at
		p.Cut = len(p.Data) < len(l.Packets[p.Origin].Data)
		next = max(next, p.Origin+1)
	}
	return nil
}

// trial compares what a variant shows with the truth.
type trial struct {
	lab     *Lab
	truth   *truth
	renamed bool
	intact  []bool         // by Origin
	seen    map[string]int // whole frames and exchanges that are shown
	Result
}

func (t *trial) wrong(what string, x *exchange) {
	t.Wrong = append(t.Wrong, fmt.Sprintf("%s: %.2000s", what, x.line))
}

// check finds what is shown and not true.
func (t *trial) check(got *shown) {
	for _, c := range got.unaccounted {
		t.Wrong = append(t.Wrong, "bytes of "+c+" do not add up")
	}
	for i := range got.exchanges {
		x := &got.exchanges[i]
		for _, h := range x.halves() {
			if !h.whole {
				if !h.named {
					t.wrong("a frame lacks bytes, and nothing says so", x)
				}
				if !t.truth.begins(x.stream(h, t.renamed), h) {
					t.wrong("a frame that lacks bytes and is not in the traffic", x)
				}
				continue
			}
			name := x.frame(h, t.renamed)
			t.seen[name]++
			if t.seen[name] > t.truth.frames[name] {
				t.wrong("a frame that is not in the traffic, or too often", x)
			}
		}
		switch {
		case x.state != dissect.Paired && x.state != dissect.NoResponse:
			if !x.named && len(x.halves()) < 2 && x.halves()[0].whole {
				t.wrong("a half is missing, and nothing says so", x)
			}
		case !x.request.whole || x.response != nil && !x.response.whole:
			t.wrong("said to be whole, and is not", x)
		case !x.request.token:
			t.compare(x)
		}
	}
}

// compare holds an exchange that is shown as whole against the truth.
func (t *trial) compare(x *exchange) {
	t.Checked++
	name := x.name(t.renamed)
	t.seen[name]++
	want := t.truth.exchanges[name]
	switch {
	case t.seen[name] > want.times:
		t.wrong("an exchange that is not in the traffic, or too often", x)
	case want.body != x.body():
		t.wrong("its line is not that of the whole capture", x)
	case want.logged:
		t.Logged++
	}
}

// count counts what could be shown, and finds out why exchanges are not.
func (t *trial) count(lossless bool) {
	left := maps.Clone(t.seen)
	take := func(name string) bool {
		left[name]--
		return left[name] >= 0
	}
	for i := range t.lab.whole.exchanges {
		x := &t.lab.whole.exchanges[i]
		all := true
		for _, h := range x.halves() {
			if !h.whole || h.token || !t.there(h) {
				all = false
				continue
			}
			t.PossibleFrames++
			if take(x.frame(h, t.renamed)) {
				t.RecoveredFrames++
			}
		}
		if !all || !x.complete() {
			continue
		}
		t.Possible++
		if take(x.name(t.renamed)) {
			t.Recovered++
		} else if why := t.swallowed(x); why != "" && !lossless {
			t.Swallowed = append(t.Swallowed, x.what+": "+why)
		} else {
			t.wrong("not shown, though nothing is missing", x)
		}
	}
}

// there reports whether all packets of a frame are intact.
func (t *trial) there(h *half) bool {
	for _, p := range h.packets {
		if !t.intact[p] {
			return false
		}
	}
	return true
}

// swallowed says which frame's size prefix was lost before one of x, so that a search began
// there, which passed over the frame of x. It returns "" where there is none.
func (t *trial) swallowed(x *exchange) string {
	for _, h := range x.halves() {
		if t.seen[x.frame(h, t.renamed)] > 0 {
			continue
		}
		for b := h.before; b != nil && t.seen[x.frame(b, t.renamed)] == 0; b = b.before {
			if !t.intact[b.packets[0]] {
				return fmt.Sprintf("the frame of packet %d was passed over: the size prefix in packet %d is lost", h.packets[0]+1, b.packets[0]+1)
			}
		}
	}
	return ""
}
