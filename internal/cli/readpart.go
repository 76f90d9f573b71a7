package cli

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/reassembly"
)

var _ divisible = (*reader)(nil)

// readPart is a worker's part of a reader.
type readPart struct {
	*reader
	into  **results
	slots output.Slots
}

// part implements divisible.
func (r *reader) part(into **results) (dissect.Handler, tap, error) {
	p := &readPart{into: into}
	var err error
	if p.reader, err = r.another(&p.slots, p); err != nil {
		return nil, nil, err
	}
	p.first, p.room = r.first, r.room
	return p, nil, nil
}

// Exchange implements dissect.Handler.
func (p *readPart) Exchange(x *dissect.Exchange) {
	rs := *p.into
	from, slotFrom, sentFrom := len(rs.text), len(rs.slots), len(rs.sent)
	block, hits := len(rs.full), p.hits()
	if p.batches != nil { // also of exchanges that are not shown, lest there be gaps
		rs.sent = append(rs.sent, p.batches.Find(x)...)
	}
	// Without --where nothing can fail.
	shown, _ := p.selected(x)
	p.issues = issueCount{}
	if shown {
		rs.text = p.out.Append(rs.text, x)
		p.place()
		if p.strict {
			p.count(x)
		}
	}
	p.hit(hits)
	res := rs.exchange(x)
	res.shown, res.issues = shown, p.issues
	res.from, res.to = from, len(rs.text)
	res.slotFrom, res.slotTo = slotFrom, len(rs.slots)
	res.sentFrom, res.sentTo = sentFrom, len(rs.sent)
	res.before = len(rs.full) - block
	if len(rs.text) >= blockText {
		rs.text = rs.seal(rs.text, len(rs.text), p.room)
	}
}

// place moves the slots noted so far, which are in the present block, to the results.
func (p *readPart) place() {
	rs := *p.into
	for _, s := range p.slots {
		rs.slots = append(rs.slots, slot{s, len(rs.full)})
	}
	p.slots = p.slots[:0]
}

// Full implements output.Long.
func (p *readPart) Full() bool { return p.room.closed() }

// Spill implements output.Long.
func (p *readPart) Spill(b []byte, n int) ([]byte, bool) {
	p.place()
	b = (*p.into).seal(b, n, p.room)
	return b, !p.room.full()
}

// Limit implements output.Long.
func (p *readPart) Limit() string {
	most := size(p.room.most)
	return "the text that several workers have made is at its limit of " + most.String() + " (--max-text, --max-memory; --workers 1 has none)"
}

// Closed implements dissect.Handler.
func (p *readPart) Closed(c *dissect.Connection, _ reassembly.End) {
	rs := *p.into
	if p.selection.onConnection(c) {
		var found issueCount
		if found.connection(c); found != (issueCount{}) {
			rs.add(result{kind: closed, first: c.TCP.FirstPacket, id: c.TCP.ID, issues: found})
		}
	}
	rs.end(c.TCP.ID)
}

// take implements divisible.
func (r *reader) take(res *result, _ int64, text []byte) {
	if r.done() {
		return
	}
	r.issues.warnings += res.issues.warnings
	r.issues.errors += res.issues.errors
	if !res.shown {
		return
	}
	if r.strict {
		r.issues.warnings += res.late.warnings
		r.issues.errors += res.late.errors
	}
	r.shown++
	for _, piece := range res.long {
		r.flush()
		r.write(piece)
	}
	if len(text) >= mergedText {
		r.flush()
		r.write(text)
		return
	}
	r.merged = append(r.merged, text...)
	if len(r.merged) >= mergedText {
		r.flush()
	}
}

// mergedText is how much text is gathered before it is written.
const mergedText = 64 << 10

// flush implements divisible.
func (r *reader) flush() {
	r.write(r.merged)
	r.merged = r.merged[:0]
}

// write writes text, unless that failed before.
func (r *reader) write(text []byte) {
	if len(text) > 0 && r.err == nil {
		_, r.err = r.text.Write(text)
	}
}
