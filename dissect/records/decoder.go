package records

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

// Decoder walks record sets. Its zero value is ready, with the default Limits. It keeps its
// codecs and buffers, and is neither safe for concurrent use nor reentrant.
type Decoder struct {
	limits   Limits
	inflater inflater
	buf      []byte // of the derived source under way
	spent    int    // bytes decompressed since Reset
	sources  int32  // given out since Reset

	// Of the walk under way.
	sink   tree.Sink
	opt    Options
	src    source
	rd     wire.Reader
	rec    Record
	issues int
	batch  int32 // index of the open batch
	record int32 // index of the open record, or -1
	v2     batch
}

// source is the buffer that offsets are of, and where it lies in the spans of events.
type source struct {
	buf  []byte
	id   int32
	base int32
	// cut is set for a derived buffer that is not all there; that was reported.
	cut bool
}

// keepBuffer is the largest buffer that is kept from one frame to the next.
const keepBuffer = 4 << 20

// New returns a Decoder with the given limits.
func New(l Limits) *Decoder { return &Decoder{limits: l.withDefaults()} }

// Reset begins a new frame: derived sources are numbered from 1 again.
func (d *Decoder) Reset() {
	d.sources, d.spent = 0, 0
	if cap(d.buf) > keepBuffer {
		d.buf = nil
	}
}

// NextSource returns the number for a further derived source of the frame.
func (d *Decoder) NextSource() int32 {
	d.sources++
	return d.sources
}

// Walk reports the inside of a record set: data are its bytes, without the length in front of
// them, and base says where they lie. Every batch is an element; bytes that are no batch are
// leaves of kind KindRest. The result is that of Summarize. The bytes of a derived source die
// with the batch that it was made from.
func (d *Decoder) Walk(data []byte, base tree.Span, sink tree.Sink, opt Options) Summary {
	if d.limits == (Limits{}) {
		d.limits = d.limits.withDefaults()
	}
	d.sink, d.opt, d.issues = sink, opt, 0
	d.src = source{buf: data, id: base.Source, base: base.Off}
	d.record = -1
	end := len(data) + opt.Missing
	d.batch = 0
	for off := 0; off < end; d.batch++ {
		e := readHead(data, off, end)
		if e.state != entryWhole {
			d.tail(e)
			break
		}
		d.entry(e)
		off = e.end
	}
	d.sink, d.opt, d.src.buf, d.rec = nil, Options{}, nil, Record{}
	return Summarize(data, opt.Missing)
}

// entry reports one batch or message.
func (d *Decoder) entry(e entry) {
	switch e.magic {
	case 0, 1:
		d.message(e)
	case 2:
		d.walkBatch(e)
	default:
		d.rest(descUnknown, e.off, e.end)
		d.issue(tree.Warning, tree.CodeUnsupported, e.off, e.end-e.off, "magic "+strconv.Itoa(int(e.magic)))
	}
}

// tail reports what follows the last entry of a set.
func (d *Decoder) tail(e entry) {
	n := e.end - e.off
	switch e.state {
	case entryPartial:
		severity := tree.Info
		if d.opt.Whole {
			severity = tree.Warning
		}
		want := "at least " + strconv.Itoa(minEntry)
		if e.length >= 0 {
			want = strconv.FormatInt(headSize+int64(e.length), 10)
		}
		d.rest(descPartial, e.off, e.end)
		d.issue(severity, tree.CodePartial, e.off, n, "partial batch, have "+strconv.Itoa(n)+" of "+want)
	case entryCut:
		d.rest(descCut, e.off, e.end)
		d.issue(tree.Warning, tree.CodeTruncated, e.off, n, "the batch was not captured whole")
	default:
		d.rest(descUnknown, e.off, e.end)
		d.issue(tree.Warning, tree.CodeMalformed, e.off, n, "batch length "+strconv.Itoa(int(e.length)))
	}
}

// span returns where [off, off+n) of the current source lies.
func (d *Decoder) span(off, n int) tree.Span {
	return tree.Span{Source: d.src.id, Off: d.src.base + int32(off), Len: int32(n)}
}

// leaf reports a number that takes n bytes.
func (d *Decoder) leaf(desc *tree.Desc, off, n int, num int64) {
	d.sink.Leaf(tree.Event{Desc: desc, Span: d.span(off, n), Value: tree.Value{Num: num}})
}

// structural reports a length or count that takes n bytes.
func (d *Decoder) structural(desc *tree.Desc, off, n int, num int64) {
	d.sink.Leaf(tree.Event{Desc: desc, Span: d.span(off, n), Value: tree.Value{Num: num}, Flags: tree.FlagStructural})
}

