package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/reassembly"
)

// speak makes the connection a Kafka one and gives it all that was held.
func (c *conn) speak(client reassembly.Dir) {
	p := c.probe
	d := c.d
	answered := c.answered(client)
	c.Protocol, c.phase, c.Broker = ProtocolKafka, speaking, client.Other()
	c.probe = nil
	if port := c.brokerPort(); port != 0 {
		d.view.facts.learnPort(port, d.view.place)
	}
	s := d.newSession(c)
	c.session = s
	s.brokerFirst = !p.heard[client]
	for _, dir := range []reassembly.Dir{client, client.Other()} {
		c.start(p, dir, answered)
	}
	packet, time := c.d.packet, c.d.time
	for _, e := range p.events {
		c.d.packet, c.d.time = e.packet, e.time
		switch e.kind {
		case chunkEvent:
			c.chunk(e.dir, e.off, p.buf.B[e.at:e.at+int(e.n)], e.packet, e.time)
		case gapEvent:
			c.gap(e.dir, reassembly.Gap{Off: e.off, Len: e.n, Reason: e.reason, Packet: e.packet, Time: e.time})
		case finishEvent:
			c.finish(e.dir, e.packet, e.time)
		}
	}
	c.d.packet, c.d.time = packet, time
	p.release(c)
}

// start prepares the splitter of direction dir for what was held. A direction that is seen from
// its middle is searched, unless its first bytes were part of the evidence.
func (c *conn) start(p *probe, dir reassembly.Dir, answered bool) {
	start := frame.Search
	first := p.first[dir]
	switch {
	case p.from[dir] > 0:
		c.skipped(dir, frame.Skip{Len: p.from[dir], Why: frame.OverLimit, First: c.TCP.FirstPacket, Last: c.d.packet, Time: c.d.time})
	case c.TCP.SawSYN || c.TCP.SawSYNACK || answered:
		start = frame.InStep
	case dir == c.Broker && p.earlierResponse(dir), dir != c.Broker && gssapiToken(first, sizeOf(first)):
		start = frame.InStep
	}
	l := &c.d.limits.Frame
	if dir != c.Broker {
		c.requests.Init(&c.requests, c.d.pool, l, p.from[dir], start)
		return
	}
	if !c.brokerAlone() {
		l = &c.d.answering
	}
	c.responses.Init(&c.responses, c.d.pool, l, p.from[dir], start)
}

// earlierResponse reports whether the broker's bytes begin with a response to a request from
// before the capture: it ends with a packet, and its id comes shortly before the first request's.
func (p *probe) earlierResponse(broker reassembly.Dir) bool {
	req, resp := p.first[broker.Other()], p.first[broker]
	if len(req) < clientOff || len(resp) < 8 || sizeOf(resp) < 4 {
		return false
	}
	if before := int64(int32At(req, corrOff)) - int64(int32At(resp, respCorrOff)); before < 1 || before > 16 {
		return false
	}
	off := int64(0)
	for _, e := range p.events {
		if e.kind == chunkEvent && e.dir == broker {
			if off += e.n; off >= int64(4+sizeOf(resp)) {
				break
			}
		}
	}
	return off == int64(4+sizeOf(resp))
}

// brokerPort returns the broker's port where the direction is certain enough to learn it.
func (c *conn) brokerPort() uint16 {
	if c.Broker == reassembly.Backward {
		return c.TCP.Flow.Dst.Port
	}
	return c.TCP.Flow.Src.Port
}
