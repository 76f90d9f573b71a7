//go:build !race

package cli

// raceEnabled says that the race detector makes all slower.
const raceEnabled = false