// computed reports a number without bytes of its own.
func (d *Decoder) computed(desc *tree.Desc, off int, num int64) {
	d.sink.Leaf(tree.Event{Desc: desc, Span: d.span(off, 0), Value: tree.Value{Num: num}, Flags: tree.FlagComputed})
}

// word reports a word without bytes of its own.
func (d *Decoder) word(desc *tree.Desc, off int, word []byte) {
	d.sink.Leaf(tree.Event{Desc: desc, Span: d.span(off, 0), Value: tree.Value{Bytes: word}, Flags: tree.FlagComputed})
}

// flag reports a bool without bytes of its own.
func (d *Decoder) flag(desc *tree.Desc, off int, v bool) {
	var num int64
	if v {
		num = 1
	}
	d.computed(desc, off, num)
}

// bytes reports counted bytes, whose length takes the bytes from off to the content.
func (d *Decoder) bytes(desc *tree.Desc, off, end int, length int64, content []byte) {
	ev := tree.Event{Desc: desc, Span: d.span(off, end-off), Value: tree.Value{Bytes: content}, Aux: length}
	if length < 0 {
		ev.Flags = tree.FlagNull
	}
	d.sink.Leaf(ev)
}

// checksum reports a stored checksum at off and the one computed over body, or only the first
// where body was not captured whole.
func (d *Decoder) checksum(desc *tree.Desc, off int, stored uint32, sum func([]byte) uint32, body []byte, whole bool) {
	ev := tree.Event{Desc: desc, Span: d.span(off, 4), Value: tree.Value{Num: int64(stored)}}
	if !whole || d.opt.SkipChecksums {
		d.sink.Leaf(ev)
		return
	}
	computed := sum(body)
	ev.Aux = int64(computed)
	ev.Flags = tree.FlagChecked
	d.sink.Leaf(ev)
	if computed != stored {
		d.issue(tree.Warning, tree.CodeChecksum, off, 4,
			"crc 0x"+hex32(stored)+", computed 0x"+hex32(computed))
	}
}

func hex32(v uint32) string {
	s := strconv.FormatUint(uint64(v), 16)
	return "00000000"[len(s):] + s
}

// rest reports the captured bytes from off to end as undecoded.
func (d *Decoder) rest(desc *tree.Desc, off, end int) {
	end = min(end, len(d.src.buf))
	if off >= end {
		return
	}
	d.sink.Leaf(tree.Event{
		Desc: desc, Span: d.span(off, end-off),
		Value: tree.Value{Bytes: d.src.buf[off:end:end]}, Flags: tree.FlagStructural,
	})
}

// unread reports why reading stopped and the bytes from there to end. In a derived source that
// is known to be cut, running into its end is no news.
func (d *Decoder) unread(err *wire.Error, end int) {
	if err.Class == wire.Malformed {
		d.rest(descUnknown, d.rd.Off(), end)
		if !d.silent() {
			d.issue(tree.Warning, tree.CodeMalformed, err.Off, end-err.Off, err.Error())
		}
		return
	}
	d.rest(descCut, d.rd.Off(), end)
	if !d.src.cut && !d.silent() {
		d.issue(tree.Warning, tree.CodeTruncated, err.Off, end-err.Off, err.Error())
	}
}

// silent reports whether further issues would not be reported.
func (d *Decoder) silent() bool { return d.issues > d.limits.Issues }

// issue reports trouble at [off, off+n) of the current source, up to the limit.
func (d *Decoder) issue(s tree.Severity, c tree.Code, off, n int, text string) {
	if d.silent() {
		return
	}
	d.issues++
	if d.silent() {
		s, c, text = tree.Warning, tree.CodeLimit, "more than "+strconv.Itoa(d.limits.Issues)+" issues in one record set"
	}
	n = max(0, min(n, len(d.src.buf)-off))
	d.sink.Issue(tree.Issue{Severity: s, Code: c, Span: d.span(off, n), Path: d.path(), Text: text})
}

func (d *Decoder) path() string {
	p := d.opt.Path + "[" + strconv.Itoa(int(d.batch)) + "]"
	if d.record >= 0 {
		p += ".records[" + strconv.Itoa(int(d.record)) + "]"
	}
	return p
}

// enter makes a derived buffer the current source and returns the one it replaces.
func (d *Decoder) enter(s source) (outer source) {
	outer, d.src = d.src, s
	return outer
}
