package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/pair"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/reassembly"
)

// Dissector finds the Kafka exchanges of TCP connections. It serves one goroutine.
type Dissector struct {
	layouts
	opt    Options
	limits Limits
	// As limits.Frame: for the responses to requests that are seen, and for those of a broker whose
	// port is known to be one.
	answering, knownBroker frame.Limits

	handler Handler
	skips   SkipHandler // nil where the handler does not want them
	pool    *frame.Pool
	view    *view
	ports   map[uint16]bool
	brokers map[reassembly.Endpoint]bool
	names   nameSink
	// What is kept for exchanges and connections to come.
	exchanges frame.Spares[*exchange]
	probes    frame.Spares[*probe]
	conns     frame.Spares[*conn]
	sessions  frame.Spares[*session]
	flights   pair.Shared[*exchange]
	silent    Connection // one without bytes, for the handler: there may be many
	number    int64
	gathered  gathered

	packet, time int64 // of the event that is handled
	read         int64 // a sum of what Expect read last, lest the compiler leave the reading out
}

var _ reassembly.Handler = (*Dissector)(nil)

// SkipHandler is implemented by a Handler that wants every run of captured bytes that is part
// of no frame, also those that a Connection does not list any more.
type SkipHandler interface {
	Skipped(*Connection, DirSkip)
}

// New returns a Dissector that hands what it finds to opt.Handler.
func New(opt Options) *Dissector {
	if opt.Catalogue == nil {
		opt.Catalogue = schema.Default()
	}
	d := &Dissector{opt: opt, limits: opt.Limits.withDefaults(), handler: opt.Handler,
		silent: Connection{Protocol: ProtocolEmpty, Broker: reassembly.Backward}}
	d.answering, d.knownBroker = d.limits.Frame, d.limits.Frame
	d.answering.Chain = 1 << 30 // a response must be to a request in flight at last
	d.knownBroker.Chain = 2
	d.skips, _ = opt.Handler.(SkipHandler)
	d.catalogue = opt.Catalogue
	if opt.Buffers == nil {
		opt.Buffers = frame.NewBudget(0)
	}
	d.pool = frame.NewPool(opt.Buffers)
	if opt.Facts == nil {
		opt.Facts = &Facts{}
	}
	d.view = opt.Facts.join()
	d.ports = make(map[uint16]bool, len(opt.Ports))
	for _, p := range opt.Ports {
		d.ports[p] = true
	}
	d.brokers = make(map[reassembly.Endpoint]bool, len(opt.Brokers))
	for _, b := range opt.Brokers {
		d.brokers[reassembly.EndpointFrom(b)] = true
	}
	return d
}

// Facts returns what was learned; with Options.Facts a second pass knows it from the start.
func (d *Dissector) Facts() *Facts { return d.view.facts }

// At says where in the capture d stands: what follows happens at that place, and d has shared all
// facts of places before it. Facts of places before horizon, which is at most place and never
// goes back, are known; they are waited for where another Dissector has not come so far. A
// Dissector that is never told is alone, and knows what it has learned at once.
func (d *Dissector) At(place, horizon int64) {
	if horizon != d.view.horizon {
		d.HandOver()
	}
	d.view.at(place, horizon)
}

// Passed says that nothing will happen at places before place any more. With several Dissectors
// it must be called now and then, also on one that has nothing to do, and at the end with
// math.MaxInt64.
func (d *Dissector) Passed(place int64) {
	d.HandOver()
	d.view.pass(place)
}

// Await returns once all other Dissectors that share d's Facts have passed d's place.
func (d *Dissector) Await() { d.view.await() }

// named reports whether the user named e as a broker.
func (d *Dissector) named(e reassembly.Endpoint) bool { return d.ports[e.Port] || d.brokers[e] }

// restricted reports whether the user named any broker.
func (d *Dissector) restricted() bool { return len(d.ports)+len(d.brokers) > 0 }

// Open implements reassembly.Handler. Most of what may be opened, such as by a port scan, never
// says anything; so nothing is kept of a connection before its first bytes.
func (d *Dissector) Open(*reassembly.Conn) {}

// Chunk implements reassembly.Handler.
func (d *Dissector) Chunk(t *reassembly.Conn, dir reassembly.Dir, ch reassembly.Chunk) {
	c := d.conn(t)
	if c.phase == ignored {
		return
	}
	if d.opt.Recover {
		defer c.recovered(ch.Packet, true)
	}
	d.packet, d.time = ch.Packet, ch.Time
	if c.phase == detecting {
		t.Own = false // what was kept may be handed on
		c.detect(event{dir: dir, off: ch.Off, packet: ch.Packet, time: ch.Time}, ch.Bytes)
		return
	}
	c.chunk(dir, ch.Off, ch.Bytes, ch.Packet, ch.Time)
}

// Gap implements reassembly.Handler.
func (d *Dissector) Gap(t *reassembly.Conn, dir reassembly.Dir, g reassembly.Gap) {
	c := d.conn(t)
	if len(c.Gaps) < d.limits.Listed {
		c.Gaps = append(c.Gaps, DirGap{dir, g})
	}
	if g.Reason == reassembly.BufferLimit {
		c.Counts[dir].LimitedElse += max(g.Len, 0)
	}
	if c.phase == ignored {
		return
	}
	if d.opt.Recover {
		defer c.recovered(g.Packet, true)
	}
	d.packet, d.time = g.Packet, g.Time
	if c.phase == detecting {
		c.detect(event{kind: gapEvent, dir: dir, off: g.Off, n: g.Len, reason: g.Reason, packet: g.Packet, time: g.Time}, nil)
		return
	}
	c.gap(dir, g)
}

// Note implements reassembly.Handler.
func (d *Dissector) Note(t *reassembly.Conn, dir reassembly.Dir, n reassembly.Note) {
	switch n.Kind {
	case reassembly.OverlapConflict:
		d.conn(t).overlap(dir, n)
	case reassembly.OutOfWindow:
		d.conn(t).stray(dir, n)
	}
}

// Finish implements reassembly.Handler.
func (d *Dissector) Finish(t *reassembly.Conn, dir reassembly.Dir, packet, time int64) {
	c := d.conn(t)
	if c.phase == ignored {
		return
	}
	if d.opt.Recover {
		defer c.recovered(packet, true)
	}
	d.packet, d.time = packet, time
	if c.phase == detecting {
		c.detect(event{kind: finishEvent, dir: dir, packet: packet, time: time}, nil)
		return
	}
	c.finish(dir, packet, time)
}

// Close implements reassembly.Handler.
func (d *Dissector) Close(t *reassembly.Conn, why reassembly.End, packet, time int64) {
	d.HandOver()
	if t.User == nil && t.TLS == nil && t.Dirs[0].Bytes+t.Dirs[1].Bytes == 0 { // nothing was ever said
		d.silent.TCP = t
		d.handler.Closed(&d.silent, why)
		return
	}
	c := d.conn(t)
	c.close(why, packet, time)
	t.User = nil
	d.handler.Closed(&c.Connection, why)
	d.retire(c)
}
