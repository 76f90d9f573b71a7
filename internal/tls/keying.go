package tls

import "github.com/kdissect/kdissect/reassembly"

// pending are the keys of one direction that the other has proven, in TLS 1.2.
type pending struct {
	open      opener
	handshake int // that they are of
}

// isClient reports whether h is the client's direction; it holds once there was a ClientHello.
func (h *half) isClient() bool { return h.dir == h.s.info.Client }

func (h *half) other() *half { return &h.s.half[h.dir.Other()] }

// advance begins to use the keys that follow. It returns false where it has to wait for them; rec
// is the first record under them.
func (h *half) advance(rec []byte) bool {
	if !h.s.agreed() {
		return false
	}
	if !h.s.is13() {
		return h.enter12(rec)
	}
	switch h.stage {
	case plain: // a ChangeCipherSpec from before it was known that this is TLS 1.3
		h.change = false
		return true
	case earlyData:
		return h.use(handshaking)
	}
	return h.use(traffic)
}

// use sets the keys of a stage of TLS 1.3, where their secret is known.
func (h *half) use(next stage) bool {
	secret := h.s.secret(h.label(next))
	if secret == nil || !h.install(secret) {
		return false
	}
	h.stage, h.change = next, false
	return true
}

func (h *half) install(secret []byte) bool {
	o, err := newOpener13(&h.s.suite, secret)
	if err != nil {
		h.fail(err.Error())
		return false
	}
	h.open, h.secret, h.seq = o, secret, 0
	return true
}

// label returns what the secret of a stage is called in a key log.
func (h *half) label(st stage) label {
	switch client := h.isClient(); {
	case st == earlyData:
		return clientEarly
	case st == handshaking && client:
		return clientHandshake
	case st == handshaking:
		return serverHandshake
	case client:
		return clientTraffic
	}
	return serverTraffic
}

// dropsEarly reports whether a record is early data that the server will not take: behind a
// HelloRetryRequest, all of it up to the second ClientHello is.
func (h *half) dropsEarly() bool {
	s := h.s
	return s.asked > 0 && h.isClient() && s.retried && s.hellos < 2
}

// enter13 sets the first keys of a direction in TLS 1.3. It returns false where it has to wait.
func (h *half) enter13() bool {
	s := h.s
	switch {
	case !s.agreed():
		return false
	case !s.is13():
		h.fail("application data before the end of the handshake")
		return false
	}
	s.resumed()
	if h.isClient() && s.client.early && !s.retried {
		if s.early == undecided && !h.other().shut {
			return false
		}
		if s.early != no && h.use(earlyData) {
			return true
		}
		h.lax = true
	}
	if h.use(handshaking) {
		return true
	}
	if h.shut {
		return false
	}
	// What a handshake is protected with need not be in a key log: its records are passed over.
	if h.use(traffic) {
		h.lax = true
		return true
	}
	return false
}

// enter12 sets the keys of TLS 1.2 behind a ChangeCipherSpec. Of several secrets that may be the
// right one, the one counts that opens rec.
func (h *half) enter12(rec []byte) bool {
	if r := h.ready; r != nil && r.handshake == h.s.replied {
		h.start12(r.open)
		return true
	}
	masters := h.s.masters()
	if len(masters) == 0 {
		return false
	}
	for _, m := range masters {
		mine, theirs, err := h.openers12(m)
		if err != nil {
			h.fail(err.Error())
			return false
		}
		if _, _, ok := mine.open(h.scratch, rec, 0); ok {
			h.adopt12(m, mine, theirs)
			return true
		}
	}
	h.fail("the secret for its session does not fit")
	return false
}

func (h *half) openers12(master []byte) (mine, theirs opener, err error) {
	pair, err := newOpeners12(&h.s.suite, master, &h.s.client.random, &h.s.server.random, h.s.server.sealed)
	if h.isClient() {
		return pair[0], pair[1], err
	}
	return pair[1], pair[0], err
}

// adopt12 uses a master secret that was proven, in both directions.
func (h *half) adopt12(master []byte, mine, theirs opener) {
	h.s.resumed()
	h.s.adopt(master)
	h.other().ready = &pending{theirs, h.s.replied}
	h.start12(mine)
}

func (h *half) start12(o opener) {
	h.open, h.seq, h.stage, h.change, h.ready = o, 0, traffic, false, nil
}

// updateKey moves on to the next secret of TLS 1.3.
func (h *half) updateKey() {
	secret, err := nextSecret(&h.s.suite, h.secret)
	if err != nil {
		h.fail(err.Error())
		return
	}
	h.install(secret)
}

// maxBad is how many records in a row may fail to decrypt.
const maxBad = 16

// undecryptable handles a record that does not decrypt where it should: bytes of it were changed,
// records before it are missing although no gap says so, or it belongs to early data.
func (h *half) undecryptable(rec []byte) {
	c := candidate{distance: -1, most: 32}
	if h.lax {
		c.most = 0
	}
	if h.again(rec, c) || h.lax {
		return
	}
	if h.bad++; h.bad > maxBad {
		h.fail("its records do not decrypt with the secret for its client random")
		return
	}
	h.loseRecord(rec[0], len(rec)-headerSize, reassembly.NotDecrypted)
}

// loseRecord notes that a record of n bytes behind its header is missing.
func (h *half) loseRecord(kind uint8, n int, why reassembly.Reason) {
	if h.stage == plain {
		h.messagesEnd()
		return
	}
	h.seq++
	h.msgLost, h.msg, h.msgSkip = true, h.msg[:0], 0
	over, exact := h.open.overhead()
	switch {
	case h.s.is13() && h.stage != traffic, kind != applicationData:
	case !exact || h.early13():
		h.lose(-1, why)
	default:
		h.lose(int64(max(n-over, 0)), why)
	}
}

// early13 reports whether what is missing may be a session ticket: servers send some behind the
// handshake, under the keys of the application data.
func (h *half) early13() bool { return h.s.is13() && !h.isClient() && h.seq < 8 }
