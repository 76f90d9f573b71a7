package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

func walkFrame(d *walk.Decoder, f *dissect.Frame, s tree.Sink) {
	any(f).(interface {
		Walk(*walk.Decoder, tree.Sink)
	}).Walk(d, s)
}
