package cli

import (
	"fmt"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// faultCount counts faults of ours, which cost a frame or the rest of a connection. It stands in
// front of another dissect.Handler.
type faultCount struct {
	dissect.Handler
	n     int64
	first string
}

// Closed implements dissect.Handler.
func (f *faultCount) Closed(c *dissect.Connection, why reassembly.End) {
	if c.Faults > 0 {
		f.n += c.Faults
		for i := range c.Issues {
			if f.first == "" && c.Issues[i].Code == tree.CodeInternal {
				f.first = c.Issues[i].Text
			}
		}
	}
	f.Handler.Closed(c, why)
}

// add adds the counts of another.
func (f *faultCount) add(o *faultCount) {
	f.n += o.n
	if f.first == "" {
		f.first = o.first
	}
}

// String says what was lost; "" for nothing.
func (f *faultCount) String() string {
	if f.n == 0 {
		return ""
	}
	return fmt.Sprintf("%s in kdissect itself, each of which cost an exchange or the rest of a connection; please report the first: %s",
		plural(f.n, "fault"), f.first)
}
