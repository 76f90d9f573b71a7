package dissect

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMemoryOfConnections holds what is kept of each connection to few lines of the cache: with
// many connections, fetching them is most of the work.
func TestMemoryOfConnections(t *testing.T) {
	assert.LessOrEqual(t, reflect.TypeFor[session]().Size(), uintptr(6*64))
	assert.LessOrEqual(t, reflect.TypeFor[conn]().Size(), uintptr(6*64))
	// What each event needs.
	assert.Less(t, offsetOf[conn]("Connection")+offsetOf[Connection]("Software"), uintptr(4*64))
	// What the end of a connection needs.
	assert.Less(t, offsetOf[conn]("finished"), uintptr(64))
	assert.Less(t, offsetOf[conn]("Connection")+offsetOf[Connection]("Faults"), uintptr(2*64))
}

func offsetOf[T any](member string) uintptr {
	f, _ := reflect.TypeFor[T]().FieldByName(member)
	return f.Offset
}
