package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

type noHandler struct{}

func (noHandler) Exchange(*dissect.Exchange)                 {}
func (noHandler) Closed(*dissect.Connection, reassembly.End) {}

func TestFaultsAreTold(t *testing.T) {
	one, other := faultCount{Handler: noHandler{}}, faultCount{Handler: noHandler{}}
	one.Closed(&dissect.Connection{Issues: []tree.Issue{{Code: tree.CodeOverlap, Text: "no fault"}}}, reassembly.EndFIN)
	assert.Empty(t, one.String())
	for n, text := range []string{"this one", "that one"} {
		other.Closed(&dissect.Connection{Faults: int64(1 + n), Issues: []tree.Issue{{Code: tree.CodeInternal, Text: text}}}, reassembly.EndFIN)
	}
	one.add(&other)
	assert.Equal(t, "3 faults in kdissect itself, each of which cost an exchange or the rest of a connection; please report the first: this one", one.String())
}
