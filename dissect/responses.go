package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
)

// Size implements frame.Judge.
func (r *responses) Size(n int32) bool {
	return n >= 4 || n >= 0 && r.c.sasl.tokens
}

// Header implements frame.Judge: only the response to a request in flight looks right. One to a
// request that was lost is passed over in a search: lengths and numbers in record batches look
// just like it. So is one to a request whose turn is over, since brokers answer in order.
func (r *responses) Header(prev, b []byte) frame.Verdict {
	if len(b) < 4 {
		return frame.More
	}
	if int32At(b, 0) < 4 {
		return frame.No
	}
	if len(b) < 8 {
		return frame.More
	}
	c := r.c
	id := int32At(b, respCorrOff)
	if c.brokerAlone() {
		return orphanHeader(prev, b)
	}
	if c.flight.Expects(id) {
		return frame.Strong
	}
	return frame.No
}

// orphanHeader judges responses of which no request is captured: ids go up in small steps.
func orphanHeader(prev, b []byte) frame.Verdict {
	id := int32At(b, respCorrOff)
	if id < 0 {
		return frame.No
	}
	if prev != nil {
		if step := int64(id) - int64(int32At(prev, respCorrOff)); step < 1 || step > 16 {
			return frame.No
		}
	}
	return frame.Weak
}

// foundOrphan judges a whole response of which no request is captured. Only its size and id can
// be checked, so that the first one must begin a packet.
func foundOrphan(aligned bool) frame.Verdict {
	if !aligned {
		return frame.No
	}
	return frame.Weak
}

// Whole implements frame.Judge.
func (r *responses) Whole(b []byte, aligned bool) frame.Verdict {
	x, ok := r.c.flight.Get(int32At(b, respCorrOff))
	if !ok {
		return foundOrphan(aligned)
	}
	return r.c.d.foundResponse(b, x.request.APIKey, x.request.Version, aligned)
}

// Begins implements frame.Judge.
func (r *responses) Begins(b []byte) bool {
	if r.Header(nil, b) != frame.Strong {
		return false
	}
	x, ok := r.c.flight.Get(int32At(b, respCorrOff))
	return ok && r.c.d.beginsResponse(b, x.request.APIKey, x.request.Version)
}

// Skip implements frame.Sink.
func (r *responses) Skip(s frame.Skip) {
	// The response that a request waits for may be among the bytes.
	r.c.flight.Doubt()
	r.c.skipped(r.c.Broker, s)
}

// Frame implements frame.Sink.
func (r *responses) Frame(f *frame.Frame) {
	c := r.c
	c.counted(c.Broker, f)
	if c.sasl.tokens {
		c.sasl.answered = true
		if c.sasl.waiting == nil {
			c.orphan(f, TokenFrame)
		} else {
			c.brokerToken(f)
		}
		return
	}
	if len(f.Bytes) < respCorrOff+4 {
		c.headless(f)
		return
	}
	id := int32At(f.Bytes, respCorrOff)
	x, overtook, ok := c.flight.Take(id)
	if !ok {
		c.orphan(f, KafkaFrame)
		return
	}
	x.Overtook = overtook
	fill(&x.response, f, &x.responseMarks)
	x.response.CorrelationID = id
	x.own = c.owns(f)
	c.complete(x, f.Whole())
}

// join pairs request x with the response of r, which was delivered before it.
func (c *conn) join(x, r *exchange) {
	c.adopt(x, r)
	x.response.Kind = KafkaFrame
	c.complete(x, !x.response.Cut())
}

// adopt makes the response of r that of x.
func (c *conn) adopt(x, r *exchange) {
	x.response, r.response = r.response, x.response
	x.responseMarks, r.responseMarks = r.responseMarks, x.responseMarks
	x.buf[1], r.buf[1] = r.buf[1], nil
	c.d.recycle(r)
}

// complete gives x, whose response has come.
func (c *conn) complete(x *exchange, whole bool) {
	d := c.d
	c.release(x)
	req, resp := &x.request, &x.response
	x.Response = resp
	d.describeResponse(resp, req.APIKey, req.Version)
	if whole && resp.Plan != nil {
		body := responseBody(resp.Bytes, resp.Plan)
		c.learn(resp, body)
		if body >= 0 {
			c.loginResponse(req, resp, body)
		}
	}
	if x.Overtook {
		x.Issues = append(x.Issues, outOfOrderIssue())
	}
	x.State = Paired
	if req.Cut() || resp.Cut() {
		x.State = Interrupted
	}
	c.emit(x)
}

