package walk

import (
	"github.com/kdissect/kdissect/dissect/schema"
)

// Complete reports whether v, at every level, has each untagged member of the layout p and none
// that p does not have, as what was decoded with p does.
func Complete(p *schema.Plan, v any) bool { return complete(p.Root, v) }

func complete(s *schema.Struct, v any) bool {
	members, ok := v.(map[string]any)
	if !ok {
		return v == nil
	}
	left := len(members) - telling(s, members)
	for i := range s.Fields {
		x, ok := members[s.Fields[i].Desc.Key]
		if !ok || !completeField(&s.Fields[i], x) {
			return false
		}
		left--
	}
	for i := range s.Tags {
		if x, ok := members[s.Tags[i].Desc.Key]; ok {
			if !completeField(&s.Tags[i], x) {
				return false
			}
			left--
		}
	}
	return left == 0
}

func completeField(f *schema.Field, v any) bool {
	switch f.Op {
	case schema.OpStruct:
		return complete(f.Struct, v)
	case schema.OpArray:
		list, _ := v.([]any)
		for _, x := range list {
			if !completeField(f.Elem, x) {
				return false
			}
		}
	}
	return true
}
