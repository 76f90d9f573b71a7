package tls

import (
	"github.com/kdissect/kdissect/reassembly"
)

// Options configure a Decryptor.
type Options struct {
	Keys   *Keys // nil holds none
	Limits Limits
	// Missing is called when a secret was looked for in vain, before one more look: to read what
	// a growing key log has more. Nil does nothing.
	Missing func()
	// Report is called at the end of each TLS connection with its TLS set; nil does nothing.
	Report func(*reassembly.Conn)

	// Sessions is shared with the Decryptors of other connections of the capture; nil is not. Then
	// Where tells the place in the capture where a call is made, and Await returns once all others
	// have passed it: a secret is known from the place on where it was learned.
	Sessions *Sessions
	Where    func() int64
	Await    func()
}

// Decryptor hands connections on to the next Handler, decrypted where they speak TLS. It serves
// one goroutine.
type Decryptor struct {
	next     reassembly.Handler
	keys     *Keys
	missing  func()
	report   func(*reassembly.Conn)
	limits   Limits
	held     int // bytes, of all connections
	sessions *Sessions
	where    func() int64
	await    func()
	plain    *layer   // of all connections that are not TLS
	free     []*layer // of connections that have been told
}

var _ reassembly.Handler = (*Decryptor)(nil)

// New returns a Decryptor in front of next.
func New(next reassembly.Handler, opt Options) *Decryptor {
	d := &Decryptor{next: next, plain: &layer{passes: true},
		keys: opt.Keys, missing: opt.Missing, report: opt.Report, limits: opt.Limits.withDefaults(),
		sessions: opt.Sessions, where: opt.Where, await: opt.Await}
	if d.keys == nil {
		d.keys = NewKeys(1)
	}
	if d.sessions == nil {
		d.sessions = NewSessions(d.limits.Sessions)
	}
	if d.where == nil { // each call is a place of its own
		var calls int64
		d.where = func() int64 { calls++; return calls }
	}
	return d
}

// layer is what the Decryptor keeps of a connection, nothing where nothing has happened: nothing
// but queued until there are bytes to tell what it speaks.
type layer struct {
	passes  bool // it is not TLS
	session *session
	queued  []event
	first   [2][]byte
	gone    [2]bool // a gap comes before its first bytes
}

// eventKind is what happens to a direction.
type eventKind uint8

const (
	chunkEvent eventKind = iota
	gapEvent
	finishEvent
)

// event is a call of reassembly.Handler.
type event struct {
	kind         eventKind
	dir          reassembly.Dir
	reason       reassembly.Reason
	off, n       int64 // of a gap; n is the length of a chunk, too
	b            []byte
	packet, time int64
}

// maxQueued bounds the events of a connection before its first bytes.
const maxQueued = 64

// maxFree bounds the layers kept for connections to come.
const maxFree = 64

// layer returns that of t.
func (d *Decryptor) layer(t *reassembly.Conn) *layer {
	if l, ok := t.Layer.(*layer); ok {
		return l
	}
	var l *layer
	if n := len(d.free); n > 0 {
		l = d.free[n-1]
		d.free = d.free[:n-1]
	} else {
		l = &layer{}
	}
	t.Layer = l
	return l
}

// Open implements reassembly.Handler.
func (d *Decryptor) Open(t *reassembly.Conn) { d.next.Open(t) }

// Expect implements reassembly.Expecter.
func (d *Decryptor) Expect(ts []*reassembly.Conn) {
	if e, ok := d.next.(reassembly.Expecter); ok {
		e.Expect(ts)
	}
}

// Chunk implements reassembly.Handler.
func (d *Decryptor) Chunk(t *reassembly.Conn, dir reassembly.Dir, ch reassembly.Chunk) {
	l := d.layer(t)
	if l.passes {
		d.next.Chunk(t, dir, ch)
		return
	}
	d.take(t, l, event{kind: chunkEvent, dir: dir, off: ch.Off, n: int64(len(ch.Bytes)), b: ch.Bytes, packet: ch.Packet, time: ch.Time})
}

