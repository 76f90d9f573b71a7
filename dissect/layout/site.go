package layout

import (
	"iter"

	"github.com/kdissect/kdissect/dissect/schema"
)

// versions returns the versions of a message in order.
func versions(m *schema.Message) iter.Seq[int16] {
	return func(yield func(int16) bool) {
		if m == nil || m.Versions.Empty() {
			return
		}
		for v := int32(m.Versions.Min); v <= int32(m.Versions.Max); v++ {
			if !yield(int16(v)) {
				return
			}
		}
	}
}
