package tls

import (
	"github.com/kdissect/kdissect/reassembly"
)

// search looks for the first record behind a gap.
type search struct {
	// from is where the last record that is known ends, in the captured stream; known tells
	// whether the distance from there is certain.
	from  int64
	known bool

	buf    []byte // captured bytes that may begin with a record
	off    int64  // of buf in the captured stream
	reason reassembly.Reason
	trials int // left
	bytes  int // left
}

// gap handles bytes that are missing from h.pos on.
func (h *half) gap(e event) {
	end := e.off + max(e.n, 0)
	known := e.n >= 0
	switch {
	case h.search != nil:
		h.search.buf = h.search.buf[:0]
		h.search.known = h.search.known && known
		h.pos = end
		return
	case h.skip > 0:
		if known && e.n <= h.skip {
			h.skip -= e.n
			h.pos = end
			return
		}
		h.find(e.off+h.skip, known, e.reason)
	case len(h.rec) >= headerSize:
		start := e.off - int64(len(h.rec))
		size := headerSize + fragment(h.rec)
		if h.stage == plain && h.rec[0] == handshake {
			h.messages(h.rec[headerSize:])
		}
		kind := h.rec[0]
		h.rec = h.rec[:0]
		if h.shut {
			return
		}
		h.loseRecord(kind, size-headerSize, e.reason)
		if recEnd := start + int64(size); known && end <= recEnd {
			h.skip = recEnd - end
		} else {
			h.find(recEnd, known, e.reason)
		}
	default:
		start := e.off - int64(len(h.rec))
		h.rec = h.rec[:0]
		h.find(start, known, e.reason)
	}
	h.pos = end
}

// find begins a search for the records behind from.
func (h *half) find(from int64, known bool, why reassembly.Reason) {
	h.skip, h.greeted = 0, true
	if h.stage == plain {
		h.messagesEnd()
	}
	h.search = &search{from: from, known: known, reason: why, trials: h.s.d.limits.Trials, bytes: h.s.d.limits.TrialBytes}
}

// add takes captured bytes, which begin at h.pos.
func (f *search) add(h *half, b []byte) {
	if len(f.buf) == 0 {
		f.off = h.pos
	}
	f.buf = append(f.buf, b...)
	h.pos += int64(len(b))
}

// searchOn goes on with the search. At the end of the stream nothing more follows.
func (h *half) searchOn(end bool) {
	f := h.search
	for i := 0; ; i++ {
		b := f.buf[i:]
		if len(b) < headerSize {
			f.drop(i)
			return
		}
		if !plausible(b) {
			continue
		}
		size := headerSize + fragment(b)
		if len(b) < size {
			if end {
				continue
			}
			f.drop(i)
			return
		}
		if next := b[size:]; len(next) >= headerSize && !plausible(next) {
			continue
		}
		switch h.try(b[:size], f.off+int64(i)) {
		case undecided: // it has to wait
			f.drop(i)
			h.waitSearch()
			return
		case yes:
			rest := b[size:]
			h.search = nil
			h.pos = f.off + int64(i+size)
			h.bytes(rest)
			return
		}
		if f.trials <= 0 || f.bytes <= 0 {
			h.fail("a gap, behind which no record could be decrypted")
			return
		}
	}
}

// drop forgets the first n bytes.
func (f *search) drop(n int) {
	f.buf = f.buf[:copy(f.buf, f.buf[n:])]
	f.off += int64(n)
}

// waitSearch makes the direction wait with what it has to search.
func (h *half) waitSearch() {
	f := h.search
	h.stalled = true
	b := f.buf
	f.buf = nil
	h.keep(event{kind: chunkEvent, dir: h.dir, off: f.off, n: int64(len(b)), b: b, packet: h.packet, time: h.time})
}

// candidate is a record whose number is not known.
type candidate struct {
	distance int64 // captured bytes between it and the last record that is known; -1 where unknown
	most     int   // numbers to try under each key
}

// try tries what stands at off as the next record; undecided means that it has to wait.
func (h *half) try(rec []byte, off int64) answer {
	s, f := h.s, h.search
	if s.agreed() {
		c := candidate{distance: -1, most: f.trials}
		if f.known {
			c.distance = off - f.from
		}
		if h.again(rec, c) {
			return yes
		}
	}
	switch {
	case h.shut:
		return no
	case h.stage == plain && !h.change && clearRecord(rec):
		if !h.record(rec) {
			return undecided
		}
		return yes
	case !s.agreed() || h.lacks():
		return undecided
	}
	return no
}

