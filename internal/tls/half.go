package tls

import (
	"github.com/kdissect/kdissect/reassembly"
)

// stage is what protects the records of a direction.
type stage uint8

const (
	plain       stage = iota // nothing
	earlyData                // TLS 1.3
	handshaking              // TLS 1.3
	traffic
)

// keying is the protection of the record that comes next.
type keying struct {
	stage  stage
	open   opener
	secret []byte // of open, in TLS 1.3
	seq    uint64
	change bool // the next record is protected by what comes after stage
}

// half is one direction of a session.
type half struct {
	s   *session
	dir reassembly.Dir

	// Bytes that wait: because the other direction, or a secret, has to come first.
	stalled bool
	queue   []event
	store   []byte // of the queue's chunks

	rec     []byte // a record that is not whole or that waits
	waits   bool   // rec is whole
	pos     int64  // in the captured stream, of the next byte
	skip    int64  // bytes that follow of a record that is lost
	search  *search
	packet  int64 // of the event that is handled
	time    int64
	scratch []byte

	keying
	ready *pending // what the other direction has found out for it, in TLS 1.2
	lax   bool     // records that do not decrypt are of no interest
	bad   int      // records in a row that did not decrypt
	shut  bool     // given up
	ended bool     // its end was handed on

	greeted bool   // a hello was seen, or is missing
	msg     []byte // the beginning of a handshake message
	msgSkip int    // bytes of a handshake message that is not looked at
	msgLost bool   // bytes of handshake messages are missing

	out  int64 // plaintext offset
	lost loss  // what is missing before it
}

// loss is plaintext that is missing.
type loss struct {
	any    bool
	n      int64 // -1 where unknown
	reason reassembly.Reason
	packet int64
	time   int64
}

// take takes an event, or keeps it for later.
func (h *half) take(e event) {
	switch {
	case h.shut:
		if e.kind == finishEvent {
			h.finish(e)
		}
	case h.stalled:
		h.keep(e)
	default:
		h.do(e)
	}
}

// keep puts an event behind those that wait.
func (h *half) keep(e event) {
	if e.kind == chunkEvent {
		h.store = append(h.store, e.b...)
		h.s.hold(len(e.b))
		e.b = nil
	}
	h.s.hold(eventSize)
	h.queue = append(h.queue, e)
}

// eventSize is about what an event in the queue takes.
const eventSize = 80

// retry goes on where it had to wait. It reports whether it got further.
func (h *half) retry() bool {
	h.stalled = false
	if h.waits {
		h.waits = false
		n := len(h.rec)
		h.s.hold(-n)
		if !h.record(h.rec) {
			h.stalled, h.waits = true, true
			h.s.hold(n)
			return false
		}
		h.rec = h.rec[:0]
	}
	queue, store := h.queue, h.store
	h.queue, h.store = nil, nil
	h.s.hold(-len(store) - len(queue)*eventSize)
	before := len(queue)
	for _, e := range queue {
		if e.kind == chunkEvent {
			e.b, store = store[:e.n:e.n], store[e.n:]
		}
		h.take(e)
	}
	return !h.stalled || len(h.queue) < before
}

// do handles an event.
func (h *half) do(e event) {
	h.packet, h.time = e.packet, e.time
	switch e.kind {
	case chunkEvent:
		h.pos = e.off
		h.bytes(e.b)
	case gapEvent:
		h.pos = e.off
		h.gap(e)
	case finishEvent:
		h.finish(e)
	}
}

// finish hands the end of the direction on.
func (h *half) finish(e event) {
	h.end(e.packet, e.time)
	h.s.d.next.Finish(h.s.t, h.dir, e.packet, e.time)
}

// end gives what is left at the end of the direction.
func (h *half) end(packet, time int64) {
	if h.ended {
		return
	}
	h.ended = true
	h.packet, h.time = packet, time
	if h.search != nil && !h.shut {
		h.searchOn(true)
	}
	if h.stalled { // nothing comes that it could wait for
		h.fail(h.s.reason())
	}
	h.tellLoss()
}

// fail gives the direction up. What follows is not decrypted.
func (h *half) fail(why string) {
	if h.shut {
		return
	}
	h.shut = true
	if h.s.info.Failure == "" {
		h.s.info.Failure = why
	}
	if h.s.info.Decrypted {
		h.lose(-1, reassembly.NotDecrypted)
	}
	held := len(h.store) + len(h.queue)*eventSize
	if h.waits {
		held += len(h.rec)
	}
	h.s.hold(-held)
	for _, e := range h.queue {
		if e.kind == finishEvent {
			h.finish(e)
		}
	}
	h.stalled, h.waits = false, false
	h.queue, h.store, h.rec, h.search, h.msg, h.scratch = nil, nil, nil, nil, nil, nil
}

