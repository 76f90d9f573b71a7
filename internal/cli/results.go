package cli

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/output"
)

// resultKind is what a worker found.
type resultKind uint8

const (
	exchange resultKind = iota // an exchange, shown or not
	closed                     // a connection's end
	remark                     // a line for stderr about a connection
)

// result is one thing that a worker found, without what only all workers together can tell.
type result struct {
	kind   resultKind
	shown  bool       // an exchange that was selected
	place  int64      // where in the capture
	first  int64      // first packet of the connection: its order among those of a place
	id     int64      // of the connection, within the worker
	issues issueCount // found by the worker
	late   issueCount // found when all was brought together

	block            int      // of text, where its text ends
	before           int      // blocks before that one, the first of which its text begins in
	from, to         int      // its text, by these blocks
	long             [][]byte // text in front of what is taken, once that is known
	slotFrom, slotTo int      // what belongs in there, in results.slots
	sentFrom, sentTo int      // batches of the exchange, in results.sent
	connection       *connection
}

// slot is a place in a block of text.
type slot struct {
	output.Slot
	block int
}

// results are what one worker found in a batch.
type results struct {
	lane  *lane
	list  []result
	text  []byte   // the present block
	full  [][]byte // the blocks before it
	slots []slot
	sent  []output.SentBatch
	// opened are the places where connections were opened: one after the other they make up those
	// of the lane, of which seen are listed.
	opened []int64
	seen   int64
	ended  []int64 // ids of connections

	room  *textRoom // that the full blocks take from
	taken int64
}

const (
	// keptText is how much memory for text is kept from batch to batch.
	keptText = 4 << 20
	// blockText is how long a block of text is, about.
	blockText = 1 << 20
)

// reset makes r ready for the next batch.
func (r *results) reset() {
	r.list, r.text, r.slots, r.sent = r.list[:0], r.text[:0], r.slots[:0], r.sent[:0]
	r.opened, r.ended = r.opened[:0], r.ended[:0]
	if cap(r.text) > keptText {
		r.text = nil
	}
}

// release lets go of the full blocks once all is written.
func (r *results) release() {
	if r.room != nil {
		r.room.used.Add(-r.taken)
	}
	clear(r.full)
	r.full, r.taken, r.room = r.full[:0], 0, nil
}

// seal ends a block, of which n bytes are done, and returns the one to go on with.
func (r *results) seal(b []byte, n int, room *textRoom) []byte {
	next := append(make([]byte, 0, max(blockText*5/4, len(b)-n)), b[n:]...)
	r.full = append(r.full, b[:n])
	r.room = room
	r.taken += int64(n)
	room.used.Add(int64(n))
	return next
}

// add adds what was found at the lane's place about a connection.
func (r *results) add(v result) {
	r.open()
	v.place = r.lane.place
	v.block = len(r.full)
	r.list = append(r.list, v)
}

// exchange adds an exchange, for the caller to complete.
func (r *results) exchange(x *dissect.Exchange) *result {
	r.open()
	r.list = append(r.list, result{kind: exchange})
	v := &r.list[len(r.list)-1]
	v.place, v.first, v.id = x.Place, x.Conn.TCP.FirstPacket, x.Conn.TCP.ID
	v.block = len(r.full)
	return v
}

// open adds the connections that were opened meanwhile: at most one, by a segment.
func (r *results) open() {
	for n := r.lane.assembler.Opened(); r.seen < n; {
		r.seen++
		r.opened = append(r.opened, r.lane.place)
	}
}

// end says that a connection has ended, about which nothing further is found.
func (r *results) end(id int64) {
	if !r.lane.ended { // then all have
		r.ended = append(r.ended, id)
	}
}

// blockOf returns block i.
func (r *results) blockOf(i int) []byte {
	if i < len(r.full) {
		return r.full[i]
	}
	return r.text
}
