package scrub

import (
	"bytes"
	encoding "encoding/base64"
)

// token replaces what is secret in a SASL token, and the user in it. Which mechanism it is of
// shows in its form, which stays.
func (v *values) token(b []byte) {
	switch {
	case len(b) == 0:
	case b[0] == 0x60:
		v.gssapi(b)
	case bytes.Count(b, []byte{0}) == 2:
		v.plain(b)
	case b[0] == '{':
		v.json(b)
	case bytes.IndexByte(b, 1) >= 0:
		v.bearer(b)
	case attributes(b):
		v.scram(b)
	default:
		v.data(b)
	}
}

// plain is [authzid] NUL authcid NUL passwd (RFC 4616).
func (v *values) plain(b []byte) {
	parts := bytes.Split(b, []byte{0})
	v.name(parts[0])
	v.name(parts[1])
	v.data(parts[2])
}

// attributes reports whether b is a list of attributes of SCRAM, behind a GS2 header or not.
func attributes(b []byte) bool {
	return len(b) >= 2 && (b[1] == '=' || (b[0] == 'n' || b[0] == 'y') && b[1] == ',')
}

// scram is a message of RFC 5802. Nonces and the number of iterations are kept.
func (v *values) scram(b []byte) {
	for _, part := range bytes.Split(b, []byte{','}) {
		if len(part) < 2 || part[1] != '=' {
			continue
		}
		value := part[2:]
		switch part[0] {
		case 'n', 'a':
			v.name(value)
		case 's', 'p', 'v':
			v.from(value, base64)
		case 'c':
			if s := string(value); s != "biws" && s != "eSws" { // "n,," and "y,,"
				v.from(value, base64)
			}
		}
	}
}

// bearer is a message of RFC 7628: key=value pairs between ^A, of which auth holds the token.
func (v *values) bearer(b []byte) {
	for i, part := range bytes.Split(b, []byte{1}) {
		if i == 0 {
			v.scram(part) // GS2 header
			continue
		}
		key, value, ok := bytes.Cut(part, []byte("="))
		if !ok {
			continue
		}
		if string(key) == "auth" {
			if scheme := bytes.IndexByte(value, ' '); scheme >= 0 {
				v.jwt(value[scheme+1:])
				continue
			}
		}
		v.name(value)
	}
}

// jwt is a token of RFC 7519, or an opaque one. Of the claims, strings are replaced.
func (v *values) jwt(b []byte) {
	parts := bytes.Split(b, []byte{'.'})
	if len(parts) != 3 {
		v.from(b, base64+"-_")
		return
	}
	enc := encoding.RawURLEncoding
	claims := make([]byte, enc.DecodedLen(len(parts[1])))
	if n, err := enc.Decode(claims, parts[1]); err != nil || n == 0 || claims[0] != '{' {
		v.from(parts[1], base64+"-_")
	} else {
		v.json(claims[:n])
		enc.Encode(parts[1], claims[:n])
	}
	v.from(parts[2], base64+"-_")
}

// json replaces the strings of a JSON text that are not names of members.
func (v *values) json(b []byte) {
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(b) && b[end] != '"' {
			if b[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(b))
		text := b[i+1 : end]
		next := bytes.TrimLeft(b[min(end+1, len(b)):], " \t\r\n")
		if len(next) == 0 || next[0] != ':' {
			if bytes.IndexByte(text, '\\') >= 0 {
				fill(text, 'x')
			} else {
				v.name(text)
			}
		}
		i = end
	}
}

// gssapi keeps the head of an initial token: its length and the mechanism (RFC 2743, 3.1).
func (v *values) gssapi(b []byte) {
	at := 2
	if len(b) > 1 && b[1] >= 0x80 {
		at += int(b[1] & 3)
	}
	if len(b) > at+1 && b[at] == 6 {
		at += 2 + int(b[at+1])
	}
	fill(b[min(at, len(b)):], 0)
}
