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

// topicName returns the name that the capture has shown for a topic id, or "".
func topicName(x *dissect.Exchange, id [16]byte) string {
	if r, ok := any(x).(interface{ TopicName([16]byte) (string, bool) }); ok {
		name, _ := r.TopicName(id)
		return name
	}
	return ""
}
