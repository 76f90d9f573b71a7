package dissect

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// nameSink learns the names of topic ids from a response that has both in one struct.
type nameSink struct {
	tree.Discard
	facts *view
	most  int

	depth int
	name  []byte
	id    [16]byte
}

// Begin implements tree.Sink: it descends to the structs of the first array level only.
func (s *nameSink) Begin(e tree.Event) bool {
	s.depth++
	if s.depth > 3 { // body, topics, topic
		return false
	}
	s.name, s.id = nil, [16]byte{}
	return true
}

// Leaf implements tree.Sink.
func (s *nameSink) Leaf(e tree.Event) {
	switch schema.Role(e.Desc.Role) {
	case schema.RoleTopicName:
		s.name = e.Value.Bytes
	case schema.RoleTopicID:
		copy(s.id[:], e.Value.Bytes)
	}
}

// End implements tree.Sink.
func (s *nameSink) End(e tree.Event) {
	if s.depth == 3 {
		s.facts.learnTopic(s.id, s.name, s.most)
	}
	s.depth--
}
