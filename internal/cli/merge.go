package cli

import (
	"strconv"

	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/tree"
)

// merger brings the results of all workers into one order, and gives them their numbers.
type merger struct {
	numbers     []map[int64]int64 // by worker: the number of an open connection by its id there
	next        []int             // by worker: its first result that is not taken
	connections int64
	exchanges   int64
	checker     output.BatchChecker
	late        []tree.Issue // about the present exchange
	text        []byte
}

func newMerger(workers int) *merger {
	m := &merger{next: make([]int, workers)}
	for range workers {
		m.numbers = append(m.numbers, map[int64]int64{})
	}
	return m
}

// merge calls take with each result of b in order of place, those of one place in order of their
// connections' first packets: with the connection's number and the text, if there is any.
func (m *merger) merge(b *batch, take func(r *result, connection int64, text []byte)) {
	clear(m.next)
	for {
		w := m.first(b)
		if w < 0 {
			return
		}
		rs := &b.results[w]
		r := &rs.list[m.next[w]]
		m.next[w]++
		numbers := m.numbers[w]
		switch r.kind {
		case opened:
			m.connections++
			numbers[r.id] = m.connections
			continue
		case exchange:
			m.exchanges++
			m.late = m.checker.Check(m.exchanges, rs.sent[r.sentFrom:r.sentTo])
			for _, i := range m.late {
				r.late.add(i.Severity)
			}
		}
		number := numbers[r.id]
		if r.kind == closed {
			delete(numbers, r.id)
		}
		text := rs.text[r.from:r.to]
		if r.slotTo > r.slotFrom {
			text = m.fill(rs, r, number)
		}
		take(r, number, text)
	}
}

// first returns the worker whose next result comes first, or -1.
func (m *merger) first(b *batch) int {
	best := -1
	var least *result
	for w, n := range m.next {
		list := b.results[w].list
		if n == len(list) {
			continue
		}
		if r := &list[n]; best < 0 || r.place < least.place || r.place == least.place && r.first < least.first {
			best, least = w, r
		}
	}
	return best
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
