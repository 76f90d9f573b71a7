package cli

import (
	"crypto/sha256"
	"hash"

	"github.com/kdissect/kdissect/reassembly"
)

// digests are the running digests of a connection's directions.
type digests [2]hash.Hash

// digester computes the digests of all connections on the way to the next handler.
type digester struct {
	reassembly.Handler
	open map[int64]*digests // by the connection's number
}

// newDigester returns a digester in front of next.
func newDigester(next reassembly.Handler) *digester {
	return &digester{Handler: next, open: map[int64]*digests{}}
}

// Open implements reassembly.Handler.
func (d *digester) Open(c *reassembly.Conn) {
	d.open[c.ID] = &digests{sha256.New(), sha256.New()}
	d.Handler.Open(c)
}

// Chunk implements reassembly.Handler.
func (d *digester) Chunk(c *reassembly.Conn, dir reassembly.Dir, ch reassembly.Chunk) {
	d.open[c.ID][dir].Write(ch.Bytes)
	d.Handler.Chunk(c, dir, ch)
}

// take returns the digests of a connection that was closed, and forgets them.
func (d *digester) take(id int64) *digests {
	sums := d.open[id]
	delete(d.open, id)
	return sums
}
