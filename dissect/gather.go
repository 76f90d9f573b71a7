package dissect

import "github.com/kdissect/kdissect/dissect/frame"

// gathered are exchanges that are complete, and wait to be handed over together: what finds them and
// what shows them are each more code than the innermost cache of a processor holds, so that one
// after the other for each exchange is slower by a tenth.
type gathered struct {
	list  []waiting
	bytes int // of frames
}

// waiting is an exchange that waits.
type waiting struct {
	c      *conn
	x      *exchange
	packet int64
}

// Few enough that what they hold stays in a cache, too.
const (
	gatherMost  = 32
	gatherBytes = 64 << 10
)

// gather hands x over, which may wait for others where its bytes live on and nothing was learned
// from it that it alone may know.
func (d *Dissector) gather(c *conn, x *exchange) {
	g := &d.gathered
	g.list = append(g.list, waiting{c, x, d.packet})
	g.bytes += len(x.request.Bytes) + len(x.response.Bytes)
	if !x.own || len(g.list) >= gatherMost || g.bytes > gatherBytes || len(d.view.current) > 0 {
		d.HandOver()
	}
}

// owns reports whether the bytes of f are of a segment that lives until HandOver.
func (c *conn) owns(f *frame.Frame) bool { return f.InChunk && c.TCP.Own && c.d.opt.Gather }

// HandOver gives the handler all exchanges that are complete, before anything changes that shows in
// them. With Options.Gather it must be called before segments that were taken end to live; Passed
// calls it.
func (d *Dissector) HandOver() {
	g := &d.gathered
	if len(g.list) == 0 {
		return
	}
	for i := range g.list {
		w := &g.list[i]
		w.c.hand(w.x, w.packet)
		d.view.shown()
		d.recycle(w.x)
	}
	clear(g.list)
	g.list, g.bytes = g.list[:0], 0
}

// hand gives x, which was complete with a packet, to the handler, which decodes and shows it.
func (c *conn) hand(x *exchange, packet int64) {
	if c.d.opt.Recover {
		defer c.recovered(packet, false)
	}
	c.d.handler.Exchange(&x.Exchange)
}
