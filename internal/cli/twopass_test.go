package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fetchByID is a Fetch v13 request for the first topic of topicIDs, and an empty response.
func fetchByID() (request, response []byte) {
	w := header(1, 13, 7, true).i32(-1).i32(0).i32(0).i32(1 << 20).add(0).i32(0).i32(-1).add(2)
	w = append(w, make([]byte, 11)...)
	w = w.add(9).i32(0).add(2).i32(5).i32(-1).i32(0).i32(3).i32(-1).i32(-1).i32(-1).i32(1<<20).add(0, 0)
	return w.add(1, 1, 0).sized(), wire(nil).i32(7).add(0).i32(0).i16(0).i32(0).add(1, 0).sized()
}

// A name that the capture tells behind where its id is used is shown by a second pass alone, for any
// number of workers, and on another connection.
func TestTwoPassNamesTopicsFromTheStart(t *testing.T) {
	file := newHostile(t, func(h *hostile) {
		c, other := converse(h, 0, 100), converse(h, 1, 100)
		q, r := fetchByID()
		c.send(true, q)
		c.send(false, r)
		q, r = topicIDs(1)
		other.send(true, q)
		other.send(false, r)
	})
	for _, workers := range []string{"1", "2", "7"} {
		once, _, status := runMain(t, "read", "-t", "--api", "Fetch", "--workers", workers, file)
		require.Zero(t, status)
		assert.NotContains(t, once, "000900000000 (ta) ")
		twice, stderr, status := runMain(t, "read", "-t", "--api", "Fetch", "--two-pass", "--workers", workers, file)
		require.Zero(t, status)
		assert.Contains(t, twice, "000900000000 (ta) ")
		assert.Empty(t, stderr)
	}
	_, stderr, status := runMain(t, "read", "--two-pass", "-")
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "--two-pass")
}
