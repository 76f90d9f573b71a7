package dissect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// blob returns counted bytes as versions before flexible ones have them.
func blob(b string) []byte { return cat(i32(int32(len(b))), []byte(b)) }

// conversation is a client's login.
type conversation struct {
	*stream
	id int32
}

func newConversation(t *testing.T, gather bool) *conversation {
	return &conversation{stream: newStream(t, dissect.Options{Gather: gather}).open(50000, true)}
}

func (s *conversation) handshake(mechanism string, version, code int16) {
	s.id++
	s.send(up, request(17, version, s.id, "c", str(mechanism)))
	s.send(down, response(s.id, i16(code), i32(1), str(mechanism)))
}

// authenticate exchanges tokens by SaslAuthenticate.
func (s *conversation) authenticate(client, broker string, code int16) {
	s.id++
	s.send(up, request(36, 0, s.id, "c", blob(client)))
	s.send(down, response(s.id, i16(code), str(""), blob(broker)))
}

// raw exchanges tokens behind SaslHandshake v0.
func (s *conversation) raw(client, broker string) {
	s.send(up, sized([]byte(client)))
	s.send(down, sized([]byte(broker)))
}

func (s *conversation) work() {
	s.id++
	q, r := heartbeat(s.id)
	s.send(up, q)
	s.send(down, r)
}

func TestLogins(t *testing.T) {
	const plain, first, server, final = "\x00alice\x00pw", "n,,n=bob,r=a", "r=ab,s=c2FsdA==,i=4096", "c=biws,r=ab,p=cHJvb2Y="
	for name, tc := range map[string]struct {
		talk      func(*conversation)
		want      dissect.SASL
		principal string
	}{
		"none": {func(s *conversation) { s.work() }, dissect.SASL{}, ""},
		"PLAIN": {func(s *conversation) {
			s.handshake("PLAIN", 1, 0)
			s.authenticate(plain, "", 0)
			s.work()
		}, dissect.SASL{State: dissect.LoginDone, Mechanism: "PLAIN", User: "alice", Logins: 1}, "User:alice"},
		"PLAIN, refused": {func(s *conversation) {
			s.handshake("PLAIN", 1, 0)
			s.authenticate(plain, "", 58)
		}, dissect.SASL{State: dissect.LoginFailed, Mechanism: "PLAIN", User: "alice", ErrorCode: 58, Logins: 1}, ""},
		"PLAIN, refused behind another answer": {func(s *conversation) {
			s.handshake("PLAIN", 1, 0)
			q, r := heartbeat(s.id + 1)
			s.send(up, q)
			s.send(up, request(36, 0, s.id+2, "c", blob(plain)))
			s.send(down, r)
			s.send(down, response(s.id+2, i16(58), str(""), blob("")))
		}, dissect.SASL{State: dissect.LoginFailed, Mechanism: "PLAIN", User: "alice", ErrorCode: 58, Logins: 1}, ""},
		"mechanism refused": {func(s *conversation) { s.handshake("GSSAPI", 1, 33) },
			dissect.SASL{State: dissect.LoginFailed, Mechanism: "GSSAPI", ErrorCode: 33, Logins: 1}, ""},
		"SCRAM": {func(s *conversation) {
			s.handshake("SCRAM-SHA-256", 1, 0)
			s.authenticate(first, server, 0)
			s.authenticate(final, "v=c2ln", 0)
		}, dissect.SASL{State: dissect.LoginDone, Mechanism: "SCRAM-SHA-256", User: "bob", Logins: 1}, "User:bob"},
		"SCRAM, unfinished": {func(s *conversation) {
			s.handshake("SCRAM-SHA-256", 1, 0)
			s.authenticate(first, server, 0)
		}, dissect.SASL{State: dissect.LoginBegun, Mechanism: "SCRAM-SHA-256", User: "bob", Logins: 1}, ""},
		"SCRAM, refused by the token": {func(s *conversation) {
			s.handshake("SCRAM-SHA-512", 0, 0)
			s.raw(first, server)
			s.raw(final, "e=invalid-proof")
		}, dissect.SASL{State: dissect.LoginFailed, Mechanism: "SCRAM-SHA-512", User: "bob", Logins: 1}, ""},
		"SCRAM, raw": {func(s *conversation) {
			s.handshake("SCRAM-SHA-512", 0, 0)
			s.raw(first, server)
			s.raw(final, "v=c2ln")
			s.work()
		}, dissect.SASL{State: dissect.LoginDone, Mechanism: "SCRAM-SHA-512", User: "bob", Logins: 1}, "User:bob"},
		"OAUTHBEARER": {func(s *conversation) {
			s.handshake("OAUTHBEARER", 1, 0)
			s.authenticate("n,,\x01auth=Bearer e30.eyJzdWIiOiJzdmMifQ.c2ln\x01\x01", "", 0)
		}, dissect.SASL{State: dissect.LoginDone, Mechanism: "OAUTHBEARER", User: "svc", Logins: 1}, "User:svc"},
		"OAUTHBEARER, refused": {func(s *conversation) {
			s.handshake("OAUTHBEARER", 1, 0)
			s.authenticate("n,,\x01auth=Bearer e30.eyJzdWIiOiJzdmMifQ.c2ln\x01\x01", `{"status":"invalid_token"}`, 0)
			s.authenticate("\x01", "", 58)
		}, dissect.SASL{State: dissect.LoginFailed, Mechanism: "OAUTHBEARER", User: "svc", ErrorCode: 58, Logins: 1}, ""},
		"GSSAPI": {func(s *conversation) {
			s.handshake("GSSAPI", 1, 0)
			s.authenticate("\x60\x0f\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01\x00\xff\xff", "x", 0)
			s.authenticate("", "y", 0)
			s.work()
		}, dissect.SASL{State: dissect.LoginDone, Mechanism: "GSSAPI", Logins: 1}, ""},
		"another mechanism": {func(s *conversation) {
			s.handshake("AWS_MSK_IAM", 1, 0)
			s.authenticate(`{"version":"2020_10_22"}`, `{"version":"x"}`, 0)
			s.work()
		}, dissect.SASL{State: dissect.LoginDone, Mechanism: "AWS_MSK_IAM", Logins: 1}, ""},
		"anew (KIP-368)": {func(s *conversation) {
			s.handshake("PLAIN", 1, 0)
			s.authenticate(plain, "", 0)
			s.work()
			s.handshake("PLAIN", 1, 0)
			s.authenticate(plain, "", 0)
			s.work()
		}, dissect.SASL{State: dissect.LoginDone, Mechanism: "PLAIN", User: "alice", Logins: 2}, "User:alice"},
		"anew, refused": {func(s *conversation) {
			s.handshake("PLAIN", 1, 0)
			s.authenticate(plain, "", 0)
			s.handshake("PLAIN", 1, 0)
			s.authenticate("\x00bob\x00pw", "", 58)
		}, dissect.SASL{State: dissect.LoginFailed, Mechanism: "PLAIN", User: "bob", ErrorCode: 58, Logins: 2}, "User:alice"},
		"handshake not captured": {func(s *conversation) { s.authenticate(plain, "", 0) },
			dissect.SASL{State: dissect.LoginDone, Mechanism: "PLAIN", User: "alice", Logins: 1}, "User:alice"},
	} {
		t.Run(name, func(t *testing.T) {
			s, gathered := newConversation(t, false), newConversation(t, true)
			for _, s := range []*conversation{s, gathered} {
				tc.talk(s)
				s.close(reassembly.EndFIN)
			}
			assert.Equal(t, s.exchanges, gathered.exchanges)
			require.Len(t, s.conns, 1)
			got := s.conns[0].SASL
			assert.Equal(t, tc.want, dissect.SASL{State: got.State, Mechanism: got.Mechanism, User: got.User,
				Delegated: got.Delegated, ErrorCode: got.ErrorCode, Logins: got.Logins})
			assert.Equal(t, tc.principal, s.conns[0].Principal)
			for _, x := range s.exchanges {
				assert.Equal(t, dissect.Paired, x.State)
				assert.Empty(t, x.Issues)
			}
		})
	}
}

