package frame

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPoolsOfABudget has several pools borrow and give back: together they never hold more than
// the budget, and what none of them holds can be had by any, but for the little that each of the
// others keeps ahead.
func TestPoolsOfABudget(t *testing.T) {
	const most = 1 << 20
	budget := NewBudget(most)
	pools := make([]*Pool, 4)
	lent := make([][]*Buffer, len(pools))
	for i := range pools {
		pools[i] = NewPool(budget)
	}
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 20_000 {
		i := r.IntN(len(pools))
		if n := len(lent[i]); n > 0 && r.IntN(3) == 0 {
			pools[i].Put(lent[i][n-1])
			lent[i] = lent[i][:n-1]
		} else if b := pools[i].Get(1 << r.IntN(17)); b != nil {
			lent[i] = append(lent[i], b)
		} else {
			refused++
		}
		sum := int64(0)
		for _, p := range pools {
			sum += p.Lent()
		}
		require.LessOrEqual(t, sum, int64(most))
	}
	assert.Positive(t, refused)
	for i, p := range pools {
		for _, b := range lent[i] {
			p.Put(b)
		}
		require.Zero(t, p.Lent())
	}
	assert.LessOrEqual(t, budget.lent.Load(), 2*int64(len(pools))*budget.step())
	b := pools[0].Get(most / 2)
	require.NotNil(t, b)
	assert.Nil(t, pools[1].Get(most), "half of it is lent")
	pools[0].Put(b)
}

// TestBudgetIsTakenWhole has a pool take what there is to the last byte, although it would rather
// take some ahead.
func TestBudgetIsTakenWhole(t *testing.T) {
	p := NewPool(NewBudget(4096))
	for range 8 {
		require.NotNil(t, p.Get(512))
	}
	assert.Nil(t, p.Get(1))
}

// TestBudgetFromManyGoroutines is for the race detector.
func TestBudgetFromManyGoroutines(t *testing.T) {
	budget := NewBudget(1 << 16)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			p := NewPool(budget)
			for n := range 2000 {
				p.Put(p.Get(1 << (n % 15)))
			}
		})
	}
	all.Wait()
	assert.LessOrEqual(t, budget.lent.Load(), 8*budget.step())
}
