package tls

import (
	"encoding/hex"
	"fmt"

	"github.com/kdissect/kdissect/reassembly"
)

// session is a TLS connection.
type session struct {
	d    *Decryptor
	t    *reassembly.Conn
	info reassembly.TLS
	half [2]half // by direction
	held int     // bytes

	// The handshake that is under way, or the last one.
	client  clientHello
	server  serverHello
	suite   suite
	hellos  int // ClientHellos of it; a HelloRetryRequest asks for a second one
	asked   int // handshakes that a ClientHello was seen of
	replied int // handshakes that a ServerHello was seen of
	retried bool
	early   answer // whether the server takes early data
	ticket  []byte // of TLS 1.2, given by the server
	master  []byte // of TLS 1.2, proven
	lacking bool   // a secret was looked for in vain
	alerts  string // what went wrong by the peers' own words
}

func newSession(d *Decryptor, t *reassembly.Conn) *session {
	s := &session{d: d, t: t}
	for i := range s.half {
		s.half[i].s, s.half[i].dir = s, reassembly.Dir(i)
	}
	return s
}

// take takes an event in, and does what it makes possible in the other direction.
func (s *session) take(e event) {
	h := &s.half[e.dir]
	if h.stalled {
		h.retry()
	}
	h.take(e)
	s.settle()
	if s.held > s.d.limits.Hold || s.held > 0 && s.d.held > s.d.limits.HoldTotal {
		s.failStalled()
	}
}

// settle lets the directions go on for as long as one of them helps the other.
func (s *session) settle() {
	for again := true; again; {
		again = false
		for i := range s.half {
			if h := &s.half[i]; h.stalled && h.retry() {
				again = true
			}
		}
	}
}

// close gives what is left.
func (s *session) close(packet, time int64) {
	s.settle()
	s.failStalled()
	for i := range s.half {
		s.half[i].end(packet, time)
	}
	if !s.info.Decrypted && s.info.Failure == "" {
		s.info.Failure = s.reason()
	}
}

// fail gives the whole connection up.
func (s *session) fail(why string) {
	for i := range s.half {
		s.half[i].fail(why)
	}
}

// failStalled gives up the directions that still wait.
func (s *session) failStalled() {
	why := s.reason()
	for i := range s.half {
		if h := &s.half[i]; h.stalled {
			h.fail(why)
		}
	}
}

// hold counts bytes that wait; n is negative where they wait no more.
func (s *session) hold(n int) {
	s.held += n
	s.d.held += n
}

// reason says what is missing to decrypt the connection.
func (s *session) reason() string {
	switch {
	case s.asked == 0 && s.replied == 0:
		return "its handshake is not in the capture"
	case s.alerts != "":
		return s.alerts
	case s.asked == 0:
		return "no ClientHello is in the capture"
	case s.replied == 0:
		return "no ServerHello is in the capture"
	case s.lacking:
		return "no secret for its client random " + hex.EncodeToString(s.client.random[:])
	case s.half[0].shut || s.half[1].shut:
		return "its handshake is not in the capture as a whole"
	}
	return "no application data are in the capture"
}

// helloFrom takes a ClientHello in.
func (s *session) helloFrom(d reassembly.Dir, b []byte) {
	hello, ok := parseClientHello(b)
	if !ok {
		return
	}
	if s.hellos > 0 && s.retried && s.hellos == 1 {
		s.hellos++
		return
	}
	if s.asked > 0 {
		s.info.Renegotiated = true
	}
	s.asked++
	s.hellos, s.retried = 1, false
	s.client, s.early = hello, undecided
	if s.asked == 1 {
		s.info.Client, s.info.ClientRandom, s.info.Hello = d, hello.random, true
		s.info.ServerName, s.info.Protocols = hello.serverName, hello.protocols
		if s.replied == 0 {
			s.info.Version = versionName(hello.version)
		}
	}
}

// replyFrom takes a ServerHello in.
func (s *session) replyFrom(b []byte) {
	hello, ok := parseServerHello(b)
	if !ok {
		return
	}
	if hello.retry {
		s.retried = true
		return
	}
	s.replied++
	s.server, s.suite = hello, suiteOf(hello.suite)
	s.master, s.ticket = nil, nil
	for i := range s.half {
		s.half[i].ready = nil
	}
	s.info.Version, s.info.Suite = versionName(hello.version), s.suite.name
	switch {
	case hello.version != tls12 && hello.version != tls13:
		s.fail(s.info.Version + " is not supported")
	case s.suite.method == unsupported || s.suite.method == aesCBC && hello.version == tls13:
		s.fail("cipher suite " + s.suite.name + " is not supported")
	case hello.squeezed:
		s.fail("TLS compression is not supported")
	}
}

