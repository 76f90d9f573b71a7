package pair

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// model is the table in its plainest form.
type model []struct {
	id, v int32
	time  int64
}

func TestTableAgainstModel(t *testing.T) {
	var shared Shared[int32]
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		table := Table[int32]{Max: []int{0, 5, 40, 100}[r.IntN(4)]}
		if seed%2 == 1 {
			table.Shared = &shared
		}
		var m model
		ids := int32(1 + r.IntN(200))
		for step := range int32(800) {
			id := r.Int32N(ids)
			switch op := r.IntN(20); {
			case op < 11:
				old, removed := table.Add(id, int64(step), step)
				full := table.Max > 0 && len(m) == table.Max
				require.Equal(t, full, removed)
				if full {
					require.Equal(t, m[0].v, old)
					m = m[1:]
				}
				m = append(m, struct {
					id, v int32
					time  int64
				}{id, step, int64(step)})
			case op < 18:
				v, overtook, ok := table.Take(id)
				i := slices.IndexFunc(m, func(e struct {
					id, v int32
					time  int64
				}) bool {
					return e.id == id
				})
				require.Equal(t, i >= 0, ok)
				if ok {
					require.Equal(t, m[i].v, v)
					require.Equal(t, i > 0, overtook)
					m = slices.Delete(m, i, i+1)
				}
			case op == 18:
				before := int64(step) - int64(r.IntN(300))
				table.Expire(before, func(v int32) {
					require.Equal(t, m[0].v, v)
					require.Less(t, m[0].time, before)
					m = m[1:]
				})
				if len(m) > 0 {
					require.GreaterOrEqual(t, m[0].time, before)
				}
			default:
				v, ok := table.TakeOldest()
				require.Equal(t, len(m) > 0, ok)
				if ok {
					require.Equal(t, m[0].v, v)
					m = m[1:]
				}
			}
			require.Equal(t, len(m), table.Len())
		}
		table.Flush(func(v int32) {
			require.Equal(t, m[0].v, v)
			m = m[1:]
		})
		assert.Empty(t, m)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	var table Table[*int]
	v := new(int)
	id := int32(0)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		table.Add(id, 0, v)
		table.Add(id+1, 0, v)
		table.Take(id + 1)
		table.Take(id)
		id += 2
	}))
}

func TestDoubt(t *testing.T) {
	var table Table[string]
	table.Add(1, 0, "lost")
	table.Doubt()
	table.Add(2, 0, "after the loss")
	table.Add(3, 0, "later")
	_, overtook, _ := table.Take(2)
	assert.False(t, overtook, "the one before may have been lost")
	table.Add(4, 0, "last")
	_, overtook, _ = table.Take(4)
	assert.True(t, overtook)
	_, ok := table.TakeDoubtful(3)
	assert.False(t, ok)
	v, ok := table.TakeDoubtful(1)
	assert.True(t, ok)
	assert.Equal(t, "lost", v)
}

func TestLostResponseDoesNotMakeTheTableGrow(t *testing.T) {
	var table Table[int]
	table.Add(-1, 0, 0)
	for id := range int32(100_000) {
		table.Add(id, 0, 0)
		table.Take(id)
	}
	assert.Less(t, cap(table.slots), 100)
}

func TestExpectsInOrder(t *testing.T) {
	var table Table[string]
	for id := range int32(50) { // more than are looked through one by one
		table.Add(id, 0, "")
	}
	assert.True(t, table.Expects(0))
	assert.False(t, table.Expects(50))
	_, overtook, ok := table.Take(20)
	require.True(t, overtook && ok)
	assert.True(t, table.Has(19))
	assert.False(t, table.Expects(19), "a later one was answered")
	assert.True(t, table.Expects(21))
	table.Add(0, 0, "again")
	assert.False(t, table.Expects(0), "the first of this id is meant")
	table.Flush(func(string) {})
	table.Add(7, 0, "")
	assert.True(t, table.Expects(7))
}

// TestSharedMemory has tables hold memory only while they hold requests, and each its own.
func TestSharedMemory(t *testing.T) {
	var shared Shared[int]
	tables := make([]Table[int], 100)
	for i := range tables {
		tables[i].Shared = &shared
	}
	for range 3 {
		for i := range tables {
			tables[i].Add(1, 0, i)
			tables[i].Add(2, 0, -i)
		}
		for i := range tables {
			v, _, ok := tables[i].Take(1)
			require.True(t, ok)
			require.Equal(t, i, v)
			v, ok = tables[i].TakeOldest()
			require.True(t, ok)
			require.Equal(t, -i, v)
			require.Nil(t, tables[i].slots)
		}
		require.Len(t, shared.free, len(tables))
	}
	for i := range 2 * maxSlots {
		tables[0].Add(int32(i), 0, i)
	}
	tables[0].Flush(func(int) {})
	assert.Nil(t, tables[0].slots)
	assert.Less(t, len(shared.free), len(tables), "what one table had much use for is not kept")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		tables[1].Add(1, 0, 1)
		tables[1].Take(1)
	}))
}
