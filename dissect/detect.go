package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/reassembly"
)

// detect takes an event of a connection whose protocol is not known.
func (c *conn) detect(e event, b []byte) {
	p := c.probe
	if e.kind == finishEvent && (p == nil || !p.begun[0] && !p.begun[1]) {
		c.finished[e.dir] = e.packet
		return
	}
	if p == nil {
		p = c.d.newProbe()
		c.probe = p
	}
	p.hold(c, e, b)
	switch e.kind {
	case chunkEvent:
		p.begun[e.dir], p.heard[e.dir] = true, true
		p.total += int64(len(b))
		if !p.gone[e.dir] {
			f := p.first[e.dir]
			p.first[e.dir] = append(f, b[:min(len(b), firstBytes-len(f))]...)
		}
	case gapEvent:
		p.begun[e.dir], p.gone[e.dir] = true, true
	}
	if proto := other(p.first[e.dir]); proto != ProtocolUnknown {
		c.ignore(proto)
		return
	}
	c.decide(e, b)
}

// ignore gives a connection up that is not Kafka, or cannot be shown to be.
func (c *conn) ignore(proto Protocol) {
	c.Protocol = proto
	c.phase = ignored
	c.probe.release(c)
	c.probe = nil
}

// direction returns the client's direction, if something other than the bytes says which it is,
// and whether the broker's port is known to be one.
func (c *conn) direction() (client reassembly.Dir, sure, known bool) {
	t := c.TCP
	src, dst := t.Flow.Src, t.Flow.Dst
	if c.d.restricted() {
		switch a, b := c.d.named(src), c.d.named(dst); {
		case b && !a, b && (t.SawSYN || t.SawSYNACK):
			return reassembly.Forward, true, true
		case a && !b:
			return reassembly.Backward, true, true
		case a && b:
			return reassembly.Forward, false, true
		}
	}
	if t.SawSYN || t.SawSYNACK { // what is not needed is not asked: it may have to be waited for
		return reassembly.Forward, true, c.d.view.brokerPort(dst.Port)
	}
	a, b := c.d.view.brokerPort(src.Port), c.d.view.brokerPort(dst.Port)
	switch {
	case t.TLS != nil && t.TLS.Hello && t.TLS.Client == reassembly.Backward:
		return reassembly.Backward, true, a
	case t.TLS != nil && t.TLS.Hello:
		return reassembly.Forward, true, b
	case b && !a:
		return reassembly.Forward, true, true
	case a && !b:
		return reassembly.Backward, true, true
	}
	return reassembly.Forward, false, false
}

// allowed reports whether the user's choice of brokers lets the connection be Kafka.
func (c *conn) allowed() bool {
	return !c.d.restricted() || c.d.named(c.TCP.Flow.Src) || c.d.named(c.TCP.Flow.Dst)
}

// decide weighs what has been seen, e the latest of it.
func (c *conn) decide(e event, b []byte) {
	p := c.probe
	if !c.allowed() {
		if p.begun[0] && p.begun[1] || p.total > c.d.limits.Detect {
			c.ignore(ProtocolUnknown)
		}
		return
	}
	client, sure, known := c.direction()
	if sure {
		if c.evident(client, known) || c.collect(client, e, b) {
			c.speak(client)
			return
		}
		if c.hopeless(client) {
			c.ignore(ProtocolUnknown)
		}
		return
	}
	forward, backward := c.collect(reassembly.Forward, e, b), c.collect(reassembly.Backward, e, b)
	for _, d := range []reassembly.Dir{reassembly.Forward, reassembly.Backward} {
		if c.answered(d) {
			c.speak(d)
			return
		}
	}
	// Responses to the first few requests may look like Produce requests: the high half of the
	// correlation id is read as the key.
	switch {
	case forward && !p.sides[0].doubtful() && (!backward || p.sides[1].doubtful()):
		c.speak(reassembly.Forward)
	case backward && !p.sides[1].doubtful() && (!forward || p.sides[0].doubtful()):
		c.speak(reassembly.Backward)
	case p.total > c.d.limits.DetectTotal:
		c.ignore(ProtocolUnknown)
	}
}

// decideAtEnd decides on a connection that ends, with what there is.
func (c *conn) decideAtEnd() {
	p := c.probe
	if p == nil {
		if c.TCP.Dirs[0].Bytes+c.TCP.Dirs[1].Bytes == 0 {
			c.Protocol = ProtocolEmpty
		}
		c.phase = ignored
		return
	}
	if c.TCP.Dirs[0].Bytes+c.TCP.Dirs[1].Bytes == 0 && !p.gone[0] && !p.gone[1] {
		c.ignore(ProtocolEmpty)
		return
	}
	if !c.allowed() {
		c.ignore(ProtocolUnknown)
		return
	}
	client, sure, known := c.direction()
	if sure && (c.evident(client, known) || known && c.loneResponse(client.Other())) {
		c.speak(client)
		return
	}
	for i := range p.sides {
		if p.sides[i].begun {
			p.sides[i].Finish(c.d.packet, c.d.time)
		}
	}
	if p.orphans.begun {
		p.orphans.Finish(c.d.packet, c.d.time)
	}
	f, b := &p.sides[0], &p.sides[1]
	switch {
	case sure && p.sides[client].found():
		c.speak(client)
	case sure && p.orphans.found > 0:
		c.speak(client)
	case !sure && f.found() && (!b.found() || b.doubtful()):
		c.speak(reassembly.Forward)
	case !sure && b.found():
		c.speak(reassembly.Backward)
	default:
		c.ignore(ProtocolUnknown)
	}
}

