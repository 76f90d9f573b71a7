package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
)

// login is a client's login by SASL, as connections --format json writes it.
type login struct {
	Mechanism string `json:"mechanism,omitempty"`
	User      string `json:"user,omitempty"` // whom the client says it is
	Delegated bool   `json:"delegationToken,omitempty"`
	Outcome   string `json:"outcome"`
	ErrorCode int16  `json:"errorCode,omitempty"`
	Logins    int    `json:"logins"` // more than one: the client has authenticated anew (KIP-368)

	principal string
}

func newLogin(c *dissect.Connection) *login {
	s := &c.SASL
	if s.State == dissect.LoginNone {
		return nil
	}
	return &login{Mechanism: s.Mechanism, User: s.User, Delegated: s.Delegated, Outcome: s.State.String(),
		ErrorCode: s.ErrorCode, Logins: s.Logins, principal: c.Principal}
}

// String returns the line for people.
func (l *login) String() string {
	parts := []string{"SASL"}
	if l.Mechanism != "" {
		parts[0] += " " + visible(l.Mechanism)
	}
	switch {
	case l.User != "" && l.Delegated:
		parts = append(parts, "delegation token "+visible(l.User))
	case l.User != "":
		parts = append(parts, "user "+visible(l.User))
	}
	outcome := l.Outcome
	if l.ErrorCode != 0 {
		outcome += fmt.Sprintf(" (%s)", errorName(l.ErrorCode))
	}
	if l.principal != "" && l.Outcome == dissect.LoginDone.String() {
		outcome += " as " + visible(l.principal)
	}
	parts = append(parts, outcome)
	if l.Logins > 1 {
		parts = append(parts, plural(l.Logins, "login"))
	}
	return strings.Join(parts, ", ")
}

// errorName returns the name of one of Kafka's error codes, or its number.
func errorName(code int16) string {
	if name := schema.ErrorName(code); name != "" {
		return name
	}
	return fmt.Sprint(code)
}

// visible returns what a peer has sent as text that does nothing to a terminal.
func visible(s string) string {
	quoted := strconv.QuoteToGraphic(s)
	return quoted[1 : len(quoted)-1]
}
