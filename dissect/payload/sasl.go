package payload

import (
	"bytes"
	"strconv"

	"github.com/kdissect/kdissect/tree"
)

// SASL mechanisms of Kafka, as clients name them in SaslHandshake.
const (
	mechanismPlain  = "PLAIN"
	mechanismSCRAM  = "SCRAM" // the beginning of both SCRAM-SHA-256 and SCRAM-SHA-512
	mechanismOAuth  = "OAUTHBEARER"
	mechanismGSSAPI = "GSSAPI"
)

// SASLToken is a token of SASL, read as its mechanism defines it.
type SASLToken struct {
	Kind SASLKind
	// User is whom the client says it is: the authentication identity of PLAIN and SCRAM, the
	// claim "sub" of OAUTHBEARER. It aliases the token or what was decoded from it.
	User []byte
	// Delegated is set where User is the id of a delegation token (KIP-48).
	Delegated bool
	// Failed is set where the token says that the login failed.
	Failed bool

	parts   []saslPart
	derived []saslSource
}

// saslPart is a run of a token's bytes, of which the last n are its content.
type saslPart struct {
	desc   *tree.Desc
	source int // 0: the token; else the number of the derived source, which one part covers
	from   int
	to     int
	n      int
	num    int64
}

// saslSource is a part of a token as it reads when decoded.
type saslSource struct {
	data     []byte
	from, to int
}

// SASLKind says which token of which mechanism it is.
type SASLKind uint8

// Kinds of tokens.
const (
	SASLUnknown SASLKind = iota
	SASLPlain
	SASLScramClientFirst
	SASLScramServerFirst
	SASLScramClientFinal
	SASLScramServerFinal
	SASLOAuthClient
	SASLOAuthError
	SASLGSSAPIFirst
)

// String returns the name that stands for the kind in trees and in JSON.
func (k SASLKind) String() string {
	switch k {
	case SASLPlain:
		return "PlainMessage"
	case SASLScramClientFirst:
		return "ScramClientFirstMessage"
	case SASLScramServerFirst:
		return "ScramServerFirstMessage"
	case SASLScramClientFinal:
		return "ScramClientFinalMessage"
	case SASLScramServerFinal:
		return "ScramServerFinalMessage"
	case SASLOAuthClient:
		return "OAuthBearerClientResponse"
	case SASLOAuthError:
		return "OAuthBearerErrorStatus"
	case SASLGSSAPIFirst:
		return "GssapiInitialToken"
	}
	return "SaslToken"
}

// ReadSASL reads a token that the client or the server sent. mechanism is "" where it is not
// known: the token then has to tell by its form. A token that cannot be read is of SASLUnknown.
func ReadSASL(mechanism string, fromServer bool, token []byte) SASLToken {
	may := func(m string) bool {
		return mechanism == "" || mechanism == m || m == mechanismSCRAM && len(mechanism) > len(m) && mechanism[:len(m)] == m
	}
	var t SASLToken
	switch {
	case len(token) == 0:
	case may(mechanismSCRAM) && fromServer && t.scramServer(token),
		may(mechanismSCRAM) && !fromServer && t.scramClient(token),
		may(mechanismOAuth) && !fromServer && t.oauthClient(token),
		may(mechanismOAuth) && fromServer && t.oauthServer(token),
		may(mechanismPlain) && !fromServer && t.plain(token),
		may(mechanismGSSAPI) && !fromServer && t.gssapi(token):
		return t
	}
	return SASLToken{}
}

// add appends a part that ends at to, with a content of n bytes; it begins where the last ends.
func (t *SASLToken) add(desc *tree.Desc, to, n int) {
	from := 0
	for i := len(t.parts) - 1; i >= 0; i-- {
		if t.parts[i].source == 0 {
			from = t.parts[i].to
			break
		}
	}
	t.parts = append(t.parts, saslPart{desc: desc, from: from, to: to, n: n})
}

// addNumber is add for decimal digits.
func (t *SASLToken) addNumber(desc *tree.Desc, to int, num int64) {
	t.add(desc, to, 0)
	t.parts[len(t.parts)-1].num = num
}

