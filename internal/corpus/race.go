//go:build race

package corpus

// Race is set where the race detector watches. It slows tests about tenfold, and a race shows
// in the first inputs as in the last, so that the longest tests take fewer.
const Race = true
