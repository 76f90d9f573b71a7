//go:build !race

package corpus

// Race is set where the race detector watches.
const Race = false