// addDerived appends a part that reads as data when decoded; what it covers in the token is desc,
// what it reads as is inside.
func (t *SASLToken) addDerived(desc, inside *tree.Desc, to, n int, data []byte) {
	t.add(desc, to, n)
	t.derived = append(t.derived, saslSource{data: data, from: to - n, to: to})
	t.parts = append(t.parts, saslPart{desc: inside, source: len(t.derived), to: len(data), n: len(data)})
}

// plain reads the message of PLAIN (RFC 4616): authzid NUL authcid NUL passwd.
func (t *SASLToken) plain(b []byte) bool {
	first := bytes.IndexByte(b, 0)
	if first < 0 {
		return false
	}
	second := bytes.IndexByte(b[first+1:], 0)
	if second < 1 || bytes.IndexByte(b[first+1+second+1:], 0) >= 0 {
		return false
	}
	second += first + 1
	t.Kind, t.User = SASLPlain, b[first+1:second]
	t.add(saslAuthzid, first, first)
	t.add(saslUser, second, second-first-1)
	t.add(saslPassword, len(b), len(b)-second-1)
	return true
}

// header reads the GS2 header (RFC 5801): whether channels are bound, and on whose behalf the
// client acts. It returns where what follows begins, 0 where there is no such header.
func (t *SASLToken) header(b []byte) int {
	bound := bytes.IndexByte(b, ',')
	if bound < 1 || b[0] != 'n' && b[0] != 'y' && b[0] != 'p' || b[0] != 'p' && bound != 1 || b[0] == 'p' && (bound < 3 || b[1] != '=') {
		return 0
	}
	end := bytes.IndexByte(b[bound+1:], ',')
	if end < 0 {
		return 0
	}
	end += bound + 1
	authzid := b[bound+1 : end]
	if len(authzid) > 0 && !bytes.HasPrefix(authzid, []byte("a=")) {
		return 0
	}
	t.add(saslBinding, bound, bound)
	t.add(saslAuthzid, end, max(0, len(authzid)-2))
	return end + 1
}

// attribute returns the value of "k=value" at the beginning of b, up to a comma or to the end.
func attribute(b []byte, k byte) (value []byte, ok bool) {
	if len(b) < 2 || b[0] != k || b[1] != '=' {
		return nil, false
	}
	value = b[2:]
	if end := bytes.IndexByte(value, ','); end >= 0 {
		value = value[:end]
	}
	return value, true
}

// scramClient reads what a client of SCRAM sends (RFC 5802, section 7).
func (t *SASLToken) scramClient(b []byte) bool {
	if binding, ok := attribute(b, 'c'); ok {
		return t.scramClientFinal(b, 2+len(binding))
	}
	at := t.header(b)
	if at == 0 {
		return t.reset()
	}
	user, ok := attribute(b[at:], 'n')
	if !ok || len(user) == 0 {
		return t.reset()
	}
	at += 2 + len(user)
	t.add(saslUser, at, len(user))
	t.User = unescape(user)
	if at == len(b) {
		return t.reset()
	}
	nonce, ok := attribute(b[at+1:], 'r')
	if !ok || len(nonce) == 0 {
		return t.reset()
	}
	at += 3 + len(nonce)
	t.add(saslNonce, at, len(nonce))
	t.Kind = SASLScramClientFirst
	return t.extensions(b, at)
}

// extensions reads what follows the attributes that there must be. One of Kafka's own says that
// the user is a delegation token.
func (t *SASLToken) extensions(b []byte, at int) bool {
	for at < len(b) {
		rest := b[at+1:]
		n := bytes.IndexByte(rest, ',')
		if n < 0 {
			n = len(rest)
		}
		at += 1 + n
		if value, ok := bytes.CutPrefix(rest[:n], []byte("tokenauth=")); ok {
			t.Delegated = string(value) == "true"
			t.add(saslTokenAuth, at, len(value))
			continue
		}
		t.add(saslExtension, at, n)
	}
	return true
}

