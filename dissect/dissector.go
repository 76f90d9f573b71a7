package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/reassembly"
)

// Dissector finds the Kafka exchanges of TCP connections. It serves one goroutine.
type Dissector struct {
	layouts
	opt     Options
	limits  Limits
	handler Handler
	skips   SkipHandler // nil where the handler does not want them
	pool    *frame.Pool
	facts   *Facts
	ports   map[uint16]bool
	brokers map[reassembly.Endpoint]bool
	names   nameSink
	free    []*exchange
	number  int64
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
	d := &Dissector{opt: opt, limits: opt.Limits.withDefaults(), handler: opt.Handler, facts: opt.Facts}
	d.skips, _ = opt.Handler.(SkipHandler)
	d.catalogue = opt.Catalogue
	d.pool = frame.NewPool(d.limits.Buffers)
	if d.facts == nil {
		d.facts = &Facts{}
	}
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
func (d *Dissector) Facts() *Facts { return d.facts }

// named reports whether the user named e as a broker.
func (d *Dissector) named(e reassembly.Endpoint) bool { return d.ports[e.Port] || d.brokers[e] }

// restricted reports whether the user named any broker.
func (d *Dissector) restricted() bool { return len(d.ports)+len(d.brokers) > 0 }

// Open implements reassembly.Handler.
func (d *Dissector) Open(t *reassembly.Conn) {
	c := &conn{d: d}
	c.TCP, c.Broker = t, reassembly.Backward
	t.User = c
}

// Chunk implements reassembly.Handler.
func (d *Dissector) Chunk(t *reassembly.Conn, dir reassembly.Dir, ch reassembly.Chunk) {
	c := t.User.(*conn)
	if c.phase == ignored {
		return
	}
	if d.opt.Recover {
		defer c.recovered(ch.Packet)
	}
	c.packet, c.time = ch.Packet, ch.Time
	if c.phase == detecting {
		c.detect(event{dir: dir, off: ch.Off, packet: ch.Packet, time: ch.Time}, ch.Bytes)
		return
	}
	c.chunk(dir, ch.Off, ch.Bytes, ch.Packet, ch.Time)
}

// Gap implements reassembly.Handler.
func (d *Dissector) Gap(t *reassembly.Conn, dir reassembly.Dir, g reassembly.Gap) {
	c := t.User.(*conn)
	if len(c.Gaps) < d.limits.Listed {
		c.Gaps = append(c.Gaps, DirGap{dir, g})
	}
	if c.phase == ignored {
		return
	}
	if d.opt.Recover {
		defer c.recovered(g.Packet)
	}
	c.packet, c.time = g.Packet, g.Time
	if c.phase == detecting {
		c.detect(event{kind: gapEvent, dir: dir, off: g.Off, n: g.Len, reason: g.Reason, packet: g.Packet, time: g.Time}, nil)
		return
	}
	c.gap(dir, g)
}

// Note implements reassembly.Handler.
func (d *Dissector) Note(t *reassembly.Conn, dir reassembly.Dir, n reassembly.Note) {
	if n.Kind == reassembly.OverlapConflict {
		t.User.(*conn).overlap(dir, n)
	}
}

// Finish implements reassembly.Handler.
func (d *Dissector) Finish(t *reassembly.Conn, dir reassembly.Dir, packet, time int64) {
	c := t.User.(*conn)
	if c.phase == ignored {
		return
	}
	if d.opt.Recover {
		defer c.recovered(packet)
	}
	c.packet, c.time = packet, time
	if c.phase == detecting {
		c.detect(event{kind: finishEvent, dir: dir, packet: packet, time: time}, nil)
		return
	}
	c.finish(dir, packet, time)
}

// Close implements reassembly.Handler.
func (d *Dissector) Close(t *reassembly.Conn, why reassembly.End, packet, time int64) {
	c := t.User.(*conn)
	c.close(why, packet, time)
	t.User = nil
	d.handler.Closed(&c.Connection, why)
}
