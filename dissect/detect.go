package dissect

import (
	"bytes"

	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/reassembly"
)

// eventKind is what happened to a connection while its protocol was not known.
type eventKind uint8

const (
	chunkEvent eventKind = iota
	gapEvent
	finishEvent
)

// event is held until the protocol is known, and then given again.
type event struct {
	kind         eventKind
	dir          reassembly.Dir
	reason       reassembly.Reason
	off          int64
	n            int64 // of a gap, or of the bytes of a chunk
	at           int   // of a chunk's bytes in the probe's buffer
	packet, time int64
}

// firstBytes is how much of the beginning of each direction is looked at.
const firstBytes = clientOff + 2 + maxClientID

// probe finds out what a connection speaks.
type probe struct {
	events []event
	buf    *frame.Buffer
	total  int64 // bytes seen
	// first are the first bytes of each direction, without a gap.
	first [2][]byte
	begun [2]bool  // anything was seen of the direction
	gone  [2]bool  // a gap follows the first bytes
	from  [2]int64 // stream offset from which on bytes are held
	sides [2]suspect
	orphans
}

// suspect collects evidence that one direction is a client's.
type suspect struct {
	frame.Splitter
	c     *conn
	begun bool
	whole int // requests that decode whole
	chain int // requests that stand in a row
	key   int16
	same  bool // all have one key and version
	vers  int16
}

// orphans collects evidence that one direction is a broker's of whose client nothing was captured.
type orphans struct {
	frame.Splitter
	c     *conn
	begun bool
	found int
}

