package losslab

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Trials are the results of all variants.
type Trials struct {
	Labs  []*Lab
	Kinds []Kind
	Rows  []Result // one for each kind, over all labs
}

// Run tries every kind on every lab, each with a seed of its own.
func Run(labs []*Lab) (*Trials, error) {
	t := &Trials{Labs: labs, Kinds: Kinds()}
	t.Rows = make([]Result, len(t.Kinds))
	for i, l := range labs {
		for j := range t.Kinds {
			r, err := l.Trial(&t.Kinds[j], uint64(1000*i+j))
			if err != nil {
				return nil, err
			}
			t.Rows[j].Add(r)
		}
	}
	return t, nil
}

// Total adds up all rows.
func (t *Trials) Total() Result {
	var sum Result
	for i := range t.Rows {
		sum.Add(&t.Rows[i])
	}
	return sum
}

// share returns part of whole in per cent, never rounded up to 100.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(part*10000/whole)/100, 'f', 2, 64) + " %"
}

// Markdown returns the results as a page.
func (t *Trials) Markdown() []byte {
	var b bytes.Buffer
	total := t.Total()
	fmt.Fprintf(&b, `# What is shown of damaged captures

Made by %[1]smake loss%[1]s; a test holds it against what the code does. %[2]d captures are damaged in
%[3]d ways each, %[4]d variants in all, by seeds, so that every run gives the same.

An exchange (a request with its response, or a request that expects none) *can be shown* when every
packet that carried it is there and is not cut. It *is shown* when it comes out as whole, with the very
bytes and the JSON of the undamaged capture; that JSON equals the line which the broker itself logged.
Anything that is shown as whole and is not in the undamaged capture, a pair that does not belong
together, and a half of which bytes are missing without a word about it count as *wrong*.

| damage | packets | lost or cut | exchanges that can be shown | shown | share | frames that can be shown | shown | share | wrong |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`, "`", len(t.Labs), len(t.Kinds), total.Variants)
	row := func(name string, r *Result) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s | %d | %d | %s | %d |\n", name, r.Packets, r.Damaged,
			r.Possible, r.Recovered, share(r.Recovered, r.Possible), r.PossibleFrames, r.RecoveredFrames, share(r.RecoveredFrames, r.PossibleFrames), len(r.Wrong))
	}
	for i := range t.Rows {
		row(t.Kinds[i].Name, &t.Rows[i])
	}
	row("all", &total)
	fmt.Fprintf(&b, `
%d exchanges were shown as whole and compared, %d of these with a line of a broker's log.

Frames include those whose other half is lost. A response whose request is lost is shown while its
direction is in step; a search behind a gap passes it over, because numbers in records look just like it.

## Where the bytes are

Every captured byte of a Kafka connection is in a frame, or is skipped with a reason; every missing one
is in a gap that is listed. Connections of which too little is left to tell are listed as unknown.

| damage | captured | in whole frames | in frames that lack bytes | skipped | in unknown connections | missing, in gaps |
|---|--:|--:|--:|--:|--:|--:|
`, total.Checked, total.Logged)
	bytesRow := func(name string, r *Bytes) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", name, r.Stream, r.Whole, r.Incomplete, r.Skipped, r.Unknown, r.Missing)
	}
	for i := range t.Rows {
		bytesRow(t.Kinds[i].Name, &t.Rows[i].Bytes)
	}
	bytesRow("all", &total.Bytes)
	fmt.Fprintf(&b, `
## Exchanges that were passed over

All their packets are there, but a size prefix in front of one of their frames is lost, and the search
for the next frame passed over it: %d.

`, len(total.Swallowed))
	for i := range t.Rows {
		for _, s := range slices.Sorted(slices.Values(t.Rows[i].Swallowed)) {
			fmt.Fprintf(&b, "- %s: %s\n", t.Kinds[i].Name, s)
		}
	}
	b.WriteString("\n## The captures\n\n| capture | packets | exchanges | of these in the broker's log, and equal |\n|---|--:|--:|--:|\n")
	for _, l := range t.Labs {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", l.Name, len(l.Packets), l.Exchanges, l.Logged)
	}
	return b.Bytes()
}
