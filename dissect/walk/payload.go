package walk

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// Payloads decodes what is nested in bytes fields. It is told what stands in front of them, since
// bytes do not say what they are.
type Payloads interface {
	// Begin starts a frame or a body with the layout p, nil where that is unknown.
	Begin(p *schema.Plan, ctx Context)
	// Field is told of fields that have a role, in the order of the bytes. Null ones have no
	// bytes. What v aliases lives until the next Begin.
	Field(desc *tree.Desc, v tree.Value)
	// Claim says what data are, the content of the bytes field that desc describes.
	Claim(desc *tree.Desc, data []byte) Claim
	// Payload gives the events of the bytes that were claimed last: a group of KindPayload that
	// begins with the leaf length. The inside lies behind it.
	Payload(length tree.Event, path string, sink tree.Sink)
}

// Context is what a frame does not hold itself.
type Context struct {
	// Topics names topic ids; nil knows none.
	Topics Topics
	// Request is the frame that a response answers, where it is known, and its layouts.
	Request       []byte
	RequestHeader *schema.Plan
	RequestBody   *schema.Plan
	// Mechanism of SASL that client and broker have agreed on; "" where it is not known.
	Mechanism string
}

// Topics names topic ids.
type Topics interface {
	TopicName(id [16]byte) (name string, known bool)
}

// Claim is what Payloads says about bytes.
type Claim struct {
	// Open is set where Payload shall give the events of the inside.
	Open bool
	// Desc describes the bytes as a whole in place of the field's own, such as one that is
	// secret; nil leaves the field's.
	Desc *tree.Desc
	// Unread says why bytes could not be read as what they should be; "" has nothing to say.
	// Limit is set where it is a cap of ours.
	Unread string
	Limit  bool
}

// Descriptions of the lengths of bytes whose inside is shown.
var (
	bytesLengthInt32   = &tree.Desc{Name: "length", Type: "int32", About: "number of bytes", Kind: tree.KindInt32, Enc: tree.EncInt32}
	bytesLengthCompact = &tree.Desc{Name: "length", Type: "uvarint", About: "number of bytes", Kind: tree.KindUvarint, Enc: tree.EncCompact}
)

// tell passes a field that has a role on to the payloads.
func (d *Decoder) tell(desc *tree.Desc, v tree.Value) {
	if desc.Role != 0 && d.Payloads != nil {
		d.Payloads.Field(desc, v)
	}
}

// claimed gives the events of bytes that may hold a payload: one leaf, or their value without
// bytes of its own and behind it their inside.
func (d *Decoder) claimed(f *schema.Field, flags tree.Flags, index int32, b []byte, sent int64, off int) {
	c := d.Payloads.Claim(f.Desc, b)
	e := tree.Event{Desc: f.Desc, Span: d.since(off), Value: tree.Value{Bytes: b}, Aux: sent, Index: index, Flags: flags}
	if c.Desc != nil {
		e.Desc = c.Desc
	}
	whole := e.Span
	if c.Open {
		e.Span.Len = 0
		e.Flags |= tree.FlagComputed
	}
	d.sink.Leaf(e)
	switch {
	case c.Open:
		desc := bytesLengthInt32
		if f.Compact {
			desc = bytesLengthCompact
		}
		span := tree.Span{Off: whole.Off, Len: whole.Len - int32(len(b))}
		length := tree.Event{Desc: desc, Span: span, Value: tree.Value{Num: sent}, Flags: tree.FlagStructural}
		d.Payloads.Payload(length, d.places.where(d.path), d.sink)
	case c.Limit:
		d.issue(tree.Warning, tree.CodeLimit, int(whole.Off), int(whole.Len), c.Unread)
	case c.Unread != "":
		d.issue(tree.Info, tree.CodePayload, int(whole.Off), int(whole.Len), c.Unread)
	}
}
