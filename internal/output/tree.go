package output

import (
	"io"
	"strconv"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// Tree writes exchanges as a line about each and the annotated trees of its frames.
type Tree struct {
	opt     Options
	out     lines
	summary *Summary
	builder tree.Builder
	text    tree.Text
	grid    tree.Grid
	walk    func(*dissect.Frame, tree.Sink)
	x       *dissect.Exchange
	long    Long
	full    bool  // no more text may come
	hit     bool  // a limit, in the exchange under way
	limited int64 // exchanges
}

// NewTree returns a writer of trees.
func NewTree(w io.Writer, opt Options) *Tree {
	opt.decoder() // shared with the summary
	t := &Tree{
		opt: opt, out: lines{w: w, live: opt.Live}, summary: NewSummary(nil, opt),
		text: tree.Text{Full: opt.Full, Secrets: opt.ShowSecrets, Values: opt.Values, Color: opt.Color},
		grid: tree.Grid{Secrets: opt.ShowSecrets, Values: opt.Values, Color: opt.Color},
	}
	t.builder.Limit = opt.MaxNodes
	if t.long = opt.Long; t.long == nil && w != nil {
		t.long = &t.out
	}
	if t.long != nil {
		t.text.Spill, t.grid.Spill = t.spill, t.spill
	}
	t.walk = func(f *dissect.Frame, s tree.Sink) { f.Walk(opt.Decoder, s) }
	t.text.UUIDName = func(d *tree.Desc, id []byte) string {
		if schema.Role(d.Role) != schema.RoleTopicID || len(id) != 16 {
			return ""
		}
		return topicName(t.x, [16]byte(id))
	}
	return t
}

// Exchange writes the heading and the trees of x. It returns the writer's first error.
func (t *Tree) Exchange(x *dissect.Exchange) error {
	return t.out.done(t.Append(t.out.buf, x))
}

// Flush sends on what was gathered.
func (t *Tree) Flush() error { return t.out.Flush() }

// spill hands on a long text.
func (t *Tree) spill(b []byte) ([]byte, bool) {
	b, more := t.long.Spill(b, len(b))
	t.full = !more
	return b, more
}

// Limited returns of how many exchanges not all was decoded or written, because of limits of ours.
func (t *Tree) Limited() int64 { return t.limited }

// Append appends the heading and the trees of x, and an empty line.
func (t *Tree) Append(b []byte, x *dissect.Exchange) []byte {
	t.x = x
	t.full, t.hit = t.long != nil && t.long.Full(), false
	b = append(b, '#')
	b = t.opt.appendNumber(b, ExchangeNumber, x.Number)
	b = append(b, ' ', ' ')
	b = t.summary.appendHeading(b, x)
	for i := range x.Issues {
		b = appendTreeIssue(b, &x.Issues[i])
	}
	if t.opt.Late != nil {
		*t.opt.Late = append(*t.opt.Late, Slot{At: len(b), Kind: TreeIssues})
	}
	if x.Request != nil {
		b = t.appendFrame(b, "request", x.Request, schema.HoldsSecrets(x.Request.APIKey))
	}
	if x.Response != nil {
		hide := x.Request == nil || schema.HoldsSecrets(x.Request.APIKey)
		b = t.appendFrame(b, "response", x.Response, hide)
	}
	t.x = nil
	if t.hit {
		t.limited++
	}
	return append(b, '\n')
}

func appendTreeIssue(b []byte, i *tree.Issue) []byte {
	b = append(b, "!! "...)
	b = append(b, i.Code...)
	b = append(b, ": "...)
	b = append(b, i.Text...)
	return append(b, '\n')
}

// AppendFrame appends the tree of a frame that did not come from a capture; side is request or
// response.
func (t *Tree) AppendFrame(b []byte, side string, f *dissect.Frame) []byte {
	t.full, t.hit = false, false
	b = t.appendFrame(b, side, f, schema.HoldsSecrets(f.APIKey))
	if t.hit {
		t.limited++
	}
	return b
}

// appendFrame appends the tree of a frame, and around it what was asked for.
func (t *Tree) appendFrame(b []byte, side string, f *dissect.Frame, hide bool) []byte {
	for i := range f.Issues {
		b = appendTreeIssue(b, &f.Issues[i])
	}
	if t.opt.Packets {
		b = appendPackets(b, side, f)
	}
	if t.full {
		return t.appendFull(b, side)
	}
	t.builder.Reset(f.Bytes)
	var sink tree.Sink = &t.builder
	if hide || f.Kind == dissect.TokenFrame {
		sink = maskRests{sink}
	}
	t.walk(f, sink)
	found := t.builder.Tree().Issues
	for i := 0; i < len(found) && !t.hit; i++ {
		t.hit = found[i].Code == tree.CodeLimit
	}
	b = t.text.Append(b, t.builder.Tree())
	if t.opt.Hex && !t.full {
		b = t.grid.Append(b, t.builder.Tree())
	}
	if t.full {
		b = t.appendFull(b, side)
	}
	return b
}

// appendFull says that the rest of a frame's text is left out.
func (t *Tree) appendFull(b []byte, side string) []byte {
	t.hit = true
	if n := len(b); n > 0 && b[n-1] != '\n' {
		b = append(b, '\n')
	}
	return appendTreeIssue(b, &tree.Issue{Code: tree.CodeLimit, Text: t.long.Limit() + ": what follows of the " + side + " is left out"})
}

// appendPackets appends a line that says which packets carried which bytes of a frame.
func appendPackets(b []byte, side string, f *dissect.Frame) []byte {
	b = append(b, side...)
	b = append(b, " in"...)
	end := int32(len(f.Bytes))
	if len(f.Packets) == 0 {
		b = append(b, " packets "...)
		b = strconv.AppendInt(b, f.FirstPacket, 10)
		b = append(b, '-')
		b = strconv.AppendInt(b, f.LastPacket, 10)
	}
	for i, m := range f.Packets {
		to := end
		if i+1 < len(f.Packets) {
			to = min(end, f.Packets[i+1].Off)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, " packet "...)
		b = strconv.AppendInt(b, m.Packet, 10)
		b = append(b, " [0x"...)
		b = appendOffset(b, m.Off)
		b = append(b, ", "...)
		b = strconv.AppendInt(b, int64(max(0, to-m.Off)), 10)
		b = append(b, "B]"...)
	}
	return append(b, '\n')
}

// appendOffset appends an offset in hex with at least four digits.
func appendOffset(b []byte, off int32) []byte {
	for limit := int32(0x1000); off < limit && limit > 1; limit >>= 4 {
		b = append(b, '0')
	}
	return strconv.AppendUint(b, uint64(off), 16)
}

// maskRests is a sink that makes bytes without a layout secret, in frames in which they may be
// a password or a token.
type maskRests struct{ tree.Sink }

// Leaf passes e on.
func (m maskRests) Leaf(e tree.Event) {
	if e.Desc.Kind == tree.KindRest && !e.Desc.Secret {
		e.Desc = hiddenRest
	}
	m.Sink.Leaf(e)
}

var hiddenRest = &tree.Desc{Name: "undecoded", Type: "bytes", Kind: tree.KindRest, Secret: true,
	About: "bytes that may hold a password or a token"}
