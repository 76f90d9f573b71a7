package scrub

import (
	"bytes"
	"encoding/binary"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// frames replaces the values in frames. It is a tree.Sink, and serves one goroutine.
type frames struct {
	values  *values
	walk    *walk.Decoder
	press   compressor
	batches Batches

	in, out []byte // the frame
	derived []derived
	sets    []tree.Span
	open    []tree.Event
	name    string // of the configuration whose value comes next
	token   int32  // size of the SASL token whose parts come next
	hit     bool   // a limit of ours, in the frame
	limited int64  // frames in which one was
}

// derived is a buffer that was decompressed from a place in another.
type derived struct {
	in, out []byte
	origin  tree.Span
	codec   string
	entry   tree.Event // the batch or message around it; without Desc where there is none
	damaged bool       // it is not all that was compressed
	data    []edit     // what may become filler
}

// edit is a run of replaced bytes.
type edit struct {
	off, n int32
	fill   byte
}

// scrub returns f's bytes with its values replaced, alive until the next call.
func (s *frames) scrub(f *dissect.Frame, request bool) []byte {
	s.in = f.Bytes
	s.out = append(s.out[:0], f.Bytes...)
	s.derived, s.sets, s.open, s.name, s.token = s.derived[:0], s.sets[:0], s.open[:0], "", 0
	s.hit = false
	f.Walk(s.walk, s)
	if s.hit {
		s.limited++
	}
	for i := len(s.derived) - 1; i >= 0; i-- {
		s.recompress(&s.derived[i])
	}
	for _, set := range s.sets {
		in, out := s.buffers(set.Source)
		fixChecksums(in[set.Off:set.End()], out[set.Off:set.End()])
	}
	if f.Kind == dissect.KafkaFrame {
		// Also of frames whose layout is not known.
		n := 8
		if request {
			n = 12
		}
		n = min(n, len(s.out))
		copy(s.out[:n], s.in[:n])
	}
	return s.out
}

// buffers returns a source as it was and as it will be.
func (s *frames) buffers(source int32) (in, out []byte) {
	if source == 0 {
		return s.in, s.out
	}
	d := &s.derived[source-1]
	return d.in, d.out
}

// Begin implements tree.Sink.
func (s *frames) Begin(e tree.Event) bool {
	s.open = append(s.open, e)
	if n := s.token; n > 0 && e.Desc.Kind == tree.KindPayload {
		// Its parts hang together: it is replaced as a whole.
		s.token = 0
		_, buf := s.buffers(e.Span.Source)
		s.values.token(buf[e.Span.End()-n : e.Span.End()])
		return false
	}
	if e.Desc.Kind == tree.KindRecords && len(e.Value.Bytes) > 0 {
		start := e.Span.End() - int32(e.Value.Num)
		s.sets = append(s.sets, tree.Span{Source: e.Span.Source, Off: start, Len: int32(len(e.Value.Bytes))})
	}
	return true
}

// End implements tree.Sink.
func (s *frames) End(tree.Event) { s.open = s.open[:len(s.open)-1] }

// Issue implements tree.Sink.
func (s *frames) Issue(i tree.Issue) {
	switch i.Code {
	case tree.CodeTruncated, tree.CodeMalformed, tree.CodeLimit, tree.CodeUnsupported:
	default:
		return
	}
	s.hit = s.hit || i.Code == tree.CodeLimit
	for d := range s.derived {
		if s.derived[d].origin == i.Span {
			s.derived[d].damaged = true
		}
	}
}

// Source implements tree.Sink.
func (s *frames) Source(id int32, b []byte, origin tree.Span, codec string) {
	for int(id) > len(s.derived) {
		s.derived = append(s.derived, derived{})
	}
	d := derived{in: bytes.Clone(b), out: bytes.Clone(b), origin: origin, codec: codec}
	for i := len(s.open) - 1; i >= 0 && d.entry.Desc == nil; i-- {
		if n := s.open[i].Desc.Name; n == batchName || n == messageName {
			d.entry = s.open[i]
		}
	}
	s.derived[id-1] = d
}

// Names of groups that records lie in.
const (
	batchName   = "RecordBatch"
	messageName = "Message"
)

// Leaf implements tree.Sink.
func (s *frames) Leaf(e tree.Event) {
	if e.Has(tree.FlagComputed) || e.Has(tree.FlagNull) {
		if s.isToken(&e) {
			s.token = int32(len(e.Value.Bytes))
		}
		return
	}
	switch e.Desc.Kind {
	case tree.KindRest:
		s.rest(&e)
	case tree.KindString, tree.KindBytes, tree.KindUUID:
		if e.Flags&tree.FlagStructural == 0 {
			s.value(&e)
		}
	}
}

// field returns the name of the field that a leaf is of, and of the struct around it.
func (s *frames) field(e *tree.Event) (structName, name string) {
	name = e.Desc.Name
	for i := len(s.open) - 1; i >= 0; i-- {
		g := &s.open[i]
		switch g.Desc.Kind {
		case tree.KindArray:
			if e.Has(tree.FlagElement) && name == e.Desc.Name {
				name = g.Desc.Name
			}
		case tree.KindStruct:
			if g.Desc.Type == "struct" {
				return g.Desc.Name, name
			}
			return g.Desc.Type, name
		case tree.KindMessage, tree.KindPayload, tree.KindGroup:
			return g.Desc.Name, name
		}
	}
	return "", name
}

// value replaces a string, bytes or an id as its class and the options ask.
func (s *frames) value(e *tree.Event) {
	n := int32(len(e.Value.Bytes))
	if n == 0 {
		return
	}
	_, buf := s.buffers(e.Span.Source)
	b := buf[e.Span.End()-n : e.Span.End()]
	structName, name := s.field(e)
	role := schema.Role(e.Desc.Role)
	switch {
	case s.isToken(e):
		s.values.token(b)
		return
	case e.Desc.Secret:
		s.data(e.Span.Source, e.Span.End()-n, b)
		return
	case e.Desc.Kind == tree.KindUUID:
		if classOf(structName, name, role) == topicUUID && s.values.opt.Topics {
			s.values.id(b)
		}
		return
	}
	c := classOf(structName, name, role)
	switch c {
	case unlisted, data:
		s.data(e.Span.Source, e.Span.End()-n, b)
	case config:
		if !plainConfig(s.name, e.Value.Bytes) {
			s.data(e.Span.Source, e.Span.End()-n, b)
		}
	default:
		if configName[structName+"."+name] {
			s.name = string(e.Value.Bytes)
		}
		s.values.replace(c, b)
	}
}

// isToken reports whether a leaf is a SASL token.
func (s *frames) isToken(e *tree.Event) bool {
	return schema.Role(e.Desc.Role) == schema.RoleAuthBytes ||
		e.Desc.Kind == tree.KindBytes && len(s.open) > 0 && s.open[len(s.open)-1].Desc.Name == tokenMessage
}

// tokenMessage is what the frame of a bare SASL token is called.
const tokenMessage = "SaslToken"

// data replaces b, which lies at off in a source.
func (s *frames) data(source, off int32, b []byte) {
	c := filler(b)
	s.values.data(b)
	if source > 0 {
		d := &s.derived[source-1]
		d.data = append(d.data, edit{off, int32(len(b)), c})
	}
}

// rest replaces bytes that were not decoded by zeros. What the decoder went by to call them so is
// kept: a length that cannot be, or the head of a batch that is not whole.
func (s *frames) rest(e *tree.Event) {
	in, out := s.buffers(e.Span.Source)
	in, out = in[e.Span.Off:e.Span.End()], out[e.Span.Off:e.Span.End()]
	keep := 0
	switch e.Desc.Name {
	case "partial batch":
		keep = batchKeep(in)
	case "undecoded", "cut":
		if keep = lengthSize(in); s.inEntry() {
			break
		}
		if s.inSet() {
			keep = batchKeep(in)
		}
	case "unknown field": // of Protocol Buffers
		keep = protoHead(in)
	}
	fill(out[min(keep, len(out)):], 0)
}

// inSet reports whether what comes lies in a record set.
func (s *frames) inSet() bool {
	return len(s.open) > 0 && s.open[len(s.open)-1].Desc.Kind == tree.KindRecords
}

// inEntry reports whether what comes lies in a batch or message.
func (s *frames) inEntry() bool {
	for i := len(s.open) - 1; i >= 0; i-- {
		if n := s.open[i].Desc.Name; n == batchName || n == messageName {
			return true
		}
	}
	return false
}

// lengthSize returns how many bytes the length takes that bytes begin with: a varint, or up to
// four of a number whose first byte is zero.
func lengthSize(b []byte) int {
	if len(b) > 0 && b[0] == 0 {
		return 4
	}
	for i, c := range b[:min(len(b), binary.MaxVarintLen32)] {
		if c < 0x80 {
			return i + 1
		}
	}
	return 1
}

// batchKeep returns how many bytes of a batch that is not whole tell nothing of its records.
func batchKeep(b []byte) int {
	const head, magicAt = 12, 16
	if len(b) <= magicAt || b[magicAt] != 2 {
		return min(head, len(b))
	}
	return min(batchHead, len(b))
}

// protoHead returns the size of what stands in front of the bytes of a field: its tag, and its
// length where it has one. Numbers are all head.
func protoHead(b []byte) int {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return 0
	}
	if tag&7 != 2 {
		return len(b)
	}
	if _, m := binary.Uvarint(b[n:]); m > 0 {
		return n + m
	}
	return n
}
