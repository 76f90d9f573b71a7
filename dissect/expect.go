package dissect

import "github.com/kdissect/kdissect/reassembly"

var _ reassembly.Expecter = (*Dissector)(nil)

// Expect implements reassembly.Expecter. It reads a member of each line of the cache that the next
// chunk of one of the connections needs.
func (d *Dissector) Expect(ts []*reassembly.Conn) {
	var read int64
	for _, t := range ts {
		if c, ok := t.User.(*conn); ok && c.session != nil {
			read += c.Exchanges + int64(c.SASL.State) + c.Counts[1].Frames
		}
	}
	for _, t := range ts { // once the first are on their way
		if c, ok := t.User.(*conn); ok && c.session != nil {
			s := c.session
			read += int64(s.lastID) + s.requests.Offset() + s.responses.Offset() + int64(s.flight.Len())
			if s.requests.c != s.responses.c { // they never differ
				read++
			}
		}
	}
	d.read = read
}