// detect takes an event of a connection whose protocol is not known.
func (c *conn) detect(e event, b []byte) {
	if c.probe == nil {
		c.probe = &probe{}
	}
	p := c.probe
	if e.kind == finishEvent && !p.begun[0] && !p.begun[1] {
		c.finished[e.dir] = e.packet
		return
	}
	p.hold(c, e, b)
	switch e.kind {
	case chunkEvent:
		p.begun[e.dir] = true
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

// other names the protocols that are known by their first bytes.
func other(b []byte) Protocol {
	switch {
	case len(b) >= 5 && b[0] >= 0x14 && b[0] <= 0x17 && b[1] == 3 && b[2] <= 4 && (int(b[3])<<8|int(b[4])) <= 1<<14+2048:
		return ProtocolTLS
	case len(b) >= 4 && b[0] >= 'A' && b[0] <= 'Z':
		for _, verb := range httpBegins {
			if bytes.HasPrefix(b, verb) {
				return ProtocolHTTP
			}
		}
	}
	return ProtocolUnknown
}

var httpBegins = [][]byte{
	[]byte("GET "), []byte("POST "), []byte("PUT "), []byte("HEAD "), []byte("DELETE "), []byte("OPTIONS "),
	[]byte("PATCH "), []byte("CONNECT "), []byte("TRACE "), []byte("HTTP/"), []byte("PRI * HTTP/2"),
}

// hold keeps an event for later. Bytes over the limit are forgotten from the front.
func (p *probe) hold(c *conn, e event, b []byte) {
	if e.kind == chunkEvent {
		if p.buf != nil && int64(len(p.buf.B)+len(b)) > c.d.limits.Detect {
			p.forget(c)
		}
		e.n = int64(len(b))
		if p.buf != nil {
			e.at = len(p.buf.B)
		}
		buf, ok := c.d.pool.Append(p.buf, b)
		p.buf = buf
		if !ok {
			p.forget(c)
			p.from[e.dir] = e.off + e.n
			return
		}
	}
	p.events = append(p.events, e)
}

// forget drops all that is held.
func (p *probe) forget(c *conn) {
	for _, e := range p.events {
		if e.kind == chunkEvent {
			p.from[e.dir] = max(p.from[e.dir], e.off+e.n)
		} else if e.kind == gapEvent {
			p.from[e.dir] = max(p.from[e.dir], e.off+max(e.n, 0))
		}
	}
	p.events = p.events[:0]
	c.d.pool.Put(p.buf)
	p.buf = nil
}

func (p *probe) release(c *conn) {
	c.d.pool.Put(p.buf)
	for i := range p.sides {
		p.sides[i].Release()
	}
	p.orphans.Release()
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
	a, b := c.d.facts.BrokerPort(src.Port), c.d.facts.BrokerPort(dst.Port)
	switch {
	case t.SawSYN || t.SawSYNACK:
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

// doubtful reports whether what looks like requests may be responses as well.
func (s *suspect) doubtful() bool {
	return s.key == produceKey && !(s.same && s.whole+s.chain >= 2)
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
	if sure && c.evident(client, known) {
		c.speak(client)
		return
	}
	for i := range p.sides {
		if p.sides[i].begun {
			p.sides[i].Finish(c.packet, c.time)
		}
	}
	if p.orphans.begun {
		p.orphans.Finish(c.packet, c.time)
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
	return known && (c.likely(b) || gssapiToken(b, sizeOf(b))) || c.answered(client)
}

// likely reports whether b begins with a request: its header is sane, and it decodes where it is
// whole, or else the client says its name.
func (c *conn) likely(b []byte) bool {
	if len(b) < clientOff || c.d.loose(b) != frame.Strong {
		return false
	}
	if total := 4 + sizeOf(b); total <= len(b) {
		return c.d.wholeRequest(b[:total]) != frame.No
	}
	return len(b) > clientOff+2 && int16At(b, clientOff) > 0
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
	if len(resp) < 8 || sizeOf(resp) < 4 || !c.likely(req) || int32At(resp, respCorrOff) != int32At(req, corrOff) {
		return false
	}
	if total := 4 + sizeOf(resp); total <= len(resp) {
		return c.d.wholeResponse(resp[:total], int16At(req, keyOff), int16At(req, versionOff)) != frame.No
	}
	return len(resp) == firstBytes && int16At(req, clientOff) > 0
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
	if _, sure, known := c.direction(); sure && !p.begun[client] {
		if !p.orphans.begun {
			o := &p.orphans
			o.begun, o.c = true, c
			l := c.d.limits.Frame
			if known {
				l.Chain = 2
			}
			o.Init(o, o, c.d.pool, l, e.off, frame.Search)
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

// begin prepares for the stream of the client's direction.
func (s *suspect) begin(c *conn, client reassembly.Dir, off int64) {
	s.begun, s.c = true, c
	start := frame.Search
	if c.atStart(client) {
		start = frame.Verify
	}
	s.Init(s, s, c.d.pool, c.d.limits.Frame, off, start)
}

// found reports whether requests were found beyond doubt.
func (s *suspect) found() bool { return s.whole > 0 || s.chain > 1 }

// refuted reports whether the stream's first frame is there and is no request.
func (s *suspect) refuted(first []byte) bool {
	if s.found() || len(first) < 4+sizeOf(first) {
		return false
	}
	return s.c.d.wholeRequest(first[:4+sizeOf(first)]) == frame.No
}

// Size implements frame.Judge.
func (s *suspect) Size(n int32) bool { return n >= minRequest }

// Header implements frame.Judge.
func (s *suspect) Header(_, b []byte) frame.Verdict { return s.c.d.request(b) }

// Whole implements frame.Judge.
func (s *suspect) Whole(b []byte) frame.Verdict { return s.c.d.wholeRequest(b) }

// Skip implements frame.Sink.
func (s *suspect) Skip(frame.Skip) {}

// Frame implements frame.Sink.
func (s *suspect) Frame(f *frame.Frame) {
	if len(f.Bytes) < clientOff || s.c.d.request(f.Bytes) == frame.No {
		return
	}
	key, version := int16At(f.Bytes, keyOff), int16At(f.Bytes, versionOff)
	if s.whole+s.chain == 0 {
		s.key, s.vers, s.same = key, version, true
	} else if key != s.key || version != s.vers {
		s.same = false
		if key != produceKey {
			s.key = key
		}
	}
	if f.Whole() && s.c.d.wholeRequest(f.Bytes) == frame.Strong {
		s.whole++
	} else {
		s.chain++
	}
}

// Size implements frame.Judge.
func (o *orphans) Size(n int32) bool { return n >= 4 }

// Header implements frame.Judge.
func (o *orphans) Header(prev, b []byte) frame.Verdict {
	if len(b) < 4 {
		return frame.More
	}
	if int32At(b, 0) < 4 {
		return frame.No
	}
	if len(b) < 8 {
		return frame.More
	}
	return orphanHeader(prev, b)
}

// Whole implements frame.Judge.
func (o *orphans) Whole([]byte) frame.Verdict { return frame.Weak }

// Skip implements frame.Sink.
func (o *orphans) Skip(frame.Skip) {}

// Frame implements frame.Sink.
func (o *orphans) Frame(*frame.Frame) { o.found++ }

// speak makes the connection a Kafka one and gives it all that was held.
func (c *conn) speak(client reassembly.Dir) {
	p := c.probe
	d := c.d
	answered := c.answered(client)
	c.Protocol, c.phase, c.Broker = ProtocolKafka, speaking, client.Other()
	c.probe = nil
	if port := c.brokerPort(); port != 0 {
		d.facts.learnPort(port)
	}
	s := &session{}
	c.session = s
	s.flight.Max = d.limits.InFlight
	s.requests.c, s.responses.c = c, c
	s.responsesOnly = !p.begun[client]
	for _, dir := range []reassembly.Dir{client, client.Other()} {
		c.start(p, dir, answered)
	}
	packet, time := c.packet, c.time
	for _, e := range p.events {
		c.packet, c.time = e.packet, e.time
		switch e.kind {
		case chunkEvent:
			c.chunk(e.dir, e.off, p.buf.B[e.at:e.at+int(e.n)], e.packet, e.time)
		case gapEvent:
			c.gap(e.dir, reassembly.Gap{Off: e.off, Len: e.n, Reason: e.reason, Packet: e.packet, Time: e.time})
		case finishEvent:
			c.finish(e.dir, e.packet, e.time)
		}
	}
	c.packet, c.time = packet, time
	p.release(c)
}

// start prepares the splitter of direction dir for what was held. A direction that is seen from
// its middle is searched, unless its first bytes were part of the evidence.
func (c *conn) start(p *probe, dir reassembly.Dir, answered bool) {
	l := c.d.limits.Frame
	start := frame.Search
	first := p.first[dir]
	switch {
	case p.from[dir] > 0:
		c.skipped(dir, frame.Skip{Len: p.from[dir], Why: frame.OverLimit, First: c.TCP.FirstPacket, Last: c.packet, Time: c.time})
	case c.TCP.SawSYN || c.TCP.SawSYNACK || answered:
		start = frame.InStep
	case dir == c.Broker && p.earlierResponse(dir), dir != c.Broker && gssapiToken(first, sizeOf(first)):
		start = frame.InStep
	}
	if dir == c.Broker {
		if !c.responsesOnly {
			l.Chain = 1 << 30 // a response must be to a request in flight at last
		}
		c.responses.Init(&c.responses, &c.responses, c.d.pool, l, p.from[dir], start)
		return
	}
	c.requests.Init(&c.requests, &c.requests, c.d.pool, l, p.from[dir], start)
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