func (t *SASLToken) scramClientFinal(b []byte, at int) bool {
	t.add(saslBoundHeader, at, at-2)
	if at == len(b) {
		return t.reset()
	}
	nonce, ok := attribute(b[at+1:], 'r')
	if !ok {
		return t.reset()
	}
	at += 3 + len(nonce)
	t.add(saslNonce, at, len(nonce))
	for at < len(b) {
		if proof, ok := attribute(b[at+1:], 'p'); ok {
			at += 3 + len(proof)
			t.add(saslProof, at, len(proof))
			t.Kind = SASLScramClientFinal
			return at == len(b) || t.reset()
		}
		n := bytes.IndexByte(b[at+1:], ',')
		if n < 0 {
			break
		}
		at += 1 + n
		t.add(saslExtension, at, n)
	}
	return t.reset()
}

// scramServer reads what a server of SCRAM sends.
func (t *SASLToken) scramServer(b []byte) bool {
	if failure, ok := attribute(b, 'e'); ok {
		t.Kind, t.Failed = SASLScramServerFinal, true
		t.add(saslError, 2+len(failure), len(failure))
		return t.extensions(b, 2+len(failure))
	}
	if signature, ok := attribute(b, 'v'); ok {
		t.Kind = SASLScramServerFinal
		t.add(saslSignature, 2+len(signature), len(signature))
		return t.extensions(b, 2+len(signature))
	}
	at := 0
	nonce, ok := attribute(b, 'r')
	if !ok {
		return false
	}
	at = 2 + len(nonce)
	t.add(saslNonce, at, len(nonce))
	if at == len(b) {
		return t.reset()
	}
	salt, ok := attribute(b[at+1:], 's')
	if !ok {
		return t.reset()
	}
	at += 3 + len(salt)
	t.add(saslSalt, at, len(salt))
	if at == len(b) {
		return t.reset()
	}
	count, ok := attribute(b[at+1:], 'i')
	if !ok {
		return t.reset()
	}
	n, err := strconv.ParseInt(string(count), 10, 32)
	if err != nil {
		return t.reset()
	}
	at += 3 + len(count)
	t.addNumber(saslIterations, at, n)
	t.Kind = SASLScramServerFirst
	return t.extensions(b, at)
}

// unescape returns a user's name of SCRAM, in which a comma is =2C and an equals sign =3D.
func unescape(name []byte) []byte {
	if bytes.IndexByte(name, '=') < 0 {
		return name
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(name, []byte("=2C"), []byte(",")), []byte("=3D"), []byte("="))
}

// gssapi reads the frame of an initial token (RFC 2743, section 3.1), which names its mechanism.
// The rest is the mechanism's.
func (t *SASLToken) gssapi(b []byte) bool {
	at, ok := derLength(b, 0x60)
	if !ok {
		return false
	}
	oid := b[at:]
	from, ok := derLength(oid, 0x06)
	if !ok || len(oid) < from {
		// The length of an object identifier is within the token's.
		if len(oid) < 2 || oid[0] != 0x06 || oid[1] > 0x7f || int(oid[1]) > len(oid)-2 {
			return false
		}
		from = 2
	}
	n := int(oid[from-1])
	if n > 0x7f || n > len(oid)-from {
		return false
	}
	desc := saslMechanism
	switch string(oid[from : from+n]) {
	case "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02":
		desc = saslKerberos
	case "\x2b\x06\x01\x05\x05\x02":
		desc = saslSPNEGO
	}
	t.Kind = SASLGSSAPIFirst
	t.add(saslFraming, at, at)
	t.add(desc, at+from+n, n)
	t.add(saslOpaque, len(b), len(b)-at-from-n)
	return true
}

// derLength returns where the content of a DER element begins that has the tag and fills b.
func derLength(b []byte, tag byte) (at int, ok bool) {
	if len(b) < 2 || b[0] != tag {
		return 0, false
	}
	n := int(b[1])
	at = 2
	if n > 0x80 && n <= 0x83 {
		count := n - 0x80
		if len(b) < 2+count {
			return 0, false
		}
		n = 0
		for _, c := range b[2 : 2+count] {
			n = n<<8 | int(c)
		}
		at += count
	}
	return at, n == len(b)-at
}

// reset takes back what was read.
func (t *SASLToken) reset() bool {
	*t = SASLToken{}
	return false
}
