package payload

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/tree"
)

// saslTree returns the parts of a token as lines, and holds their tiling.
func saslTree(t *testing.T, tok *SASLToken, data []byte) string {
	t.Helper()
	var b tree.Builder
	b.Reset(data)
	whole := tree.Span{Len: int32(len(data))}
	tok.WalkGroup(data, whole, &b)
	var tiling tree.TilingSink
	tok.WalkGroup(data, whole, &tiling)
	require.NoError(t, tiling.Err(len(data)))
	var text tree.Text
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(text.Append(nil, b.Tree()))), "\n")[1:] {
		line = strings.TrimLeft(line, "+- ")
		line, _, _ = strings.Cut(line, " [")
		out.WriteString(line + "\n")
	}
	return out.String()
}

func jwt(parts ...string) string {
	for i, p := range parts {
		parts[i] = base64.RawURLEncoding.EncodeToString([]byte(p))
	}
	return strings.Join(parts, ".")
}

func TestReadSASL(t *testing.T) {
	bearer := "n,,\x01auth=Bearer " + jwt(`{"alg":"RS256"}`, `{"sub":"svc","scope":"a b"}`, "sig") + "\x01\x01"
	for _, c := range []struct {
		name, mechanism string
		server          bool
		token           string
		kind            SASLKind
		user            string
		tree            string
	}{
		{"PLAIN", "PLAIN", false, "\x00alice\x00pass", SASLPlain, "alice",
			"authzid text = \"\"\nuser text = \"alice\"\npassword text = <hidden, 4 bytes>\n"},
		{"PLAIN for another", "PLAIN", false, "bob\x00alice\x00pass", SASLPlain, "alice",
			"authzid text = \"bob\"\nuser text = \"alice\"\npassword text = <hidden, 4 bytes>\n"},
		{"PLAIN with no password", "PLAIN", false, "\x00alice\x00", SASLPlain, "alice",
			"authzid text = \"\"\nuser text = \"alice\"\npassword text = <hidden, 0 bytes>\n"},
		{"SCRAM client first", "SCRAM-SHA-256", false, "n,,n=al=2Cice=3D,r=abc", SASLScramClientFirst, "al,ice=",
			"channelBinding text = \"n\"\nauthzid text = \"\"\nuser text = \"al=2Cice=3D\"\nnonce text = \"abc\"\n"},
		{"SCRAM with a delegation token", "SCRAM-SHA-512", false, "n,a=x,n=id,r=abc,tokenauth=true", SASLScramClientFirst, "id",
			"channelBinding text = \"n\"\nauthzid text = \"x\"\nuser text = \"id\"\nnonce text = \"abc\"\ntokenauth text = \"true\"\n"},
		{"SCRAM bound", "SCRAM-SHA-256", false, "p=tls-unique,,n=u,r=abc,x=1", SASLScramClientFirst, "u",
			"channelBinding text = \"p=tls-unique\"\nauthzid text = \"\"\nuser text = \"u\"\nnonce text = \"abc\"\nextension text = <hidden, 3 bytes>\n"},
		{"SCRAM server first", "SCRAM-SHA-256", true, "r=abcdef,s=c2FsdA==,i=4096", SASLScramServerFirst, "",
			"nonce text = \"abcdef\"\nsalt text = <hidden, 8 bytes>\niterations text = 4096\n"},
		{"SCRAM client final", "SCRAM-SHA-256", false, "c=biws,r=abcdef,p=cHJvb2Y=", SASLScramClientFinal, "",
			"channelBinding text = \"biws\"\nnonce text = \"abcdef\"\nproof text = <hidden, 8 bytes>\n"},
		{"SCRAM server final", "SCRAM-SHA-256", true, "v=c2ln", SASLScramServerFinal, "", "signature text = <hidden, 4 bytes>\n"},
		{"SCRAM refused", "SCRAM-SHA-256", true, "e=invalid-proof", SASLScramServerFinal, "", "error text = \"invalid-proof\"\n"},
		{"OAUTHBEARER", "OAUTHBEARER", false, bearer, SASLOAuthClient, "svc",
			"channelBinding text = \"n\"\nauthzid text = \"\"\nscheme text = \"Bearer\"\nheader base64url = base64url, 20B -> 15B as #1\n" +
				"header text = \"{\\\"alg\\\":\\\"RS256\\\"}\"\nclaims base64url = base64url, 36B -> 27B as #2\n" +
				"claims text = \"{\\\"sub\\\":\\\"svc\\\",\\\"scope\\\":\\\"a b\\\"}\"\nsignature text = <hidden, 4 bytes>\nframing bytes = 0x0101\n"},
		{"OAUTHBEARER, opaque token", "OAUTHBEARER", false, "n,a=u,\x01auth=bearer abc\x01k=v\x01\x01", SASLOAuthClient, "",
			"channelBinding text = \"n\"\nauthzid text = \"u\"\nscheme text = \"bearer\"\ntoken text = <hidden, 3 bytes>\nextension text = <hidden, 3 bytes>\nframing bytes = 0x0101\n"},
		{"OAUTHBEARER refused", "OAUTHBEARER", true, `{"status":"invalid_token"}`, SASLOAuthError, "", "status text = \"{\\\"status\\\":\\\"invalid_token\\\"}\"\n"},
		{"GSSAPI", "GSSAPI", false, "\x60\x0f\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01\x00\xff\xff", SASLGSSAPIFirst, "",
			"framing bytes = 0x600f\nmechanism oid = 0x2a864886f712010202\ntoken text = <hidden, 4 bytes>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mechanism := range []string{c.mechanism, ""} {
				tok := ReadSASL(mechanism, c.server, []byte(c.token))
				require.Equal(t, c.kind, tok.Kind, mechanism)
				assert.Equal(t, c.user, string(tok.User))
				assert.Equal(t, strings.Contains(c.token, "tokenauth=true"), tok.Delegated)
				assert.Equal(t, strings.Contains(c.name, "refused"), tok.Failed)
				lines := saslTree(t, &tok, []byte(c.token))
				assert.Equal(t, c.tree, lines)
			}
		})
	}
}