// atStart reports whether the first byte seen of direction d is the first of its stream.
func (c *conn) atStart(d reassembly.Dir) bool {
	t := c.TCP
	return (t.SawSYN || t.SawSYNACK) && (!c.probe.gone[d] || len(c.probe.first[d]) > 0)
}

// evident reports whether the first bytes are enough: a request to a known broker, or a first
// request with the response to it.
func (c *conn) evident(client reassembly.Dir, known bool) bool {
	b := c.probe.first[client]
	return known && (c.likely(client) || gssapiToken(b, sizeOf(b))) || c.answered(client)
}

// likely reports whether the first bytes of direction d begin with a request: its header is sane,
// as far as it is captured, and it decodes where it is whole, or else the client says its name.
func (c *conn) likely(d reassembly.Dir) bool {
	b := c.probe.first[d]
	if len(b) < clientOff+2 {
		return false
	}
	switch v := c.d.loose(b); {
	case v == frame.More && c.probe.gone[d]: // the client id is cut
	case v != frame.Strong:
		return false
	}
	if total := 4 + sizeOf(b); total <= len(b) {
		return c.d.wholeRequest(b[:total]) != frame.No
	}
	return len(b) > clientOff+2 && int16At(b, clientOff) > 0
}

// loneResponse reports whether all that was captured is one frame of a broker.
func (c *conn) loneResponse(broker reassembly.Dir) bool {
	b := c.probe.first[broker]
	return !c.probe.heard[broker.Other()] && len(b) >= 8 && sizeOf(b) >= 4 && int32At(b, respCorrOff) >= 0 &&
		int64(4+sizeOf(b)) == c.TCP.Dirs[broker].Bytes
}

func sizeOf(b []byte) int {
	if len(b) < 4 {
		return -1
	}
	return int(int32At(b, 0))
}

// answered reports whether client's first bytes are a request and the other direction's first
// bytes the response to it.
func (c *conn) answered(client reassembly.Dir) bool {
	req, resp := c.probe.first[client], c.probe.first[client.Other()]
	if len(resp) < 8 || sizeOf(resp) < 4 || !c.likely(client) || int32At(resp, respCorrOff) != int32At(req, corrOff) {
		return false
	}
	if total := 4 + sizeOf(resp); total <= len(resp) {
		return c.d.wholeResponse(resp[:total], int16At(req, keyOff), int16At(req, versionOff)) != frame.No
	}
	return (len(resp) == firstBytes || c.probe.gone[client.Other()]) && int16At(req, clientOff) > 0
}

// collect gives an event to the suspicion that client is the client's direction. It reports
// whether there is proof.
func (c *conn) collect(client reassembly.Dir, e event, b []byte) bool {
	p := c.probe
	s := &p.sides[client]
	if e.dir == client {
		if !s.begun {
			s.begin(c, client, e.off)
		}
		feed(&s.Splitter, e, b)
		return s.found()
	}
	if _, sure, known := c.direction(); sure && !p.heard[client] {
		if !p.orphans.begun {
			o := &p.orphans
			o.begun, o.c = true, c
			l := &c.d.limits.Frame
			if known {
				l = &c.d.knownBroker
			}
			o.Init(o, c.d.pool, l, e.off, frame.Search)
		}
		feed(&p.orphans.Splitter, e, b)
	}
	return s.found() || c.brokerOnly(client)
}

// brokerOnly reports whether responses were found, and no client was captured whose requests
// may only be late.
func (c *conn) brokerOnly(client reassembly.Dir) bool {
	return c.probe.orphans.found > 0 && c.TCP.Dirs[client].Packets == 0
}

func feed(s *frame.Splitter, e event, b []byte) {
	switch e.kind {
	case chunkEvent:
		s.Chunk(e.off, b, e.packet, e.time)
	case gapEvent:
		s.Gap(frame.Gap{Off: e.off, Len: e.n, Packet: e.packet, Time: e.time})
	case finishEvent:
		s.Finish(e.packet, e.time)
	}
}

// hopeless reports whether nothing that follows can show the connection to be Kafka.
func (c *conn) hopeless(client reassembly.Dir) bool {
	p := c.probe
	if p.total > c.d.limits.DetectTotal {
		return true
	}
	b := p.first[client]
	if !c.atStart(client) || len(b) == 0 {
		return false
	}
	// The stream begins here, so what is no request now is none later.
	if gssapiToken(b, sizeOf(b)) {
		return p.total > c.d.limits.Detect
	}
	switch c.d.loose(b) {
	case frame.No:
		return true
	case frame.More:
		return false
	}
	s := &p.sides[client]
	return s.refuted(b) || p.total > c.d.limits.Detect && s.Splitter.State() != frame.Synced
}
