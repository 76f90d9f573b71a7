package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// collectLater has the garbage collector wait with its first collection until there is something
// to collect: most of what is allocated to begin with stays, and where little text is made, nearly
// all are connections. GOGC in the environment is kept to.
func collectLater(muchText bool) {
	const usual = 100
	// Percent of what is there to begin with, 5 MB of globals above all: collections begin at about 80
	// MB, with much text at 20.
	firstAt := 1500
	if muchText {
		firstAt = 400
	}
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstAt)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
