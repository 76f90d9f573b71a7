package walk

import (
	"math"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

// Records gives the events of a record set.
type Records interface {
	// Reset begins a new frame: derived sources are numbered from 1 again.
	Reset()
	// Walk gives the events of the record set that lies at base; they tile data, which is as much
	// of it as was captured. Issues get path in front of their own.
	Walk(data []byte, base tree.Span, path string, sink tree.Sink)
}

// Decoder decodes frames and bodies. The zero value is ready; it is reused without allocating
// and serves one goroutine.
type Decoder struct {
	// Records decodes the fields that hold record sets; where nil they are one leaf.
	Records Records
	// Payloads decodes what is nested in bytes fields; where nil they are leaves.
	Payloads Payloads
	// Context is of the next frame or body to decode, which takes it.
	Context Context

	r       wire.Reader
	sink    tree.Sink
	visitor visitor // of Visit
	path    []step
	places  places
	config  []byte // name of the config whose value comes next
	marked  bool   // the broker says that the config is secret, and so are its synonyms
	// reported is set once the error that sticks in r was told; contained where one was met
	// and left behind.
	reported, contained bool
}

// step is one level of the path to where the walker is.
type step struct {
	desc  *tree.Desc
	index int32 // of the element, -1 for the field itself
}

// Result says how far a layout fitted.
type Result struct {
	End    int        // offset behind the last byte that was decoded
	Err    wire.Error // the error that ended decoding; holds with Failed
	Failed bool
	// Contained is set where an error was met inside a region with a length of its own, so
	// that decoding went on behind it.
	Contained bool
}

// Fits reports whether the layout fitted to the end.
func (r Result) Fits() bool { return !r.Failed && !r.Contained }

// Frame decodes a frame: its size prefix, its header and its body. size is the prefix's value;
// b may hold less than 4+size bytes where some were not captured. body may be nil where the
// layout is unknown, and header where not even the header's is: what they would have covered
// becomes one leaf. A nil sink only checks. Bytes behind the body are a leaf of their own and
// an issue, not an error.
func (d *Decoder) Frame(b []byte, size int32, header, body *schema.Plan, sink tree.Sink) Result {
	end := 4 + max(int(size), 0)
	captured := min(len(b), end)
	b = b[:captured]
	d.begin(b, 0, end, body, sink)
	message := &rawMessage
	version := int64(-1)
	if body != nil {
		message, version = body.Desc, int64(body.Version)
	}
	whole := tree.Span{Len: int32(end)}
	if sink != nil && !sink.Begin(tree.Event{Desc: message, Span: whole, Aux: version}) {
		d.sink = nil
	}
	d.size()
	if header != nil && !d.r.Failed() {
		d.group(header.Desc, tree.FlagHeader, int64(header.Version), header.Root)
	}
	var res Result
	if body != nil && !d.r.Failed() {
		d.group(body.Body, tree.FlagBody, int64(body.Version), body.Root)
	}
	res = d.result()
	d.rest(captured, res, body != nil)
	if sink != nil {
		sink.End(tree.Event{Desc: message, Span: whole, Aux: version})
	}
	d.sink = nil
	return res
}

// Body decodes a body that starts at b[off:] and may go on to the end of b. Offsets of events
// are those in b. A nil sink only checks. Bytes behind the body are the caller's.
func (d *Decoder) Body(b []byte, off int, p *schema.Plan, sink tree.Sink) Result {
	d.begin(b, off, len(b), p, sink)
	d.group(p.Body, tree.FlagBody, int64(p.Version), p.Root)
	d.sink = nil
	return d.result()
}

func (d *Decoder) begin(b []byte, off, end int, p *schema.Plan, sink tree.Sink) {
	d.r.Reset(b, off, end)
	d.sink = sink
	d.path = d.path[:0]
	d.reported, d.contained, d.config, d.marked = false, false, nil, false
	if d.Records != nil {
		d.Records.Reset()
	}
	if d.Payloads != nil {
		d.Payloads.Begin(p, d.Context)
	}
	d.Context = Context{}
}

func (d *Decoder) result() Result {
	res := Result{End: d.r.Off(), Contained: d.contained}
	if err := d.r.Err(); err != nil {
		res.Err, res.Failed = *err, true
	}
	return res
}

// size decodes the length prefix of a frame.
func (d *Decoder) size() {
	e := tree.Event{Desc: frameDesc, Span: tree.Span{Len: 4}, Aux: -1}
	off, sink := d.open(e)
	d.number(sizeDesc, 0, -1, int64(d.r.Int32()), 0)
	d.close(e, off, sink)
}

// group decodes the fields of a header or a body.
func (d *Decoder) group(desc *tree.Desc, flag tree.Flags, version int64, s *schema.Struct) {
	e := tree.Event{Desc: desc, Aux: version, Flags: flag}
	off, sink := d.open(e)
	d.fields(s)
	d.close(e, off, sink)
}

// open begins a group at the present offset. It returns that and the sink to give to close.
func (d *Decoder) open(e tree.Event) (int, tree.Sink) {
	off, sink := d.r.Off(), d.sink
	if sink != nil {
		e.Span.Off = int32(off)
		if e.Span.Len == 0 {
			e.Span.Len = -1
		}
		if !sink.Begin(e) {
			d.sink = nil
		}
	}
	return off, sink
}

// close ends a group that began at off.
func (d *Decoder) close(e tree.Event, off int, sink tree.Sink) {
	d.sink = sink
	d.end(e, off)
}

func (d *Decoder) end(e tree.Event, off int) {
	if d.sink == nil {
		return
	}
	d.report()
	e.Span = tree.Span{Off: int32(off), Len: int32(d.r.Off() - off)}
	d.sink.End(e)
}

// report tells of the error that sticks, once, before the groups around it end. Below a group
// that the sink skipped, the group's end tells.
func (d *Decoder) report() {
	if !d.r.Failed() || d.reported || d.sink == nil {
		return
	}
	d.reported = true
	err, code := d.r.Err(), tree.CodeMalformed
	if err.Class == wire.Truncated {
		code = tree.CodeTruncated
	}
	d.issue(tree.Error, code, err.Off, 0, err.Error())
}

// issue reports trouble at off.
func (d *Decoder) issue(s tree.Severity, c tree.Code, off, n int, text string) {
	d.sink.Issue(tree.Issue{Severity: s, Code: c, Span: tree.Span{Off: int32(off), Len: int32(n)}, Path: where(d.path), Text: text})
}

// fields decodes a struct's fields and its tag section.
func (d *Decoder) fields(s *schema.Struct) {
	if d.sink == nil && s.FixedSize >= 0 {
		d.r.Skip(s.FixedSize)
		return
	}
	for i := range s.Fields {
		if d.r.Failed() {
			return
		}
		d.field(&s.Fields[i], 0, -1)
	}
	if s.Flexible && !d.r.Failed() {
		d.tags(s)
	}
}

// field decodes one field or one element of an array.
func (d *Decoder) field(f *schema.Field, flags tree.Flags, index int32) {
	d.path = append(d.path, step{f.Desc, index})
	d.value(f, flags, index)
	d.report()
	d.path = d.path[:len(d.path)-1]
}

// marker reads what a nullable struct begins with: below 0 it is null. A tagged one has a uvarint.
func (d *Decoder) marker(tagged bool) int64 {
	if tagged {
		return int64(d.r.Uvarint()) - 1
	}
	return int64(d.r.Int8())
}

// nested decodes a struct, with its marker where it is nullable.
func (d *Decoder) nested(f *schema.Field, flags tree.Flags, index int32, off int) {
	if !f.Nullable || flags&tree.FlagElement != 0 {
		e := tree.Event{Desc: f.Desc, Index: index, Flags: flags, Aux: -1}
		_, sink := d.open(e)
		d.fields(f.Struct)
		d.close(e, off, sink)
		return
	}
	// Whether it is null shows in the marker, which is read ahead of the group it belongs to.
	mark := d.marker(flags&tree.FlagTagged != 0)
	if d.r.Failed() {
		d.r.Rewind(off)
		return
	}
	if mark < 0 {
		d.null(f, flags, index, mark, off)
		return
	}
	end := d.r.Off()
	e := tree.Event{Desc: f.Desc, Index: index, Flags: flags, Aux: -1}
	sink := d.sink
	if sink != nil {
		e.Span = tree.Span{Off: int32(off), Len: -1}
		if !sink.Begin(e) {
			d.sink = nil
		}
	}
	if d.sink != nil {
		sent := mark
		if flags&tree.FlagTagged != 0 {
			sent++
		}
		d.sink.Leaf(tree.Event{Desc: f.Marker, Span: tree.Span{Off: int32(off), Len: int32(end - off)}, Value: tree.Value{Num: sent}, Flags: tree.FlagStructural})
	}
	d.fields(f.Struct)
	d.close(e, off, sink)
}

// array decodes a count and that many elements.
func (d *Decoder) array(f *schema.Field, flags tree.Flags, index int32, off int) {
	sent, n := d.longLength(f.Compact, off)
	end := d.r.Off()
	if n >= 0 {
		d.r.Count(int64(n), f.Elem.MinSize, off)
	}
	if d.r.Failed() {
		// A count that cannot be: the group is not begun, so that nothing claims elements.
		d.r.Rewind(off)
		return
	}
	e := tree.Event{Desc: f.Desc, Span: tree.Span{Off: int32(off), Len: -1}, Index: index, Count: int32(min(n, math.MaxInt32)), Aux: sent, Flags: flags}
	if n < 0 {
		e.Flags |= tree.FlagNull
	}
	sink := d.sink
	if sink != nil && !sink.Begin(e) {
		d.sink = nil
	}
	if d.sink != nil {
		d.sink.Leaf(tree.Event{Desc: f.Length, Span: tree.Span{Off: int32(off), Len: int32(end - off)}, Value: tree.Value{Num: sent}, Flags: tree.FlagStructural})
		if n < 0 {
			d.checkNull(f, off)
		}
	}
	d.elements(f.Elem, n)
	d.close(e, off, sink)
}

func (d *Decoder) elements(f *schema.Field, n int) {
	if d.sink == nil && f.FixedSize >= 0 {
		if n > 0 {
			d.r.Skip(n * f.FixedSize) // no overflow: Count held n*MinSize to the bytes left
		}
		return
	}
	for i := 0; i < n && !d.r.Failed(); i++ {
		d.field(f, tree.FlagElement, int32(i))
	}
}

// records decodes the length of a record set and hands its bytes on.
func (d *Decoder) records(f *schema.Field, flags tree.Flags, index int32, off int) {
	sent, n := d.longLength(f.Compact, off)
	if d.r.Failed() {
		d.r.Rewind(off)
		return
	}
	if n < 0 {
		d.null(f, flags, index, sent, off)
		return
	}
	start := d.r.Off()
	have := min(n, d.r.Captured())
	fits := n <= d.r.Left()
	if d.sink == nil || !fits {
		d.r.Bytes(n)
		if d.r.Failed() {
			d.r.Rewind(off)
		}
		return
	}
	e := tree.Event{Desc: f.Desc, Span: tree.Span{Off: int32(off), Len: int32(start - off + n)}, Aux: sent, Index: index, Count: -1, Flags: flags,
		Value: tree.Value{Num: int64(n), Bytes: d.r.Buf()[start : start+have : start+have]}}
	sink := d.sink
	if sink.Begin(e) {
		sink.Leaf(tree.Event{Desc: f.Length, Span: d.since(off), Value: tree.Value{Num: sent}, Flags: tree.FlagStructural})
		d.recordSet(e.Value.Bytes, tree.Span{Off: int32(start), Len: int32(have)}, sink)
	}
	d.r.Skip(have)
	d.r.Skip(n - have) // fails where bytes were not captured
	e.Value = tree.Value{}
	d.end(e, off)
}

// recordSet gives the events of the captured bytes of a record set.
func (d *Decoder) recordSet(b []byte, span tree.Span, sink tree.Sink) {
	switch {
	case len(b) == 0:
	case d.Records != nil:
		d.Records.Walk(b, span, d.places.where(d.path), sink)
	default:
		sink.Leaf(tree.Event{Desc: restDesc, Span: span, Value: tree.Value{Bytes: b}, Flags: tree.FlagStructural})
	}
}

// rest covers what was not decoded in a frame: bytes behind the body, or behind an error.
func (d *Decoder) rest(captured int, res Result, known bool) {
	off := res.End
	if d.sink == nil || off >= captured {
		return
	}
	b := d.r.Buf()[off:captured]
	span := tree.Span{Off: int32(off), Len: int32(len(b))}
	desc := restDesc
	switch {
	case res.Failed:
	case !known:
		desc = rawDesc
	default:
		desc = trailingDesc
	}
	d.sink.Leaf(tree.Event{Desc: desc, Span: span, Value: tree.Value{Bytes: b}, Flags: tree.FlagStructural})
	if desc == trailingDesc {
		d.sink.Issue(trailing(span))
	}
}

// trailing says that bytes follow a body.
func trailing(span tree.Span) tree.Issue {
	return tree.Issue{Severity: tree.Info, Code: tree.CodeTrailing, Span: span, Text: "bytes behind the end of the body"}
}
