package capture

import "time"

const (
	fragmentUnit  = 8 // bytes that offsets count in
	maxDatagram   = 65535
	datagramBlock = 8 << 10 // first size of a datagram's buffer
)

// fragmentKey tells datagrams apart (RFC 791, RFC 8200). Scope keeps equal addresses behind
// different tags and tunnels apart.
type fragmentKey struct {
	src, dst [16]byte
	scope    uint64
	id       uint32
	proto    uint8 // IPv4 only
	six      bool
}

// fragment is what a header says of its fragment.
type fragment struct {
	off   int
	last  bool
	proto uint8
}

// datagram is one that waits for fragments.
type datagram struct {
	key    fragmentKey
	number int64  // in the order of their first fragments
	born   int64  // time of the first fragment
	proto  uint8  // as the fragment at offset 0 has it
	block  *Block // the bytes, at their place
	seen   [(maxDatagram/fragmentUnit + 64) / 64]uint64
	units  int // bits set in seen
	total  int // length, -1 until the last fragment came
	top    int // end of the furthest fragment
	whole  int // bytes before the first that was sent but not captured

	older, newer *datagram
}

// defragmenter puts IP datagrams together. Fragments may come in any order; where they overlap,
// the first copy wins. What it holds is bounded in number, bytes and time, the oldest going first.
type defragmenter struct {
	limits     Limits
	waiting    map[fragmentKey]*datagram
	oldest     *datagram
	newest     *datagram
	free       []*datagram
	pool       blockPool
	bytes      int
	done       *Block // of the datagram given last
	incomplete int64  // datagrams whose rest did not come in time
	crowded    int64  // those given up by the other limits
	begun      int64
}

func (f *defragmenter) init(limits Limits) {
	f.limits = limits
	f.waiting = make(map[fragmentKey]*datagram)
	f.pool = blockPool{size: datagramBlock, keep: 64}
}

// recycle gives back the buffer of the datagram given last.
func (f *defragmenter) recycle() {
	if f.done != nil {
		f.done.Release()
		f.done = nil
	}
}

// fragment takes in the fragment at c. Where it completes its datagram, c goes on in that.
func (d *Decoder) fragment(c *cursor, p *Packet, key fragmentKey, fr fragment) (layer, Verdict) {
	f := &d.frags
	if odd := c.sent() % fragmentUnit; odd != 0 && !fr.last {
		if key.six {
			return layerNone, Malformed
		}
		c.limit(c.sent() - odd) // as receivers do for IPv4
	}
	end := fr.off + c.sent()
	if c.sent() == 0 || end > maxDatagram {
		return layerNone, Malformed
	}
	f.expire(c.time)
	g := f.waiting[key]
	if g == nil {
		g = f.begin(key, c.time)
	}
	if !f.accept(g, c, fr, end) {
		return layerNone, FragmentDropped
	}
	if d.trace != nil {
		d.trace(Step{Layer: LayerFragment, Bytes: c.b, Offset: fr.off, Datagram: g.number})
	}
	if g.total < 0 || g.units < unitsOf(g.total) {
		return layerNone, FragmentWaiting
	}
	have := min(g.total, g.whole)
	c.b, c.cut, c.proto, c.frame = g.block.data[:have:have], g.total-have, g.proto, maxDatagram
	f.recycle()
	f.done, p.Block = g.block, g.block
	f.bytes -= len(g.block.data)
	g.block = nil
	f.remove(g)
	return layerTransport, 0
}

func unitsOf(n int) int { return (n + fragmentUnit - 1) / fragmentUnit }

// accept stores what is new in a fragment that ends at end, and reports whether anything was.
func (f *defragmenter) accept(g *datagram, c *cursor, fr fragment, end int) bool {
	if g.total >= 0 && (end > g.total || (fr.last && end != g.total)) {
		return false
	}
	if fr.last && g.top > end {
		return false
	}
	if !f.grow(g, fr.off+len(c.b)) {
		return false
	}
	fresh := 0
	first := fr.off / fragmentUnit
	for u := first; u < unitsOf(end); u++ {
		if g.seen[u/64]>>(u%64)&1 != 0 {
			continue
		}
		g.seen[u/64] |= 1 << (u % 64)
		fresh++
		from := (u - first) * fragmentUnit
		if from < len(c.b) {
			copy(g.block.data[u*fragmentUnit:], c.b[from:min(from+fragmentUnit, len(c.b))])
		}
	}
	if fresh == 0 {
		return false
	}
	g.units += fresh
	g.top = max(g.top, end)
	if fr.last {
		g.total = end
	}
	if fr.off == 0 {
		g.proto = fr.proto
	}
	if c.cut > 0 {
		g.whole = min(g.whole, fr.off+len(c.b))
	}
	return true
}

// begin makes a datagram, in the place of the oldest where there are too many.
func (f *defragmenter) begin(key fragmentKey, now int64) *datagram {
	for len(f.waiting) >= f.limits.Datagrams {
		f.crowd(f.oldest)
	}
	var g *datagram
	if n := len(f.free); n > 0 {
		g = f.free[n-1]
		f.free = f.free[:n-1]
	} else {
		g = new(datagram)
	}
	f.begun++
	*g = datagram{key: key, number: f.begun, born: now, total: -1, whole: maxDatagram, older: f.newest}
	if f.newest != nil {
		f.newest.newer = g
	} else {
		f.oldest = g
	}
	f.newest = g
	f.waiting[key] = g
	return g
}

// grow makes room for size bytes, and reports false where the limit forbids: then g is given up.
func (f *defragmenter) grow(g *datagram, size int) bool {
	have := 0
	if g.block != nil {
		have = len(g.block.data)
	}
	if size <= have && have > 0 {
		return true
	}
	size = max(size, 2*have, datagramBlock)
	for f.bytes-have+size > f.limits.DatagramBytes {
		victim := f.oldest
		if victim == g {
			victim = g.newer
		}
		if victim == nil {
			f.crowd(g)
			return false
		}
		f.crowd(victim)
	}
	block := f.pool.get(size)
	if g.block != nil {
		copy(block.data, g.block.data)
		g.block.Release()
	}
	f.bytes += len(block.data) - have
	g.block = block
	return true
}

// expire gives up what has waited too long, in capture time.
func (f *defragmenter) expire(now int64) {
	for f.oldest != nil && time.Duration(now-f.oldest.born) > f.limits.DatagramTimeout {
		f.incomplete++
		f.remove(f.oldest)
	}
}

// crowd gives g up, for which there is no room.
func (f *defragmenter) crowd(g *datagram) {
	f.crowded++
	f.remove(g)
}

// remove forgets g and keeps its memory for another.
func (f *defragmenter) remove(g *datagram) {
	delete(f.waiting, g.key)
	if g.older != nil {
		g.older.newer = g.newer
	} else {
		f.oldest = g.newer
	}
	if g.newer != nil {
		g.newer.older = g.older
	} else {
		f.newest = g.older
	}
	if g.block != nil {
		f.bytes -= len(g.block.data)
		g.block.Release()
	}
	g.block, g.older, g.newer = nil, nil, nil
	f.free = append(f.free, g)
}
