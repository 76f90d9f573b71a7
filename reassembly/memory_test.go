package reassembly

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMemoryOfConnections holds what is kept of each connection to few lines of the cache: with
// many connections, fetching them is most of the work.
func TestMemoryOfConnections(t *testing.T) {
	c := reflect.TypeFor[conn]()
	assert.Zero(t, c.Size()%64, "whole lines")
	inner, _ := c.FieldByName("Conn")
	rare, _ := inner.Type.FieldByName("ID")
	assert.LessOrEqual(t, inner.Offset+rare.Offset, uintptr(4*64), "what any segment needs")
	assert.LessOrEqual(t, reflect.TypeFor[opening]().Size(), uintptr(96))
}

// TestFresh has memory told of before it is used: for whole connections, and for those that are
// but opened.
func TestFresh(t *testing.T) {
	var told [][2]uintptr
	a := New(Limits{}, deaf{})
	a.Fresh(func(address, size uintptr) { told = append(told, [2]uintptr{address, address + size}) })
	within := func(v any) {
		at := reflect.ValueOf(v).Pointer()
		for _, r := range told {
			if r[0] <= at && at < r[1] {
				return
			}
		}
		assert.Fail(t, "not told of")
	}
	for n := range 3 * slabSize {
		s := Segment{Flow: Flow{Src: Endpoint{Port: uint16(n)}, Dst: Endpoint{Port: 9092}}, Flags: SYN, Packet: int64(n)}
		a.Segment(&s)
		s.Flow.Src.IP[0], s.Flags, s.Payload, s.WireLen = 1, ACK, []byte{1}, 1
		a.Segment(&s)
	}
	within(a.conns.at(1))
	within(a.conns.at(3 * slabSize))
	within(a.opening(1 | early))
	within(a.opening(3*slabSize | early))
}