// TestDelegationToken finds out whom a token stands for from the response that made it.
func TestDelegationToken(t *testing.T) {
	s := newConversation(t, false)
	s.handshake("SCRAM-SHA-256", 1, 0)
	s.authenticate("n,,n=tok1,r=a,tokenauth=true", "r=ab,s=c2FsdA==,i=4096", 0)
	s.authenticate("c=biws,r=ab,p=cHJvb2Y=", "v=c2ln", 0)
	s.close(reassembly.EndFIN)
	assert.Empty(t, s.conns[0].Principal)
	assert.True(t, s.conns[0].SASL.Delegated)

	for i, want := range []string{"", "User:carol"} {
		s := &conversation{stream: s.open(uint16(50001+i), true)}
		if i == 0 {
			q := request(38, 0, 1, "c", i32(0), i32(0), i32(-1))
			s.send(up, q)
			times := make([]byte, 24)
			s.send(down, response(1, i16(0), str("User"), str("carol"), times, str("tok1"), blob("hmac"), i32(0)))
		} else {
			s.handshake("SCRAM-SHA-256", 1, 0)
			s.authenticate("n,,n=tok1,r=a,tokenauth=true", "r=ab,s=c2FsdA==,i=4096", 0)
			s.authenticate("c=biws,r=ab,p=cHJvb2Y=", "v=c2ln", 0)
		}
		s.close(reassembly.EndFIN)
		assert.Equal(t, want, s.conns[len(s.conns)-1].Principal)
	}
}
