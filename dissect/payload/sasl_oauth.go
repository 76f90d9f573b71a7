package payload

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// Parts of what a client of OAUTHBEARER sends (RFC 7628, section 3.1).
var (
	oauthSeparator = []byte{1}
	oauthBearer    = []byte("auth=Bearer ")
)

// oauthClient reads a client's message: a GS2 header and pairs of key and value, each ended by
// the byte 1, and one more such byte. Of the bearer token, if it is a JWT, header and claims are
// shown.
func (t *SASLToken) oauthClient(b []byte) bool {
	at := t.header(b)
	if at == 0 || !bytes.HasPrefix(b[at:], oauthSeparator) || !bytes.HasSuffix(b, []byte{1, 1}) {
		return t.reset()
	}
	at++
	found := false
	for at < len(b)-1 {
		n := bytes.IndexByte(b[at:], 1)
		pair := b[at : at+n]
		if scheme := len(oauthBearer); len(pair) > scheme && bytes.EqualFold(pair[:scheme], oauthBearer) && !found {
			found = true
			t.add(saslScheme, at+scheme-1, len("Bearer"))
			t.bearer(pair[scheme:], at+scheme)
		} else {
			t.add(saslExtension, at+n, n)
		}
		at += n + 1
	}
	if !found {
		return t.reset()
	}
	t.add(saslFraming, len(b), len(b)-at+1)
	t.Kind = SASLOAuthClient
	return true
}

// bearer reads a bearer token at an offset.
func (t *SASLToken) bearer(token []byte, at int) {
	parts := bytes.Split(token, []byte("."))
	if len(parts) != 3 {
		t.add(saslBearer, at+len(token), len(token))
		return
	}
	header, ok := decoded(parts[0])
	claims, ok2 := decoded(parts[1])
	if !ok || !ok2 {
		t.add(saslBearer, at+len(token), len(token))
		return
	}
	var c struct {
		Subject string `json:"sub"`
	}
	if json.Unmarshal(claims, &c) == nil {
		t.User = []byte(c.Subject)
	}
	at += len(parts[0])
	t.addDerived(saslHeaderPart, saslHeader, at, len(parts[0]), header)
	at += 1 + len(parts[1])
	t.addDerived(saslClaimsPart, saslClaims, at, len(parts[1]), claims)
	at += 1 + len(parts[2])
	t.add(saslTokenSignature, at, len(parts[2]))
}

// decoded decodes a part of a JWT that is a JSON object (RFC 7519).
func decoded(b []byte) ([]byte, bool) {
	out, err := base64.RawURLEncoding.AppendDecode(make([]byte, 0, len(b)), bytes.TrimRight(b, "="))
	if err != nil || len(out) < 2 || out[0] != '{' || !utf8.Valid(out) {
		return nil, false
	}
	return out, true
}

// oauthServer reads what a server says about a token that it does not take, which is JSON.
func (t *SASLToken) oauthServer(b []byte) bool {
	if b[0] != '{' || !json.Valid(b) {
		return false
	}
	t.Kind, t.Failed = SASLOAuthError, true
	t.add(saslStatus, len(b), len(b))
	return true
}
