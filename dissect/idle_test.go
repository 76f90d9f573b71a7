package dissect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// protocols notes what connections were found to speak.
type protocols map[dissect.Protocol]int

func (protocols) Exchange(*dissect.Exchange)                       {}
func (p protocols) Closed(c *dissect.Connection, _ reassembly.End) { p[c.Protocol]++ }

// TestSilentConnectionsTakeNothing opens and closes connections on which nothing is said.
func TestSilentConnectionsTakeNothing(t *testing.T) {
	seen := protocols{}
	d := dissect.New(dissect.Options{Handler: seen})
	c := &reassembly.Conn{ID: 1, SawSYN: true, SawSYNACK: true}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		d.Open(c)
		assert.Nil(t, c.User)
		d.Finish(c, reassembly.Forward, 4, 4)
		d.Close(c, reassembly.EndFIN, 5, 5)
	}))
	assert.Equal(t, protocols{dissect.ProtocolEmpty: 101}, seen)
}
