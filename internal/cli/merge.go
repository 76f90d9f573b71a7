package cli

import (
	"math"
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
// that was opened. What of the two comes first is at place, and first is the first packet of its
// connection: 0 where one is opened, since nothing else happens there.
type heads struct {
	result, opened int
	place, first   int64
	opens          bool // what comes first is a connection that was opened
}

// behindAll is the place of heads of which all is taken.
const behindAll = math.MaxInt64

// look finds out what comes first of rs.
func (h *heads) look(rs *results) {
	h.place, h.first, h.opens = behindAll, 0, false
	if h.opened < len(rs.opened) {
		h.place, h.opens = rs.opened[h.opened], true
	}
	if h.result < len(rs.list) {
		if r := &rs.list[h.result]; r.place < h.place {
			h.place, h.first, h.opens = r.place, r.first, false
		}
	}
}

func newMerger(workers int) *merger {
	return &merger{next: make([]heads, workers), numbers: make([]numbering, workers)}
}

// merge calls take with each result of b in order of place, those of one place in order of their
// connections' first packets: with the connection's number, where that is asked for, and the text,
// if there is any.
func (m *merger) merge(b *batch, take func(r *result, connection int64, text []byte)) {
	clear(m.next)
	for w := range m.next {
		m.next[w].look(&b.results[w])
	}
	for {
		w := m.first()
		rs, next, numbers := &b.results[w], &m.next[w], &m.numbers[w]
		if next.place == behindAll {
			break
		}
		if next.opens {
			m.connections++
			numbers.set(rs.seen-int64(len(rs.opened)-next.opened)+1, m.connections)
			next.opened++
			next.look(rs)
			continue
		}
		r := &rs.list[next.result]
		next.result++
		next.look(rs)
		if r.kind == exchange {
			m.exchanges++
			m.late = m.checker.Check(m.exchanges, rs.sent[r.sentFrom:r.sentTo])
			for _, i := range m.late {
				r.late.add(i.Severity)
			}
		}
		var number int64
		if r.kind != exchange || r.slotTo > r.slotFrom {
			number = numbers.of(r.id)
		}
		text := rs.blockOf(r.block)
		switch {
		case r.before > 0:
			text = m.fillLong(rs, r, number)
		case r.slotTo > r.slotFrom:
			m.text = m.fill(m.text[:0], text[:r.to], r.from, rs.slots[r.slotFrom:r.slotTo], number)
			text = m.text
		default:
			text = text[r.from:r.to]
		}
		take(r, number, text)
		r.long = nil
	}
	for w := range b.results {
		for _, id := range b.results[w].ended {
			m.numbers[w].forget(id)
		}
		b.results[w].release()
	}
}

// first returns the worker whose next result, or connection that was opened, comes first.
func (m *merger) first() (worker int) {
	for w := 1; w < len(m.next); w++ {
		if h, best := &m.next[w], &m.next[worker]; h.place < best.place || h.place == best.place && h.first < best.first {
			worker = w
		}
	}
	return worker
}

// fill appends the text of a block from a place on, with all that belongs there.
func (m *merger) fill(out, block []byte, from int, slots []slot, connection int64) []byte {
	for _, s := range slots {
		out = append(out, block[from:s.At]...)
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
	return append(out, block[from:]...)
}

// fillLong is fill for a text of several blocks, of which all but the last become r.long.
func (m *merger) fillLong(rs *results, r *result, connection int64) []byte {
	slots, from := rs.slots[r.slotFrom:r.slotTo], r.from
	for i := r.block - r.before; i < r.block; i++ {
		block, n := rs.blockOf(i), 0
		for n < len(slots) && slots[n].block == i {
			n++
		}
		if n > 0 {
			behind := slots[n-1].At
			r.long = append(r.long, m.fill(nil, block[:behind], from, slots[:n], connection))
			slots, from = slots[n:], behind
		}
		r.long = append(r.long, block[from:])
		from = 0
	}
	m.text = m.fill(m.text[:0], rs.blockOf(r.block)[:r.to], from, slots, connection)
	return m.text
}
