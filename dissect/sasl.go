package dissect

import (
	"fmt"

	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/tree"
)

// sasl follows the exchange of bare tokens behind SaslHandshake v0, or of GSSAPI tokens
// without any handshake.
type sasl struct {
	tokens   bool      // both directions carry int32 size and token
	answered bool      // the broker has sent one
	waiting  *exchange // the client's token that the broker has not answered
}

// isToken reports whether a frame of the client is a token. The exchange of tokens ends with
// the first frame that has a valid request header behind the broker's last token.
func (c *conn) isToken(b []byte, size int) bool {
	if !c.sasl.tokens {
		if !c.anyRequest && gssapiToken(b, size) {
			c.sasl = sasl{tokens: true}
			return true
		}
		return false
	}
	if size < minRequest || c.d.request(b) != frame.Strong {
		return true
	}
	whole := frame.Weak
	if len(b) == 4+size {
		whole = c.d.wholeRequest(b)
	}
	if whole == frame.Strong || whole == frame.Weak && c.sasl.answered && c.sasl.waiting == nil {
		c.flushToken()
		c.sasl = sasl{}
		return false
	}
	return true
}

// gssapiToken reports whether a frame holds an initial GSSAPI token: the tag APPLICATION 0 and
// a DER length that covers the rest (RFC 2743, section 3.1).
func gssapiToken(b []byte, size int) bool {
	if size < 4 || len(b) < 8 || b[4] != 0x60 {
		return false
	}
	switch n := b[5]; {
	case n < 0x80:
		return size == 2+int(n)
	case n == 0x81:
		return size == 3+int(b[6])
	case n == 0x82:
		return size == 4+int(b[6])<<8+int(b[7])
	case n == 0x83 && len(b) >= 9:
		return size == 5+int(b[6])<<16+int(b[7])<<8+int(b[8])
	}
	return false
}

func (c *conn) clientToken(f *frame.Frame) {
	c.flushToken()
	x := c.d.newExchange(c)
	x.Request = &x.request
	fill(x.Request, f, &x.requestMarks)
	x.Request.Kind = TokenFrame
	c.hold(x, 0, x.Request, f)
	if !x.Request.Cut() {
		c.clientLogin(x.Request, x.Request.Bytes[4:])
	}
	for i, r := range c.late {
		// The broker speaks only when asked: a token of it that comes first has changed places, unless
		// the one that it answers was lost.
		if r.response.Kind == TokenFrame && (r.response.FirstPacket >= x.request.LastPacket || !r.requestsLost) {
			c.late = append(c.late[:i], c.late[i+1:]...)
			c.release(r)
			c.adopt(x, r)
			x.response.CorrelationID, x.response.Header = 0, nil
			c.answerToken(x)
			return
		}
	}
	c.sasl.waiting = x
}

// brokerToken takes the token that answers the client's.
func (c *conn) brokerToken(f *frame.Frame) {
	x := c.sasl.waiting
	c.sasl.waiting = nil
	fill(&x.response, f, &x.responseMarks)
	x.response.Kind = TokenFrame
	c.answerToken(x)
}

func (c *conn) answerToken(x *exchange) {
	c.release(x)
	x.Response = &x.response
	x.Response.mechanism, x.Response.fromBroker = x.Request.mechanism, true
	if !x.Response.Cut() {
		c.serverLogin(x.Response.Bytes[4:])
	}
	x.State = Paired
	if x.Request.Cut() || x.Response.Cut() {
		x.State = Interrupted
	}
	c.emit(x)
}

// flushToken gives a token that the broker did not answer.
func (c *conn) flushToken() {
	x := c.sasl.waiting
	if x == nil {
		return
	}
	c.sasl.waiting = nil
	c.unanswered(x, tree.Issue{
		Severity: tree.Info, Code: tree.CodeUnanswered,
		Text: fmt.Sprintf("no token of the broker answers this one (packets %d-%d)", x.Request.FirstPacket, x.Request.LastPacket),
	})
}
