package cli

import (
	"strconv"

	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/tree"
)

// merger brings the results of all workers into one order, and gives them their numbers.
type merger struct {
	numbers     []numbering // by worker
	next        []heads     // by worker
	connections int64
	exchanges   int64
	checker     output.BatchChecker
	late        []tree.Issue // about the present exchange
	text        []byte
}

// heads are what of a worker's results is not taken yet: the first result, and the first connection
// that was opened.
type heads struct{ result, opened int }

func newMerger(workers int) *merger {
	return &merger{next: make([]heads, workers), numbers: make([]numbering, workers)}
}

// merge calls take with each result of b in order of place, those of one place in order of their
// connections' first packets: with the connection's number and the text, if there is any.
func (m *merger) merge(b *batch, take func(r *result, connection int64, text []byte)) {
	clear(m.next)
	for {
		w, opened := m.first(b)
		if w < 0 {
			break
		}
		rs, next, numbers := &b.results[w], &m.next[w], &m.numbers[w]
		if opened {
			m.connections++
			numbers.set(rs.seen-int64(len(rs.opened)-next.opened)+1, m.connections)
			next.opened++
			continue
		}
		r := &rs.list[next.result]
		next.result++
		if r.kind == exchange {
			m.exchanges++
			m.late = m.checker.Check(m.exchanges, rs.sent[r.sentFrom:r.sentTo])
			for _, i := range m.late {
				r.late.add(i.Severity)
			}
		}
		number := numbers.of(r.id)
		text := rs.text[r.from:r.to]
		if r.slotTo > r.slotFrom {
			text = m.fill(rs, r, number)
		}
		take(r, number, text)
	}
	for w := range b.results {
		for _, id := range b.results[w].ended {
			m.numbers[w].forget(id)
		}
	}
}

// first returns the worker whose next result comes first, or -1, and whether it is a connection
// that was opened.
func (m *merger) first(b *batch) (worker int, opened bool) {
	worker = -1
	var place, first int64
	for w, next := range m.next {
		rs := &b.results[w]
		var p, f int64 // where a connection is opened nothing else happens
		isOpen := next.opened < len(rs.opened)
		if isOpen {
			p = rs.opened[next.opened]
		}
		if next.result < len(rs.list) {
			if r := &rs.list[next.result]; !isOpen || r.place < p {
				p, f, isOpen = r.place, r.first, false
			}
		} else if !isOpen {
			continue
		}
		if worker < 0 || p < place || p == place && f < first {
			worker, opened, place, first = w, isOpen, p, f
		}
	}
	return worker, opened
}

// fill returns the text of r with all that belongs there.
func (m *merger) fill(rs *results, r *result, connection int64) []byte {
	out, from := m.text[:0], r.from
	for _, s := range rs.slots[r.slotFrom:r.slotTo] {
		out = append(out, rs.text[from:s.At]...)
		from = s.At
		switch s.Kind {
		case output.ExchangeNumber:
			out = strconv.AppendInt(out, m.exchanges, 10)
		case output.ConnectionNumber:
			out = strconv.AppendInt(out, connection, 10)
		default:
			out = s.AppendIssues(out, m.late)
		}
	}
	m.text = append(out, rs.text[from:r.to]...)
	return m.text
}
