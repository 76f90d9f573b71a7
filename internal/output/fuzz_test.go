package output

import (
	"encoding/json"
	"testing"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/tree"
)

// script reads a well-nested sequence of events from fuzz input and gives it to a sink, inside
// of skipped groups too: outputs must not depend on decoders' good manners.
type script struct {
	in    []byte
	depth int
}

func (s *script) byte() byte {
	if len(s.in) == 0 {
		return 0
	}
	c := s.in[0]
	s.in = s.in[1:]
	return c
}

func (s *script) event() tree.Event {
	d := &tree.Desc{Kind: tree.Kind(s.byte() % byte(tree.KindRest+2)), Order: int32(int8(s.byte()))}
	how := s.byte()
	d.Secret, d.Derived, d.Late = how&1 != 0, how&2 != 0, how&4 != 0
	d.Role = s.byte() % 32
	n := min(int(s.byte()%24), len(s.in))
	text := s.in[:n]
	s.in = s.in[n:]
	if how&8 != 0 {
		d.Key = string(text)
	}
	if d.Kind == tree.KindUUID {
		text = append(append([]byte{}, text...), make([]byte, 16)...)[:16]
	}
	v := int64(int8(s.byte()))
	flags := tree.Flags(s.byte()) | tree.Flags(s.byte()%4)<<8
	return tree.Event{Desc: d, Value: tree.Value{Num: v << (how >> 4 * 3), Bytes: text}, Aux: v, Index: int32(v), Count: int32(v), Flags: flags}
}

func (s *script) give(sink tree.Sink) {
	for len(s.in) > 0 {
		switch c := s.byte(); {
		case c%8 == 7:
			return
		case c%8 == 6:
			sink.Issue(tree.Issue{Code: tree.CodeMalformed, Path: string(s.in[:min(3, len(s.in))]), Text: string(s.in[:min(9, len(s.in))])})
		case c%8 >= 3 && s.depth < 50:
			e := s.event()
			sink.Begin(e)
			s.depth++
			s.give(sink)
			s.depth--
			sink.End(e)
		default:
			sink.Leaf(s.event())
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte{3, 3, 0, 0, 0, 0, 0, 64, 0, 1, 16, 1, 8, 0, 3, 'a', 'b', '"', 1, 0, 0, 7})
	f.Add([]byte{3, 3, 0, 0, 0, 0, 0, 64, 0, 3, 4, 1, 8, 0, 1, 'a', 0, 0, 0, 3, 3, 1, 8, 0, 1, 'c', 0, 2, 0, 1, 18, 5, 8, 0, 2, 'k', 0xff, 1, 0, 0, 1, 18, 1, 8, 0, 2, 'k', 'l', 1, 0, 0, 7, 7, 7})
	f.Fuzz(func(t *testing.T, in []byte) {
		for how := range 8 {
			opt := Options{Plain: how&1 != 0, Bytes: BytesForm(how / 2 % 3), ShowSecrets: how&4 != 0}
			x := testExchange()
			j := NewJSON(nil, opt)
			s := script{in: in}
			j.walk = func(_ *dissect.Frame, sink tree.Sink) { s.give(sink) }
			if line := j.Append(nil, x); !json.Valid(line) {
				t.Fatalf("not JSON: %s", line)
			}
			fr := NewFragments(opt)
			fr.Reset(-1)
			s = script{in: in}
			s.give(fr)
			for _, part := range [][]byte{fr.Header(), fr.Body(), fr.AppendIssues(nil), fr.AppendUnknownTags(nil), fr.AppendHeaderUnknownTags(nil)} {
				if len(part) > 0 && !json.Valid(part) {
					t.Fatalf("not JSON: %s", part)
				}
			}
		}
	})
}

func FuzzSummary(f *testing.F) {
	f.Add([]byte{3, 3, 0, 0, 4, 0, 0, 64, 0, 1, 16, 1, 8, 4, 3, 'a', 'b', '"', 1, 0, 0, 0, 8, 0, 8, 6, 0, 5, 0, 0, 7}, false)
	f.Fuzz(func(t *testing.T, in []byte, wide bool) {
		x := testExchange()
		s := NewSummary(nil, Options{Wide: wide})
		events := script{in: in}
		s.facts.visit = visiting(func(_ *dissect.Frame, sink tree.Sink) { events.give(sink) })
		s.facts.resolve = func(*dissect.Exchange, [16]byte) string { return "" }
		line := s.Append(nil, x)
		for i, c := range line {
			if (c < 0x20 || c == 0x7f) && i != len(line)-1 {
				t.Fatalf("%#x in a line: %q", c, line)
			}
		}
		if !wide && len(line) > 4096 {
			t.Fatalf("%d bytes", len(line))
		}
	})
}
