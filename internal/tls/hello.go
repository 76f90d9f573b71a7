package tls

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"golang.org/x/crypto/cryptobyte"
)

// Versions of TLS.
const (
	tls12 = 0x0303
	tls13 = 0x0304
)

// versionName returns the words for a version.
func versionName(v uint16) string {
	switch v {
	case 0x0300:
		return "SSL 3.0"
	case 0x0301:
		return "TLS 1.0"
	case 0x0302:
		return "TLS 1.1"
	case tls12:
		return "TLS 1.2"
	case tls13:
		return "TLS 1.3"
	case 0:
		return ""
	}
	return fmt.Sprintf("TLS version %#04x", v)
}

// Extensions (IANA's registry).
const (
	extServerName     = 0
	extALPN           = 16
	extEncryptThenMAC = 22
	extSessionTicket  = 35
	extPreSharedKey   = 41
	extEarlyData      = 42
	extVersions       = 43
)

// clientHello is what is needed of a ClientHello.
type clientHello struct {
	random     [32]byte
	session    []byte
	version    uint16 // the highest that is offered
	serverName string
	protocols  []string // ALPN
	ticket     []byte
	early      bool
}

// serverHello is what is needed of a ServerHello.
type serverHello struct {
	random   [32]byte
	session  []byte
	version  uint16
	suite    uint16
	squeezed bool // with compression
	sealed   bool // encrypt-then-MAC
	retry    bool // it is a HelloRetryRequest
	psk      bool // a TLS 1.3 session is resumed
}

// retryRandom marks a ServerHello as a HelloRetryRequest (RFC 8446, section 4.1.3).
var retryRandom = sha256.Sum256([]byte("HelloRetryRequest"))

// parseClientHello reads as much of b as there is; ok reports whether that includes the random.
func parseClientHello(b []byte) (h clientHello, ok bool) {
	s := cryptobyte.String(b)
	var session, suites, methods, extensions cryptobyte.String
	if !s.ReadUint16(&h.version) || !s.CopyBytes(h.random[:]) {
		return h, false
	}
	if !s.ReadUint8LengthPrefixed(&session) || len(session) > 32 {
		return h, true
	}
	h.session = append(h.session, session...)
	if !s.ReadUint16LengthPrefixed(&suites) || !s.ReadUint8LengthPrefixed(&methods) || !s.ReadUint16LengthPrefixed(&extensions) {
		return h, true
	}
	eachExtension(extensions, func(id uint16, body cryptobyte.String) {
		switch id {
		case extServerName:
			h.serverName = serverName(body)
		case extALPN:
			h.protocols = protocols(body)
		case extSessionTicket:
			h.ticket = append([]byte(nil), body...)
		case extEarlyData:
			h.early = true
		case extVersions:
			var list cryptobyte.String
			var v uint16
			body.ReadUint8LengthPrefixed(&list)
			for list.ReadUint16(&v) {
				if v&0x0f0f != 0x0a0a && v > h.version { // not a reserved one (RFC 8701)
					h.version = v
				}
			}
		}
	})
	return h, true
}

// parseServerHello reads as much of b as there is; ok reports whether that includes the suite.
func parseServerHello(b []byte) (h serverHello, ok bool) {
	s := cryptobyte.String(b)
	var session, extensions cryptobyte.String
	var method uint8
	if !s.ReadUint16(&h.version) || !s.CopyBytes(h.random[:]) || !s.ReadUint8LengthPrefixed(&session) ||
		len(session) > 32 || !s.ReadUint16(&h.suite) {
		return h, false
	}
	h.session = append(h.session, session...)
	h.retry = h.random == retryRandom
	if !s.ReadUint8(&method) || !s.ReadUint16LengthPrefixed(&extensions) {
		return h, true
	}
	h.squeezed = method != 0
	eachExtension(extensions, func(id uint16, body cryptobyte.String) {
		switch id {
		case extEncryptThenMAC:
			h.sealed = true
		case extPreSharedKey:
			h.psk = true
		case extVersions:
			body.ReadUint16(&h.version)
		}
	})
	return h, true
}

// acceptsEarly reports whether EncryptedExtensions accept early data.
func acceptsEarly(b []byte) bool {
	s := cryptobyte.String(b)
	var extensions cryptobyte.String
	found := false
	if s.ReadUint16LengthPrefixed(&extensions) {
		eachExtension(extensions, func(id uint16, _ cryptobyte.String) { found = found || id == extEarlyData })
	}
	return found
}

func eachExtension(s cryptobyte.String, f func(id uint16, body cryptobyte.String)) {
	var id uint16
	var body cryptobyte.String
	for s.ReadUint16(&id) && s.ReadUint16LengthPrefixed(&body) {
		f(id, body)
	}
}

func serverName(s cryptobyte.String) string {
	var list, name cryptobyte.String
	var kind uint8
	if s.ReadUint16LengthPrefixed(&list) && list.ReadUint8(&kind) && kind == 0 && list.ReadUint16LengthPrefixed(&name) && len(name) <= 255 {
		return printable(name)
	}
	return ""
}

// printable returns b as text that does nothing to a terminal.
func printable(b []byte) string {
	quoted := strconv.QuoteToASCII(string(b))
	return quoted[1 : len(quoted)-1]
}

func protocols(s cryptobyte.String) (names []string) {
	var list, name cryptobyte.String
	s.ReadUint16LengthPrefixed(&list)
	for len(names) < 16 && list.ReadUint8LengthPrefixed(&name) {
		names = append(names, printable(name))
	}
	return names
}

// newTicket returns the ticket of a NewSessionTicket of TLS 1.2 (RFC 5077).
func newTicket(b []byte) []byte {
	s := cryptobyte.String(b)
	var lifetime uint32
	var ticket cryptobyte.String
	if !s.ReadUint32(&lifetime) || !s.ReadUint16LengthPrefixed(&ticket) {
		return nil
	}
	return ticket
}
