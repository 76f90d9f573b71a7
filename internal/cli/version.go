package cli

import (
	"runtime"
	"runtime/debug"
)

// version returns the program's name and version from the build information that Go records.
func version() string {
	v, revision, modified := "(devel)", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				if s.Value == "true" {
					modified = ", modified"
				}
			}
		}
	}
	if revision != "" {
		v += " (" + revision[:min(12, len(revision))] + modified + ")"
	}
	return "kdissect " + v + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
