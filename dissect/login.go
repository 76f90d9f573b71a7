package dissect

import (
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/schema"
)

// LoginState is how far a client's login has come.
type LoginState uint8

// States of logins.
const (
	LoginNone LoginState = iota
	LoginBegun
	LoginDone
	LoginFailed
)

// String returns the words for people and for JSON.
func (s LoginState) String() string {
	switch s {
	case LoginBegun:
		return "unfinished"
	case LoginDone:
		return "authenticated"
	case LoginFailed:
		return "failed"
	}
	return "none"
}

// SASL is what a connection has shown of its client's login.
type SASL struct {
	State     LoginState
	Delegated bool   // User is the id of a delegation token
	ErrorCode int16  // of the response that refused the login; 0 where it was a token
	answers   int32  // of the broker, to this login
	Logins    int    // begun; more than one with re-authentication (KIP-368)
	Mechanism string // as SaslHandshake names it, or else by the form of the tokens; "" unknown
	User      string // whom the client says it is; "" where its tokens do not tell
}

// maxUser bounds the names that are kept.
const maxUser = 256

// loginRequest looks at a request that is part of a login.
func (c *conn) loginRequest(fr *Frame, body int) {
	switch fr.APIKey {
	case saslHandshakeKey:
		leadingFields(fr.Plan, fr.Bytes, body, func(f *schema.Field, v []byte) bool {
			if schema.Role(f.Desc.Role) == schema.RoleMechanism {
				c.beginLogin(string(v[:min(len(v), maxUser)]))
			}
			return true
		})
	case saslAuthenticate:
		leadingFields(fr.Plan, fr.Bytes, body, func(f *schema.Field, v []byte) bool {
			if schema.Role(f.Desc.Role) == schema.RoleAuthBytes {
				c.clientLogin(fr, v)
			}
			return true
		})
	}
}

// login returns the client's login to those who change it, once all is shown that it is part of.
func (c *conn) login() *SASL {
	c.d.HandOver()
	return &c.SASL
}

func (c *conn) beginLogin(mechanism string) {
	*c.login() = SASL{State: LoginBegun, Mechanism: mechanism, Logins: c.SASL.Logins + 1}
}

// clientLogin takes a token of the client, which is in fr.
func (c *conn) clientLogin(fr *Frame, token []byte) {
	if c.SASL.State == LoginNone {
		c.beginLogin("")
	}
	s := c.login()
	t := payload.ReadSASL(s.Mechanism, false, token)
	if s.Mechanism == "" {
		s.Mechanism = mechanismOf(t.Kind)
	}
	fr.mechanism = s.Mechanism
	if len(t.User) > 0 {
		s.User, s.Delegated = string(t.User[:min(len(t.User), maxUser)]), t.Delegated
	}
}

// mechanismOf names the mechanism that a token belongs to, as far as it tells.
func mechanismOf(k payload.SASLKind) string {
	switch k {
	case payload.SASLPlain:
		return "PLAIN"
	case payload.SASLOAuthClient:
		return "OAUTHBEARER"
	case payload.SASLGSSAPIFirst:
		return "GSSAPI"
	}
	return ""
}

// loginResponse looks at a whole response.
func (c *conn) loginResponse(req, resp *Frame, body int) {
	resp.mechanism = req.mechanism
	switch resp.APIKey {
	case saslHandshakeKey, saslAuthenticate:
		code := int16(0)
		var token []byte
		leadingFields(resp.Plan, resp.Bytes, body, func(f *schema.Field, v []byte) bool {
			switch schema.Role(f.Desc.Role) {
			case schema.RoleErrorCode:
				code = int16At(v, 0)
			case schema.RoleAuthBytes:
				token = v
			}
			return true
		})
		switch {
		case code != 0:
			c.failLogin(code)
		case resp.APIKey == saslAuthenticate:
			c.serverLogin(token)
		}
	case createTokenKey:
		c.learnOwner(resp, body)
	case apiVersionsKey:
	default:
		// Nothing else is answered before the login is complete.
		if c.SASL.State == LoginBegun && c.SASL.answers > 0 {
			c.completeLogin()
		}
	}
}

// serverLogin takes a token with which the broker answers the client's.
func (c *conn) serverLogin(token []byte) {
	s := c.login()
	s.answers++
	if s.State == LoginNone {
		return
	}
	t := payload.ReadSASL(s.Mechanism, true, token)
	switch {
	case t.Failed:
		c.failLogin(0)
	case t.Kind == payload.SASLScramServerFinal, s.Mechanism == "PLAIN", s.Mechanism == "OAUTHBEARER":
		c.completeLogin()
	}
}

func (c *conn) failLogin(code int16) {
	s := c.login()
	s.State = LoginFailed
	if code != 0 {
		s.ErrorCode = code
	}
}

// completeLogin notes who the broker takes the client for, by Kafka's own rules for principals.
func (c *conn) completeLogin() {
	s := c.login()
	if s.State == LoginFailed {
		return
	}
	s.State = LoginDone
	switch {
	case s.User == "":
	case s.Delegated:
		c.Principal = c.d.view.owner(s.User)
	default:
		c.Principal = "User:" + s.User
	}
}

// learnOwner notes whom a new delegation token stands for (KIP-48).
func (c *conn) learnOwner(resp *Frame, body int) {
	var kind, name, id string
	leadingFields(resp.Plan, resp.Bytes, body, func(f *schema.Field, v []byte) bool {
		switch f.Desc.Name {
		case "PrincipalType":
			kind = string(v)
		case "PrincipalName":
			name = string(v)
		case "TokenId":
			id = string(v)
			return false
		}
		return true
	})
	if id != "" && len(id)+len(kind)+len(name) <= 3*maxUser {
		c.d.view.facts.learnOwner(id, kind+":"+name, c.d.view.place, c.d.limits.Topics)
	}
}
