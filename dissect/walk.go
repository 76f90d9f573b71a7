package dissect

import (
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// Descriptions of a token frame.
var (
	tokenMessage = tree.Desc{Name: "SaslToken", Type: "message", Kind: tree.KindMessage}
	tokenSize    = tree.Desc{Name: "size", Type: "int32", Kind: tree.KindInt32, About: "number of bytes that follow"}
	tokenBytes   = tree.Desc{Name: "token", Key: "saslToken", Type: "bytes", Kind: tree.KindBytes, Secret: true, About: "SASL token, as the mechanism defines it"}
	tokenCut     = tree.Desc{Name: "undecoded", Type: "bytes", Kind: tree.KindRest, About: "bytes that were not decoded"}
)

// Walk gives the events of f, which tile its captured bytes. Issues that lie in f.Issues are
// not among them.
func (f *Frame) Walk(d *walk.Decoder, sink tree.Sink) {
	if f.Kind == TokenFrame {
		f.walkToken(sink)
		return
	}
	d.Context = walk.Context{}
	if f.facts != nil {
		d.Context.Topics = f.facts
	}
	d.Context.Mechanism = f.mechanism
	if r := f.answers; r != nil {
		d.Context.Request, d.Context.RequestHeader, d.Context.RequestBody = r.Bytes, r.Header, r.Plan
	}
	d.Frame(f.Bytes, f.Size, f.Header, f.Plan, sink)
}

// Visit gives the selected fields of f, which is no token. Nil selections are of unknown layouts.
func (f *Frame) Visit(d *walk.Decoder, header, body *walk.Selection, v walk.Visitor) {
	d.Visit(f.Bytes, f.Size, header, body, v)
}

// walkToken gives the events of a frame that is a token. JSON shows them as those of a body.
func (f *Frame) walkToken(sink tree.Sink) {
	whole := tree.Event{Desc: &tokenMessage, Span: tree.Span{Len: 4 + f.Size}, Aux: -1, Flags: tree.FlagBody}
	if sink.Begin(whole) {
		switch n := int32(len(f.Bytes)); {
		case n < 4:
			if n > 0 {
				sink.Leaf(tree.Event{Desc: &tokenCut, Span: tree.Span{Len: n}, Value: tree.Value{Bytes: f.Bytes}, Flags: tree.FlagStructural})
			}
		default:
			sink.Leaf(tree.Event{Desc: &tokenSize, Span: tree.Span{Len: 4}, Value: tree.Value{Num: int64(f.Size)}})
			if n > 4 {
				f.walkTokenBytes(sink)
			}
		}
	}
	sink.End(whole)
}

// walkTokenBytes gives the events of a token: as a whole, or its value without bytes of its own
// and behind it its parts.
func (f *Frame) walkTokenBytes(sink tree.Sink) {
	token := f.Bytes[4:]
	span := tree.Span{Off: 4, Len: int32(len(token))}
	e := tree.Event{Desc: &tokenBytes, Span: span, Value: tree.Value{Bytes: token}}
	if f.Cut() {
		e.Flags = tree.FlagCut
		sink.Leaf(e)
		return
	}
	t := payload.ReadSASL(f.mechanism, f.fromBroker, token)
	if t.Kind == payload.SASLUnknown {
		sink.Leaf(e)
		return
	}
	e.Span.Len, e.Flags = 0, tree.FlagComputed
	sink.Leaf(e)
	t.WalkGroup(token, span, sink)
}
