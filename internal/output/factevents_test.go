package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// visiting makes a visit of the events given: all fields that have a role. It is the
// oracle for what the decoder gives a Visitor.
func visiting(events func(*dissect.Frame, tree.Sink)) func(*dissect.Frame, walk.Visitor) {
	s := &factSink{}
	return func(f *dissect.Frame, v walk.Visitor) {
		s.f = v
		events(f, s)
	}
}

// factSink gives a Visitor the events of a whole frame.
type factSink struct{ f walk.Visitor }

// Begin implements tree.Sink.
func (s *factSink) Begin(e tree.Event) bool {
	switch e.Desc.Kind {
	case tree.KindMessage, tree.KindTags:
		return true
	case tree.KindTag:
		return !e.Has(tree.FlagUnknownTag)
	case tree.KindStruct:
		s.f.Enter()
		return true
	case tree.KindArray:
		return !e.Has(tree.FlagNull)
	case tree.KindRecords:
		if !e.Has(tree.FlagNull) {
			s.f.Records(e.Value.Bytes, int(e.Value.Num))
		}
	}
	return false
}

// Leaf implements tree.Sink.
func (s *factSink) Leaf(e tree.Event) {
	if e.Desc.Role == 0 || e.Flags&(tree.FlagStructural|tree.FlagNull) != 0 {
		return
	}
	switch e.Desc.Kind {
	case tree.KindString, tree.KindBytes, tree.KindUUID:
		s.f.Bytes(e.Desc, e.Value.Bytes, e.Has(tree.FlagElement))
	default:
		s.f.Number(e.Desc, e.Value.Num, e.Has(tree.FlagElement))
	}
}

// End implements tree.Sink.
func (s *factSink) End(e tree.Event) {
	if e.Desc.Kind == tree.KindStruct {
		s.f.Leave()
	}
}

// Issue implements tree.Sink.
func (s *factSink) Issue(i tree.Issue) { s.f.Issue(i) }

// Source implements tree.Sink.
func (s *factSink) Source(int32, []byte, tree.Span, string) {}
