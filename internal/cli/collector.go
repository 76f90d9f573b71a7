package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// When the garbage collector first runs, in percent of the runtime's smallest heap, 4 MiB.
const (
	firstCollection = 400
	// Summaries allocate for connections alone, which stay.
	firstCollectionOfSummaries = 1200
)

// collectLater has the garbage collector wait with its first collection until there is something
// to collect: most of what is allocated to begin with stays. GOGC in the environment is kept to.
func collectLater(first int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	const usual = 100
	debug.SetGCPercent(first)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
