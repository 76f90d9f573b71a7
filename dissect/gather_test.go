package dissect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// order keeps the order in which a Handler is told of exchanges, skips and ends.
type order struct{ got []string }

func (o *order) Exchange(x *dissect.Exchange) {
	o.got = append(o.got, fmt.Sprint("exchange ", x.Request.CorrelationID))
}

func (o *order) Skipped(*dissect.Connection, dissect.DirSkip) { o.got = append(o.got, "skip") }

func (o *order) Closed(*dissect.Connection, reassembly.End) { o.got = append(o.got, "end") }

// TestGatheredExchangesStayInOrder has exchanges wait, and then something that comes behind them.
func TestGatheredExchangesStayInOrder(t *testing.T) {
	for _, gather := range []bool{false, true} {
		o := &order{}
		s := &stream{d: dissect.New(dissect.Options{Handler: o, Gather: gather}), own: gather, live: new([][]byte)}
		s = s.open(50000, true)
		for id := range int32(5) {
			q, r := heartbeat(id)
			s.send(up, q)
			if id == 2 {
				assert.Equal(t, gather, len(o.got) == 0, "nothing is handed over yet: %v", o.got)
				s.send(down, cat(i32(-1), i32(-1)))
			}
			s.send(down, r)
		}
		assert.Contains(t, o.got, "skip", "before the end")
		s.close(reassembly.EndFIN)
		assert.Equal(t, []string{"exchange 0", "exchange 1", "skip", "exchange 2", "exchange 3", "exchange 4", "end"}, o.got)
	}
}