// bytes handles captured bytes, which begin at h.pos.
func (h *half) bytes(b []byte) {
	for len(b) > 0 && !h.shut {
		if h.skip > 0 {
			n := min(h.skip, int64(len(b)))
			b, h.skip, h.pos = b[n:], h.skip-n, h.pos+n
			continue
		}
		if h.search != nil {
			h.search.add(h, b)
			h.searchOn(false)
			return
		}
		rec, n, ok := h.next(b)
		if !ok {
			h.fail("bytes that are no TLS record")
			return
		}
		b, h.pos = b[n:], h.pos+int64(n)
		if rec == nil {
			return
		}
		if !h.record(rec) {
			h.wait(rec, b)
			return
		}
		h.rec = h.rec[:0]
	}
}

// wait keeps a record that cannot be handled yet, and the bytes behind it.
func (h *half) wait(rec, behind []byte) {
	if h.shut {
		return
	}
	if len(h.rec) == 0 {
		h.rec = append(h.rec, rec...)
	}
	h.s.hold(len(h.rec))
	h.stalled, h.waits = true, true
	if len(behind) > 0 {
		h.keep(event{kind: chunkEvent, dir: h.dir, off: h.pos, n: int64(len(behind)), b: behind, packet: h.packet, time: h.time})
	}
}

// next returns the next record, nil where it is not whole, and how many bytes of b are taken. ok
// is false where they are no record.
func (h *half) next(b []byte) (rec []byte, n int, ok bool) {
	if len(h.rec) == 0 && len(b) >= headerSize {
		if !plausible(b) {
			return nil, 0, false
		}
		if size := headerSize + fragment(b); len(b) >= size {
			return b[:size], size, true
		}
	}
	if need := headerSize - len(h.rec); need > 0 {
		n = min(need, len(b))
		h.rec = append(h.rec, b[:n]...)
		if len(h.rec) < headerSize {
			return nil, n, true
		}
	}
	if !plausible(h.rec) {
		return nil, n, false
	}
	size := headerSize + fragment(h.rec)
	more := min(size-len(h.rec), len(b)-n)
	h.rec = append(h.rec, b[n:n+more]...)
	if n += more; len(h.rec) < size {
		return nil, n, true
	}
	return h.rec, n, true
}

// record handles a whole record. It returns false where the record has to wait.
func (h *half) record(rec []byte) bool {
	if rec[0] == changeCipherSpec && h.s.is13() {
		return true // there for middleboxes only
	}
	if h.change && !h.advance(rec) || h.shut {
		return h.shut
	}
	if h.stage == plain {
		switch {
		case rec[0] != applicationData:
			return h.content(rec[0], rec[headerSize:])
		case !h.greeted && !h.s.agreed():
			h.s.fail(h.s.reason())
			return true
		case h.dropsEarly():
			return true
		case !h.enter13():
			return h.shut
		}
	}
	content, kind, ok := h.open.open(h.scratch, rec, h.seq)
	if !ok {
		h.undecryptable(rec)
		return true
	}
	h.scratch = content[:0]
	h.seq++
	h.bad, h.lax = 0, false
	return h.content(kind, content)
}

// content handles the content of a record.
func (h *half) content(kind uint8, b []byte) bool {
	switch kind {
	case handshake:
		h.messages(b)
	case alert:
		if h.stage == plain {
			h.s.alertFrom(h, b)
		}
	case changeCipherSpec:
		h.change = !h.s.retried // what asks for another hello is TLS 1.3, where it means nothing
	case applicationData:
		h.deliver(b)
	}
	return true
}

// deliver hands on application data.
func (h *half) deliver(b []byte) {
	if len(b) == 0 {
		return
	}
	h.tellLoss()
	h.s.info.Decrypted = true
	h.s.info.Plain[h.dir] += int64(len(b))
	h.s.d.next.Chunk(h.s.t, h.dir, reassembly.Chunk{Off: h.out, Bytes: b, Packet: h.packet, Time: h.time})
	h.out += int64(len(b))
}

// lose notes that n bytes of plaintext are missing here, -1 where that is not known.
func (h *half) lose(n int64, why reassembly.Reason) {
	if n == 0 {
		return
	}
	l := &h.lost
	if !l.any {
		*l = loss{any: true, reason: why}
	}
	l.packet, l.time = h.packet, h.time
	if n < 0 || l.n < 0 {
		l.n = -1
		return
	}
	l.n += n
}

// tellLoss hands the gap on that was noted.
func (h *half) tellLoss() {
	l := h.lost
	if !l.any {
		return
	}
	h.lost = loss{}
	h.s.d.next.Gap(h.s.t, h.dir, reassembly.Gap{Off: h.out, Len: l.n, Reason: l.reason, Packet: l.packet, Time: l.time})
	h.out += max(l.n, 0)
}
