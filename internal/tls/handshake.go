package tls

// Handshake messages (RFC 8446, section 4; RFC 5246, section 7.4).
const (
	msgClientHello         = 1
	msgServerHello         = 2
	msgNewSessionTicket    = 4
	msgEndOfEarlyData      = 5
	msgEncryptedExtensions = 8
	msgFinished            = 20
	msgKeyUpdate           = 24

	msgHeader = 4
)

// isMessage reports whether there is a message of that kind.
func isMessage(kind byte) bool { return kind <= msgKeyUpdate }

// bodySize returns how many bytes follow the header of a message.
func bodySize(header []byte) int { return int(header[1])<<16 | int(header[2])<<8 | int(header[3]) }

// looked reports whether the body of a message is of interest.
func looked(kind byte) bool {
	switch kind {
	case msgClientHello, msgServerHello, msgNewSessionTicket, msgEncryptedExtensions:
		return true
	}
	return false
}

// messages handles the content of a handshake record, in which messages begin and end anywhere.
func (h *half) messages(b []byte) {
	if h.msgLost {
		// A record that holds a whole message is a new start.
		if len(b) < msgHeader || !isMessage(b[0]) || bodySize(b) > len(b)-msgHeader {
			return
		}
		h.msgLost = false
	}
	for len(b) > 0 && !h.shut {
		if h.msgSkip > 0 {
			n := min(h.msgSkip, len(b))
			b, h.msgSkip = b[n:], h.msgSkip-n
			continue
		}
		if need := msgHeader - len(h.msg); need > 0 {
			n := min(need, len(b))
			h.msg, b = append(h.msg, b[:n]...), b[n:]
			if len(h.msg) < msgHeader {
				return
			}
		}
		kind, size := h.msg[0], bodySize(h.msg)
		if !looked(kind) || size > h.s.d.limits.Handshake {
			h.msg, h.msgSkip = h.msg[:0], size
			h.message(kind, nil)
			continue
		}
		n := min(msgHeader+size-len(h.msg), len(b))
		h.msg, b = append(h.msg, b[:n]...), b[n:]
		if len(h.msg) == msgHeader+size {
			h.message(kind, h.msg[msgHeader:])
			h.msg = h.msg[:0]
		}
	}
}

// messagesEnd makes the best of a message whose rest is lost: the hellos begin with what matters
// most.
func (h *half) messagesEnd() {
	if len(h.msg) > msgHeader && (h.msg[0] == msgClientHello || h.msg[0] == msgServerHello) {
		h.message(h.msg[0], h.msg[msgHeader:])
	}
	h.msg, h.msgSkip, h.msgLost = h.msg[:0], 0, true
}

// message handles a handshake message; body is nil where it is not looked at.
func (h *half) message(kind byte, body []byte) {
	s := h.s
	switch kind {
	case msgClientHello:
		h.greeted = true
		if h.stage == plain || !s.is13() {
			s.helloFrom(h.dir, body)
		}
	case msgServerHello:
		h.greeted = true
		if h.stage == plain || !s.is13() {
			s.replyFrom(body)
		}
	case msgNewSessionTicket:
		if !s.is13() {
			s.ticket = append([]byte(nil), newTicket(body)...)
			s.keepTicket()
		}
	case msgEncryptedExtensions:
		if h.stage == handshaking {
			s.early = no
			if acceptsEarly(body) {
				s.early = yes
			}
		}
	case msgEndOfEarlyData:
		h.change = h.stage == earlyData
	case msgFinished:
		h.change = h.stage == handshaking
	case msgKeyUpdate:
		if h.stage == traffic && s.is13() {
			h.updateKey()
		}
	}
}