// learn takes from a whole response what the rest of the capture needs.
func (c *conn) learn(resp *Frame, body int) {
	d := c.d
	if body < 0 {
		return
	}
	d.useOlder(resp, body)
	switch resp.APIKey {
	case saslHandshakeKey:
		if resp.Version == 0 && len(resp.Bytes) >= body+2 && int16At(resp.Bytes, body) == 0 {
			c.sasl = sasl{tokens: true}
		}
	case metadataKey, describeTopicsKey, createTopicsKey:
		d.HandOver()
		d.names.facts, d.names.most = d.view, d.limits.Topics
		d.decoder.Body(resp.Bytes, body, resp.Plan, &d.names)
	}
}

// orphan takes a response whose request is not in flight. The request may still be delivered,
// since its direction waits behind holes; so the response is kept for a while. What looks like a
// token then may turn out to be a response.
func (c *conn) orphan(f *frame.Frame, kind FrameKind) {
	x := c.d.newExchange(c)
	fr := &x.response
	x.Response = fr
	fill(fr, f, &x.responseMarks)
	fr.Kind = kind
	if len(fr.Bytes) >= respCorrOff+4 {
		fr.CorrelationID = int32At(fr.Bytes, respCorrOff)
		fr.Header = c.d.catalogue.Header(schema.Response, 0)
	}
	if c.brokerAlone() {
		c.giveOrphan(x)
		return
	}
	if len(c.late) >= c.d.limits.Late {
		c.giveOrphan(c.late[0])
		c.late = append(c.late[:0], c.late[1:]...)
	}
	if !c.hold(x, 1, fr, f) {
		c.giveOrphan(x)
		return
	}
	c.late = append(c.late, x)
}

func (c *conn) giveOrphan(x *exchange) {
	c.release(x)
	x.State = Orphan
	if x.response.Cut() {
		x.State = Interrupted
	}
	if x.response.Kind == TokenFrame {
		x.response.fromBroker = true
		x.response.CorrelationID, x.response.Header = 0, nil
		x.Issues = append(x.Issues, orphanTokenIssue(&x.response))
	} else {
		x.Issues = append(x.Issues, orphanIssue(&x.response))
	}
	c.emit(x)
}

// headless gives a response whose bytes end before its correlation id.
func (c *conn) headless(f *frame.Frame) {
	x := c.d.newExchange(c)
	fr := &x.response
	x.Response = fr
	fill(fr, f, &x.responseMarks)
	fr.Header = c.d.catalogue.Header(schema.Response, 0)
	x.State = Interrupted
	x.Issues = append(x.Issues, headlessIssue(fr))
	c.emit(x)
}

// takeLate removes the kept response that belongs to req, or returns nil. The request was
// captured first, and its direction waited behind a hole; or the capture has the two packets
// swapped, in which case the response must decode, and the request that it answers cannot be one
// with the same id that was lost.
func (c *conn) takeLate(req *Frame) *exchange {
	for i, r := range c.late {
		if r.response.CorrelationID != req.CorrelationID {
			continue
		}
		if swapped := r.response.FirstPacket < req.LastPacket; swapped || r.response.Kind == TokenFrame {
			if swapped && r.requestsLost && c.ids != idsDiffer || r.response.Cut() || c.d.wholeResponse(r.response.Bytes, req.APIKey, req.Version) != frame.Strong {
				continue
			}
		}
		c.late = append(c.late[:i], c.late[i+1:]...)
		c.release(r)
		return r
	}
	return nil
}

// expireLate gives the kept responses that ended before time as orphans.
func (c *conn) expireLate(time int64) {
	n := 0
	for n < len(c.late) && c.late[n].response.LastTime < time {
		c.giveOrphan(c.late[n])
		n++
	}
	if n > 0 {
		c.late = append(c.late[:0], c.late[n:]...)
	}
}