// clearRecord reports whether rec looks like one of a handshake that is not protected.
func clearRecord(rec []byte) bool {
	b := rec[headerSize:]
	switch rec[0] {
	case changeCipherSpec:
		return len(b) == 1 && b[0] == 1
	case handshake:
		return len(b) >= msgHeader && isMessage(b[0]) && b[1] == 0
	case alert:
		return len(b) == 2 && (b[0] == 1 || b[0] == 2)
	}
	return false
}

// lacks reports whether the secret for what follows is not known yet.
func (h *half) lacks() bool {
	switch {
	case h.stage == traffic:
		return false
	case h.s.is13():
		return h.s.secret(h.label(traffic)) == nil
	}
	return h.ready == nil && len(h.s.masters()) == 0
}

// again tries to open rec with the key in use and with those that may follow, with each number
// that rec may have. Where one does, it handles the content and returns true.
func (h *half) again(rec []byte, c candidate) bool {
	if h.open != nil && h.numbers(h.keying, rec, c) {
		return true
	}
	switch {
	case !h.s.agreed():
		return false
	case h.s.is13():
		return h.again13(rec, c)
	}
	return (h.stage == plain || h.change) && h.again12(rec, c)
}

// again12 tries the keys behind a ChangeCipherSpec.
func (h *half) again12(rec []byte, c candidate) bool {
	if r := h.ready; r != nil && r.handshake == h.s.replied {
		if !h.numbers(keying{stage: traffic, open: r.open}, rec, c) {
			return false
		}
		h.ready = nil
		return true
	}
	for _, m := range h.s.masters() {
		mine, theirs, err := h.openers12(m)
		if err != nil {
			return false
		}
		if h.numbers(keying{stage: traffic, open: mine}, rec, c) {
			h.s.resumed()
			h.s.adopt(m)
			h.other().ready = &pending{theirs, h.s.replied}
			return true
		}
	}
	return false
}

// again13 tries the keys of the stages that follow, or that of the next key update.
func (h *half) again13(rec []byte, c candidate) bool {
	next := func(secret []byte, st stage) bool {
		o, err := newOpener13(&h.s.suite, secret)
		return err == nil && h.numbers(keying{stage: st, open: o, secret: secret}, rec, c)
	}
	if h.stage == traffic {
		secret, err := nextSecret(&h.s.suite, h.secret)
		return err == nil && next(secret, traffic)
	}
	for st := max(h.stage+1, handshaking); st <= traffic; st++ {
		if secret := h.s.secret(h.label(st)); secret != nil && next(secret, st) {
			return true
		}
	}
	return false
}

// numbers tries the numbers that rec may have under k: k.seq and those behind it.
func (h *half) numbers(k keying, rec []byte, c candidate) bool {
	over, _ := k.open.overhead()
	if len(rec) < headerSize+over {
		return false
	}
	least, most := int64(0), int64(c.most)
	if c.distance >= 0 {
		if k.open == h.open { // else those before may have been under another key
			least = (c.distance + headerSize + maxFragment - 1) / (headerSize + maxFragment)
		}
		most = min(least+most, c.distance/int64(headerSize+over))
	}
	if guess, ok := k.open.guess(rec); ok && guess >= k.seq && h.opens(k, rec, guess-k.seq, c) {
		return true
	}
	for n := least; n <= most; n++ {
		if f := h.search; f != nil {
			f.trials--
			f.bytes -= len(rec)
			if f.trials < 0 || f.bytes < 0 {
				return false
			}
		}
		if h.opens(k, rec, uint64(n), c) {
			return true
		}
	}
	return false
}

// opens tries to open rec as the n-th record behind k, and where it does handles the content.
func (h *half) opens(k keying, rec []byte, n uint64, c candidate) bool {
	content, kind, ok := k.open.open(h.scratch, rec, k.seq+n)
	if !ok {
		return false
	}
	h.scratch = content[:0]
	h.missed(k, int64(n), c)
	h.keying = k
	h.seq, h.change = k.seq+n+1, false
	h.bad, h.lax = 0, false
	h.msgLost, h.msg, h.msgSkip = true, h.msg[:0], 0
	h.content(kind, content)
	return true
}

// missed notes the plaintext that is missing before a record which is the n-th behind k.
func (h *half) missed(k keying, n int64, c candidate) {
	why := reassembly.NotDecrypted
	if h.search != nil {
		why = h.search.reason
	}
	over, exact := k.open.overhead()
	switch {
	case k.stage != traffic, h.stage != traffic && n == 0:
		// nothing but a handshake
	case k.open != h.open, !exact, c.distance < 0, h.early13():
		if n > 0 || k.open != h.open {
			h.lose(-1, why)
		}
	default:
		h.lose(max(c.distance-n*int64(headerSize+over), 0), why)
	}
}
