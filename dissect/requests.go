package dissect

import (
	"fmt"

	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// API keys that the pipeline looks at.
const (
	produceKey         = 0
	metadataKey        = 3
	saslHandshakeKey   = 17
	saslAuthenticate   = 36
	createTokenKey     = 38
	apiVersionsKey     = 18
	createTopicsKey    = 19
	describeTopicsKey  = 75
	unsupportedVersion = 35 // error code
)

// Size implements frame.Judge.
func (r *requests) Size(n int32) bool {
	return n >= minRequest || n >= 0 && r.c.sasl.tokens
}

// Header implements frame.Judge.
func (r *requests) Header(_, b []byte) frame.Verdict { return r.c.d.request(b) }

// Whole implements frame.Judge.
func (r *requests) Whole(b []byte, aligned bool) frame.Verdict {
	return r.c.d.foundRequest(b, aligned)
}

// Begins implements frame.Judge.
func (r *requests) Begins(b []byte) bool { return r.c.d.beginsRequest(b) }

// Skip implements frame.Sink.
func (r *requests) Skip(s frame.Skip) { r.c.skipped(r.c.client(), s) }

// Frame implements frame.Sink.
func (r *requests) Frame(f *frame.Frame) {
	c := r.c
	c.counted(c.client(), f)
	if c.isToken(f.Bytes, int(f.Size)) {
		c.clientToken(f)
		return
	}
	c.request(f)
}

// request takes a request in: it waits for its response, unless none is expected.
func (c *conn) request(f *frame.Frame) {
	d := c.d
	x := d.newExchange(c)
	fr := &x.request
	x.Request = fr
	fill(fr, f, &x.requestMarks)
	var h header
	h.parse(d.catalogue, fr.Bytes)
	fr.APIKey, fr.Version, fr.CorrelationID = h.key, h.version, h.corr
	if !h.hasCorr {
		c.anyRequest = true
		x.State = Interrupted
		c.emit(x)
		return
	}
	c.follow(h.corr)
	fr.Plan = h.plan
	d.describeRequest(fr, &h, f.Whole())
	if h.body > 0 && f.Whole() {
		if p := fr.Plan; p != nil {
			d.useOlder(fr, h.body)
			c.peek(fr, h.body)
			c.loginRequest(fr, h.body)
		}
	}
	if h.key == produceKey && d.acksNone(fr, h.body) {
		fr.ClientID = h.client
		x.State = NoResponse
		if !f.Whole() {
			x.State = Interrupted
		}
		x.own = c.owns(f)
		c.emit(x)
		return
	}
	c.hold(x, 0, fr, f)
	if h.client != nil {
		fr.ClientID = fr.Bytes[clientOff+2:][:len(h.client):len(h.client)]
	}
	c.await(x)
}

// idUse is what a client does with correlation ids.
type idUse uint8

const (
	idsUnknown idUse = iota
	idsDiffer        // each is another one, as far as that was looked at
	idsRepeat        // some are used again at once
)

// follow takes the correlation id of the next request.
func (c *conn) follow(id int32) {
	switch {
	case !c.anyRequest:
		c.lastID = id
	case id == c.lastID || id == c.idBefore:
		c.ids = idsRepeat
	case c.ids == idsUnknown:
		c.ids = idsDiffer
	}
	c.anyRequest, c.idBefore, c.lastID = true, c.lastID, id
}

// peek reads what the pipeline needs of a request.
func (c *conn) peek(fr *Frame, body int) {
	if fr.APIKey != apiVersionsKey || fr.Version < 3 {
		return
	}
	c.d.HandOver()
	leadingFields(fr.Plan, fr.Bytes, body, func(f *schema.Field, v []byte) bool {
		switch schema.Role(f.Desc.Role) {
		case schema.RoleClientSoftwareName:
			c.Software = intern(c.Software, v)
		case schema.RoleClientSoftwareVersion:
			c.SoftwareVersion = intern(c.SoftwareVersion, v)
		}
		return true
	})
}

// intern returns v as a string, s where they are equal.
func intern(s string, v []byte) string {
	if s == string(v) {
		return s
	}
	return string(v)
}

// acksNone reports whether a Produce request says that it wants no response.
func (d *Dissector) acksNone(fr *Frame, body int) bool {
	if fr.Plan == nil || body == 0 {
		return false
	}
	none := false
	leadingFields(fr.Plan, fr.Bytes, body, func(f *schema.Field, v []byte) bool {
		if schema.Role(f.Desc.Role) == schema.RoleAcks {
			none = int16At(v, 0) == 0
			return false
		}
		return true
	})
	return none
}

// await puts x in flight, unless its response is there already.
func (c *conn) await(x *exchange) {
	id := x.request.CorrelationID
	if r := c.takeLate(&x.request); r != nil {
		c.join(x, r)
		return
	}
	// A client that uses an id again does not wait for the response that was lost.
	for {
		old, ok := c.flight.TakeDoubtful(id)
		if !ok {
			break
		}
		c.unanswered(old, tree.Issue{
			Severity: tree.Warning, Code: tree.CodeUnanswered,
			Text: fmt.Sprintf("its response is not captured: bytes of the broker are missing, and the client used correlation id %d again (packet %d)", id, x.request.FirstPacket),
		})
	}
	if before := x.request.FirstTime - int64(c.d.limits.MaxWait); before > 0 {
		c.flight.Expire(before, func(old *exchange) {
			c.unanswered(old, tree.Issue{
				Severity: tree.Warning, Code: tree.CodeUnanswered,
				Text: fmt.Sprintf("no response within %v", c.d.limits.MaxWait),
			})
		})
	}
	if old, full := c.flight.Add(id, x.request.FirstTime, x); full {
		c.unanswered(old, tree.Issue{
			Severity: tree.Warning, Code: tree.CodeLimit,
			Text: fmt.Sprintf("more than %d requests in flight: its response is not waited for any longer", c.d.limits.InFlight),
		})
	}
}

// unanswered gives a request without its response.
func (c *conn) unanswered(x *exchange, why tree.Issue) {
	c.release(x)
	x.State = Unanswered
	if x.Request.Cut() {
		x.State = Interrupted
	}
	x.Issues = append(x.Issues, why)
	c.emit(x)
}