// agreed reports whether both hellos of the handshake are there.
func (s *session) agreed() bool { return s.asked > 0 && s.asked == s.replied }

// is13 reports whether the connection speaks TLS 1.3; it holds once there was a ServerHello.
func (s *session) is13() bool { return s.replied > 0 && s.server.version == tls13 }

// resumed notes a resumption once both hellos are there.
func (s *session) resumed() {
	s.info.Resumed = s.server.psk || !s.is13() && len(s.server.session) > 0 && string(s.server.session) == string(s.client.session)
}

// secret returns a traffic secret of TLS 1.3, or nil.
func (s *session) secret(l label) []byte {
	b := s.d.keys.secret(&s.client.random, l)
	if b == nil && s.d.missing != nil {
		s.d.missing()
		b = s.d.keys.secret(&s.client.random, l)
	}
	if b == nil || len(b) != s.suite.hash().Size() {
		s.lacking = true
		return nil
	}
	return b
}

// masters returns the secrets that the TLS 1.2 handshake may have agreed on.
func (s *session) masters() [][]byte {
	if found := s.findMasters(); len(found) > 0 {
		return found
	}
	if s.d.missing != nil {
		s.d.missing()
	}
	found := s.findMasters()
	if len(found) == 0 {
		s.lacking = true
	}
	return found
}

func (s *session) findMasters() (found [][]byte) {
	add := func(m []byte) {
		if m != nil {
			found = append(found, m)
		}
	}
	add(s.d.keys.secret(&s.client.random, masterSecret))
	if id := s.server.session; len(id) > 0 {
		add(s.d.keys.resumable(id))
		if string(id) == string(s.client.session) {
			add(s.d.resumed(sessionKey('i', id)))
		}
	}
	if len(s.client.ticket) > 0 {
		add(s.d.resumed(sessionKey('t', s.client.ticket)))
	}
	return found
}

// adopt takes a master secret that was proven.
func (s *session) adopt(master []byte) {
	s.master = master
	if id := s.server.session; len(id) > 0 {
		s.d.sessions.put(sessionKey('i', id), master, s.d.where())
	}
	s.keepTicket()
}

// keepTicket remembers the server's ticket once the secret is known that it stands for.
func (s *session) keepTicket() {
	if s.master != nil && len(s.ticket) > 0 {
		s.d.sessions.put(sessionKey('t', s.ticket), s.master, s.d.where())
	}
}

// alertFrom notes what a fatal alert says (RFC 8446, section 6).
func (s *session) alertFrom(h *half, b []byte) {
	const closeNotify = 0
	if len(b) < 2 || b[1] == closeNotify || s.alerts != "" {
		return
	}
	side := "server"
	if s.info.Hello && h.dir == s.info.Client || !s.info.Hello && h.dir == reassembly.Forward {
		side = "client"
	}
	s.alerts = fmt.Sprintf("the handshake failed: the %s's alert %d", side, b[1])
	if name := alertName(b[1]); name != "" {
		s.alerts += " (" + name + ")"
	}
}

// alertName returns the name of an alert that ends handshakes, or "".
func alertName(code byte) string {
	switch code {
	case 10:
		return "unexpected_message"
	case 20:
		return "bad_record_mac"
	case 40:
		return "handshake_failure"
	case 42:
		return "bad_certificate"
	case 43:
		return "unsupported_certificate"
	case 44:
		return "certificate_revoked"
	case 45:
		return "certificate_expired"
	case 46:
		return "certificate_unknown"
	case 47:
		return "illegal_parameter"
	case 48:
		return "unknown_ca"
	case 49:
		return "access_denied"
	case 50:
		return "decode_error"
	case 51:
		return "decrypt_error"
	case 70:
		return "protocol_version"
	case 71:
		return "insufficient_security"
	case 80:
		return "internal_error"
	case 90:
		return "user_canceled"
	case 109:
		return "missing_extension"
	case 112:
		return "unrecognized_name"
	case 116:
		return "certificate_required"
	case 120:
		return "no_application_protocol"
	}
	return ""
}
