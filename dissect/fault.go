package dissect

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/kdissect/kdissect/tree"
)

// recovered turns a panic into an issue of the connection, if it is deferred. Where a frame was
// already taken in, only what is made of it is lost; else the connection is left alone from there
// on, since its state cannot be trusted.
func (c *conn) recovered(packet int64, abandon bool) {
	r := recover()
	if r == nil {
		return
	}
	if abandon {
		c.phase = ignored
	}
	c.Faults++
	if c.Faults <= listedFaults {
		c.Issues = append(c.Issues, tree.Issue{
			Severity: tree.Error, Code: tree.CodeInternal,
			Text: fmt.Sprintf("fault of ours at packet %d: %v (%s)", packet, r, stack()),
		})
	}
}

// listedFaults is how many faults of a connection are listed.
const listedFaults = 8

// stack returns the functions of ours in which the panic arose, on one line, innermost first.
func stack() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var calls []string
	for more := true; more && len(calls) < 16; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			calls = append(calls, fmt.Sprintf("%s %s:%d", path.Base(f.Function), path.Base(f.File), f.Line))
		}
	}
	return strings.Join(calls, " < ")
}