// Gap implements reassembly.Handler.
func (d *Decryptor) Gap(t *reassembly.Conn, dir reassembly.Dir, g reassembly.Gap) {
	l := d.layer(t)
	if l.passes {
		d.next.Gap(t, dir, g)
		return
	}
	d.take(t, l, event{kind: gapEvent, dir: dir, reason: g.Reason, off: g.Off, n: g.Len, packet: g.Packet, time: g.Time})
}

// Note implements reassembly.Handler.
func (d *Decryptor) Note(t *reassembly.Conn, dir reassembly.Dir, n reassembly.Note) {
	d.next.Note(t, dir, n)
}

// Finish implements reassembly.Handler.
func (d *Decryptor) Finish(t *reassembly.Conn, dir reassembly.Dir, packet, time int64) {
	l := d.layer(t)
	if l.passes {
		d.next.Finish(t, dir, packet, time)
		return
	}
	d.take(t, l, event{kind: finishEvent, dir: dir, packet: packet, time: time})
}

// Close implements reassembly.Handler.
func (d *Decryptor) Close(t *reassembly.Conn, why reassembly.End, packet, time int64) {
	l, begun := t.Layer.(*layer)
	switch {
	case !begun:
	case l.session != nil:
		l.session.close(packet, time)
		if d.report != nil {
			d.report(t)
		}
	case !l.passes:
		d.pass(t, l)
	}
	t.Layer = nil
	d.next.Close(t, why, packet, time)
}

// take takes an event of a connection that is TLS or may be.
func (d *Decryptor) take(t *reassembly.Conn, l *layer, e event) {
	t.Own = false
	if l.session != nil {
		l.session.take(e)
		return
	}
	switch e.kind {
	case chunkEvent:
		first := l.first[e.dir]
		l.first[e.dir] = append(first, e.b[:min(len(e.b), headerSize-len(first))]...)
	case gapEvent:
		l.gone[e.dir] = l.gone[e.dir] || len(l.first[e.dir]) == 0
	}
	l.queued = append(l.queued, e)
	verdict := l.verdict()
	switch {
	case verdict == yes:
		l.session = newSession(d, t)
		t.TLS = &l.session.info
		queued := l.queued
		l.queued = nil
		for _, e := range queued {
			l.session.take(e)
		}
	case verdict == no || len(l.queued) > maxQueued:
		d.pass(t, l)
	default: // it waits: the bytes are its own from here on
		last := &l.queued[len(l.queued)-1]
		last.b = append([]byte(nil), last.b...)
	}
}

// verdict tells from the first bytes whether it is TLS. Bytes behind a gap may be the middle of
// a record.
func (l *layer) verdict() answer {
	against := 0
	for d, first := range l.first {
		switch looksLikeTLS(first) {
		case yes:
			return yes
		case no:
			if against++; !l.gone[d] || against == 2 {
				return no
			}
		}
	}
	return undecided
}

// pass hands on what was queued, and all that follows as it comes.
func (d *Decryptor) pass(t *reassembly.Conn, l *layer) {
	t.Layer = d.plain
	for _, e := range l.queued {
		switch e.kind {
		case chunkEvent:
			d.next.Chunk(t, e.dir, reassembly.Chunk{Off: e.off, Bytes: e.b, Packet: e.packet, Time: e.time})
		case gapEvent:
			d.next.Gap(t, e.dir, reassembly.Gap{Off: e.off, Len: e.n, Reason: e.reason, Packet: e.packet, Time: e.time})
		case finishEvent:
			d.next.Finish(t, e.dir, e.packet, e.time)
		}
	}
	clear(l.queued)
	if len(d.free) < maxFree {
		*l = layer{queued: l.queued[:0], first: [2][]byte{l.first[0][:0], l.first[1][:0]}}
		d.free = append(d.free, l)
	}
}