func TestReadSASLRefuses(t *testing.T) {
	for _, c := range []struct {
		mechanism string
		server    bool
		token     string
	}{
		{"PLAIN", false, "alice"}, {"PLAIN", false, "\x00\x00pass"}, {"PLAIN", false, "a\x00b\x00c\x00"}, {"PLAIN", true, "\x00alice\x00pass"},
		{"SCRAM-SHA-256", false, "n,,r=abc"}, {"SCRAM-SHA-256", false, "n,,n=u"}, {"SCRAM-SHA-256", false, "c=biws,r=abc"},
		{"SCRAM-SHA-256", false, "c=biws,r=abc,p=x,more=1"}, {"SCRAM-SHA-256", false, "x,,n=u,r=a"}, {"SCRAM-SHA-256", false, "n,b,n=u,r=a"},
		{"SCRAM-SHA-256", true, "r=abc,s=x"}, {"SCRAM-SHA-256", true, "r=abc,s=x,i=many"}, {"SCRAM-SHA-256", true, "r=abc"},
		{"OAUTHBEARER", false, "n,,\x01host=x\x01\x01"}, {"OAUTHBEARER", false, "n,,\x01auth=Bearer x"}, {"OAUTHBEARER", false, "\x01"}, {"OAUTHBEARER", true, "{"},
		{"GSSAPI", false, "\x60\x03\x06\x09\x2a"}, {"GSSAPI", false, "\x60\x01\x06"}, {"GSSAPI", true, "\x60\x0f\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01\x00\xff\xff"},
		{"AWS_MSK_IAM", false, "\x00alice\x00pass"}, {"PLAIN", false, ""},
	} {
		tok := ReadSASL(c.mechanism, c.server, []byte(c.token))
		assert.Equal(t, SASLUnknown, tok.Kind, "%s %q", c.mechanism, c.token)
		assert.Empty(t, tok.parts)
	}
}

// FuzzReadSASL holds that parts tile any token, and that no password is shown.
func FuzzReadSASL(f *testing.F) {
	f.Add("PLAIN", false, []byte("\x00alice\x00pass"))
	f.Add("", false, []byte("n,a=x,n=id,r=abc,tokenauth=true,x"))
	f.Add("SCRAM-SHA-256", true, []byte("r=abcdef,s=c2FsdA==,i=4096"))
	f.Add("", false, []byte("n,,\x01auth=Bearer e30.e30.c2ln\x01k=v\x01\x01"))
	f.Add("", false, []byte("\x60\x0f\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01\x00\xff\xff"))
	f.Fuzz(func(t *testing.T, mechanism string, server bool, token []byte) {
		tok := ReadSASL(mechanism, server, token)
		if tok.Kind == SASLUnknown {
			require.Empty(t, tok.parts)
			return
		}
		saslTree(t, &tok, token)
	})
}
