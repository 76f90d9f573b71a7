package dissect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Two dissectors may come to wait for each other in the same stretch of a capture, of which
// neither has said yet that it is behind it.
func TestAwaitEachOther(t *testing.T) {
	facts := &Facts{}
	a, b := New(Options{Facts: facts}), New(Options{Facts: facts})
	a.Passed(10)
	b.Passed(10)
	a.At(21, 10)
	b.At(31, 10)
	first, second := make(chan struct{}), make(chan struct{})
	go func() {
		b.Await() // for a, which is before b and goes on
		close(second)
	}()
	go func() {
		a.Await()
		close(first)
	}()
	select {
	case <-first:
	case <-time.After(time.Minute):
		require.Fail(t, "the first waits for the second, which waits for the first")
	}
	a.Passed(40)
	<-second
}
