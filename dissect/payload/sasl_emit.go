package payload

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// Descriptions of the parts of tokens. Only what lets nobody log in is shown.
var (
	saslAuthzid     = saslText("authzid", "whom the client wants to act as; empty: itself")
	saslUser        = saslText("user", "who logs in")
	saslPassword    = saslHidden("password", "the user's password")
	saslBinding     = saslText("channelBinding", "whether the login is bound to the TLS channel: n and y are no")
	saslBoundHeader = saslText("channelBinding", "the GS2 header of the first message again, in base64")
	saslNonce       = saslText("nonce", "random text of the client, and behind it the server's")
	saslSalt        = saslHidden("salt", "what the password is hashed with, in base64")
	saslIterations  = &tree.Desc{Name: "iterations", Key: "iterations", Type: "text", Kind: tree.KindInt32, About: "how often the password is hashed"}
	saslProof       = saslHidden("proof", "the client's proof that it knows the password, in base64")
	saslSignature   = saslHidden("signature", "the server's proof that it knows the password's hash, in base64")
	saslError       = saslText("error", "why the server refuses the login")
	saslTokenAuth   = saslText("tokenauth", "whether the user is the id of a delegation token")
	saslExtension   = &tree.Desc{Name: "extension", Type: "text", Kind: tree.KindBytes, Secret: true, About: "an extension: key and value"}

	saslScheme         = saslText("scheme", "what kind of token follows")
	saslBearer         = saslHidden("token", "the bearer token")
	saslHeaderPart     = &tree.Desc{Name: "header", Type: "base64url", Kind: tree.KindBytes, About: "how the token is signed"}
	saslHeader         = saslText("header", "how the token is signed")
	saslClaimsPart     = &tree.Desc{Name: "claims", Type: "base64url", Kind: tree.KindBytes, About: "what the token says about its subject"}
	saslClaims         = saslText("claims", "what the token says about its subject")
	saslTokenSignature = saslHidden("signature", "the token's signature")
	saslStatus         = saslText("status", "why the server refuses the token")

	saslFraming   = &tree.Desc{Name: "framing", Type: "bytes", Kind: tree.KindBytes, About: "bytes that only delimit"}
	saslMechanism = saslOID("object identifier of the GSSAPI mechanism")
	saslKerberos  = saslOID("1.2.840.113554.1.2.2: Kerberos 5.")
	saslSPNEGO    = saslOID("1.3.6.1.5.5.2: SPNEGO.")
	saslOpaque    = saslHidden("token", "what the mechanism sends")
)

func saslText(name, about string) *tree.Desc {
	return &tree.Desc{Name: name, Key: name, Type: "text", Kind: tree.KindString, About: about}
}

func saslHidden(name, about string) *tree.Desc {
	return &tree.Desc{Name: name, Key: name, Type: "text", Kind: tree.KindBytes, Secret: true, About: about}
}

func saslOID(about string) *tree.Desc {
	return &tree.Desc{Name: "mechanism", Key: "mechanism", Type: "oid", Kind: tree.KindBytes, About: about}
}

// Walk gives the events of the token's parts, which tile data, the token's bytes at at. source
// numbers the sources that are made.
func (t *SASLToken) Walk(data []byte, at tree.Span, source func() int32, sink tree.Sink) {
	id := int32(0)
	for i := range t.parts {
		p := &t.parts[i]
		e := tree.Event{Desc: p.desc, Span: part(at, p.from, p.to-p.from), Value: tree.Value{Num: p.num}}
		from := data
		if p.source > 0 {
			e.Span = tree.Span{Source: id, Len: int32(p.to)}
			from = t.derived[p.source-1].data
		}
		switch p.desc.Kind {
		case tree.KindInt32:
		default:
			if p.desc.Key == "" {
				e.Flags = tree.FlagStructural
			}
			e.Value.Bytes = from[p.to-p.n : p.to : p.to]
		}
		if i+1 < len(t.parts) && t.parts[i+1].source > 0 {
			d := &t.derived[t.parts[i+1].source-1]
			id = source()
			sink.Source(id, d.data, part(at, d.from, d.to-d.from), "base64url")
		}
		sink.Leaf(e)
	}
}

// saslToken reads the bytes of SaslAuthenticate.
func (d *Decoder) saslToken(data []byte) verdict {
	fromServer := d.plan != nil && d.plan.Direction == schema.Response
	t := ReadSASL(d.ctx.Mechanism, fromServer, data)
	if t.Kind == SASLUnknown {
		return verdict{hide: true}
	}
	d.form = form{name: t.Kind.String(), version: -1, sasl: &t}
	return verdict{open: true, hide: true}
}

// saslGroups describe the inside of tokens that stand in frames of their own.
var saslGroups = func() (all [SASLGSSAPIFirst + 1]tree.Desc) {
	for k := range all {
		all[k] = tree.Desc{Name: "token", Key: "saslTokenDecoded", Type: SASLKind(k).String(), Kind: tree.KindPayload, About: "what the bytes hold"}
	}
	return all
}()

// WalkGroup gives the events of a token that makes up a frame of its own: a group of KindPayload.
// Its bytes are data, at at.
func (t *SASLToken) WalkGroup(data []byte, at tree.Span, sink tree.Sink) {
	e := tree.Event{Desc: &saslGroups[t.Kind], Span: at, Aux: -1}
	if sink.Begin(e) {
		sink.Leaf(tree.Event{Desc: nameDesc, Span: empty(at, 0), Value: tree.Value{Bytes: bytesOf(t.Kind.String())}, Flags: tree.FlagComputed})
		sources := int32(0)
		t.Walk(data, at, func() int32 { sources++; return sources }, sink)
	}
	sink.End(e)
}
