package output

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/kdissect/kdissect/tree"
)

// body is a tree.Sink that writes the JSON of a frame's body, and of its header if asked,
// behind buf, as Kafka's JsonConverter does: members in the order of the schema, whatever
// their order on the wire.
//
// Every member and element is written with a comma before it. When its object or array ends,
// the first comma becomes the opening bracket: so nothing needs to know whether it is the
// first, and members can change places.
type body struct {
	buf         []byte
	plain       bool
	bytes       BytesForm
	showSecrets bool
	values      tree.Values
	wantHeader  bool // write the header as an object too
	hideRest    bool // bytes of unknown layout may hold secrets

	long Long // takes what is over next; nil: nothing
	held int  // bytes that are kept for members that come late
	next int  // length from which on buf is spilled
	full bool // no more text may come
	told bool // that it is, with an issue

	plainKeys plainKeys
	levels    []level
	pieces    []piece // of the objects that are open
	scratch   []byte

	header, root extent // in buf; set when complete
	hasRoot      bool   // a body, or what stands for it, was begun
	tag          []byte // bytes of the unknown tag that is open
	tags         []byte // unknown tags as JSON objects, each with a comma before it
	headerTags   []byte
	issues       []byte // issues as JSON objects, each with a comma before it
	issueSide    string // put in front of their paths
	issuesLeft   int    // left out
	limited      bool   // a limit of ours was hit
}

// extent is a range of a buffer.
type extent struct{ from, to int }

func (e extent) in(b []byte) []byte { return b[e.from:e.to] }

// levelKind says what an open group is in JSON.
type levelKind uint8

const (
	levelSkip   levelKind = iota // nothing: what it holds is passed over
	levelPass                    // nothing, but what it holds belongs to the group around it
	levelObject                  // an object
	levelArray                   // an array
)

// level is an open group.
type level struct {
	desc    *tree.Desc
	kind    levelKind
	holder  int32 // the level that members go to: this one, or one around it; -1 for none
	index   int32 // of an element, else -1
	tag     int32 // of an unknown tagged field, else -1
	flags   tree.Flags
	record  bool // inside a record set
	mixed   bool // the members are not in the order of the schema
	settled bool // its opening bracket is written
	root    bool // the header's or the body's object
	at      int  // where its text starts
	pieces  int  // its first in body.pieces
}

// piece is a member of an open object: its text goes from at to the next piece.
type piece struct {
	order  int32
	at, to int
}

// reset makes s ready for a frame whose JSON is to follow buf.
func (s *body) reset(buf []byte) {
	s.buf = buf
	s.levels, s.pieces = s.levels[:0], s.pieces[:0]
	s.header, s.root, s.hasRoot = extent{}, extent{}, false
	s.tags, s.headerTags = s.tags[:0], s.headerTags[:0]
	switch {
	case s.long == nil:
		s.next = math.MaxInt
	case !s.full:
		s.next = spillAt
	}
}

// finish ends what is still open and gives the buffer back.
func (s *body) finish() []byte {
	for len(s.levels) > 0 {
		s.End(tree.Event{})
	}
	return s.buf
}

func (s *body) top() *level {
	if len(s.levels) == 0 {
		return nil
	}
	return &s.levels[len(s.levels)-1]
}

// push opens a level inside the present one.
func (s *body) push(e *tree.Event, kind levelKind) *level {
	n := len(s.levels)
	holder, record := int32(-1), false
	if up := s.top(); up != nil {
		holder, record = up.holder, up.record
	}
	if kind == levelObject || kind == levelArray {
		holder = int32(n)
	}
	index := int32(-1)
	if e.Has(tree.FlagElement) {
		index = e.Index
	}
	if n < cap(s.levels) {
		s.levels = s.levels[:n+1]
	} else {
		s.levels = append(s.levels, level{})
	}
	// In place: the processor would have to wait for a copy of what was just stored.
	l := &s.levels[n]
	l.desc, l.kind, l.holder, l.index, l.tag, l.flags = e.Desc, kind, holder, index, -1, e.Flags
	l.record, l.mixed, l.settled, l.root = record, false, false, false
	l.at, l.pieces = len(s.buf), len(s.pieces)
	return l
}

// holder returns the object or array that members now go to, or nil.
func (s *body) holder() *level {
	up := s.top()
	if up == nil || up.holder < 0 {
		return nil
	}
	return &s.levels[up.holder]
}

// Begin implements tree.Sink.
func (s *body) Begin(e tree.Event) bool {
	up := s.top()
	if up != nil && up.kind == levelSkip || !s.room() && s.leftOut(&e) {
		s.push(&e, levelSkip)
		return false
	}
	switch {
	case e.Desc.Kind == tree.KindTags:
		s.push(&e, levelPass)
		return true
	case e.Desc.Kind == tree.KindTag:
		l := s.push(&e, levelPass)
		if e.Has(tree.FlagUnknownTag) {
			l.tag, s.tag = int32(e.Aux), nil
		}
		return true
	}
	h := s.holder()
	if h == nil {
		return s.outside(&e)
	}
	switch e.Desc.Kind {
	case tree.KindRecords:
		return s.records(h, &e)
	case tree.KindPayload:
		return s.payload(h, &e)
	}
	if !s.name(h, &e, "") {
		s.push(&e, levelSkip)
		return false
	}
	if e.Has(tree.FlagNull) {
		s.buf = append(s.buf, "null"...)
		s.push(&e, levelSkip)
		return false
	}
	kind := levelObject
	if e.Desc.Kind == tree.KindArray {
		kind = levelArray
	}
	s.push(&e, kind)
	return true
}

// outside begins a group that is not inside a body or a header that is written.
func (s *body) outside(e *tree.Event) bool {
	switch {
	case e.Has(tree.FlagBody) && !s.hasRoot:
		s.hasRoot = true
		s.push(e, levelObject).root = true
	case e.Has(tree.FlagHeader) && s.wantHeader && s.header == (extent{}):
		s.push(e, levelObject).root = true
	case e.Has(tree.FlagHeader), e.Desc.Kind == tree.KindMessage:
		s.push(e, levelPass)
	default:
		s.push(e, levelSkip)
		return false
	}
	return true
}

// name writes what comes before a value in h. It reports false where the event has no place
// there.
func (s *body) name(h *level, e *tree.Event, suffix string) bool {
	if h.kind == levelArray {
		s.buf = append(s.buf, ',')
		return true
	}
	if e.Desc.Key == "" {
		return false
	}
	if len(s.pieces) > h.pieces && s.pieces[len(s.pieces)-1].order > e.Desc.Order {
		h.mixed = true
	}
	s.pieces = append(s.pieces, piece{order: e.Desc.Order, at: len(s.buf)})
	s.buf = append(s.buf, ',', '"')
	if s.plainKeys.hold(e.Desc) {
		s.buf = append(s.buf, e.Desc.Key...)
	} else {
		s.buf = appendKey(s.buf, e.Desc.Key)
	}
	s.buf = append(s.buf, suffix...)
	s.buf = append(s.buf, '"', ':')
	return true
}

// plainKeys remembers members whose names JSON shows as they are: looking at each letter again would
// take as long as writing the values. Names that users' schemas give may hold anything.
type plainKeys [1024]*tree.Desc

// hold reports whether d is one.
func (p *plainKeys) hold(d *tree.Desc) bool {
	at := &p[uintptr(unsafe.Pointer(d))/16%uintptr(len(p))]
	if *at == d {
		return true
	}
	if !plainKey(d.Key) {
		return false
	}
	*at = d
	return true
}

func plainKey(key string) bool {
	for i := 0; i < len(key); i++ {
		if c := key[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendKey appends a member's name without its quotes.
func appendKey(b []byte, key string) []byte {
	if plainKey(key) {
		return append(b, key...)
	}
	from := len(b)
	b = appendString(b, key)
	copy(b[from:], b[from+1:len(b)-1])
	return b[:len(b)-2]
}

// records begins a record set: its size, and the batches where they are wanted.
func (s *body) records(h *level, e *tree.Event) bool {
	whole := s.plain && s.bytes == BytesBase64
	null := e.Has(tree.FlagNull)
	if h.kind == levelObject && !whole && !null {
		if !s.name(h, e, "SizeInBytes") {
			s.push(e, levelSkip)
			return false
		}
		s.buf = strconv.AppendInt(s.buf, e.Value.Num, 10)
		if s.plain {
			s.push(e, levelSkip)
			return false
		}
	}
	if !s.name(h, e, "") {
		s.push(e, levelSkip)
		return false
	}
	switch {
	case null:
		s.buf = append(s.buf, "null"...)
	case whole && s.values != tree.ValuesFull:
		s.withheld(e.Value.Bytes)
	case whole:
		s.base64(e, e.Value.Bytes)
	default:
		s.push(e, levelArray).record = true
		return true
	}
	s.push(e, levelSkip)
	return false
}

// payload begins what bytes were found to hold, which stands beside them.
func (s *body) payload(h *level, e *tree.Event) bool {
	if s.plain || !s.name(h, e, "") {
		s.push(e, levelSkip)
		return false
	}
	s.push(e, levelObject).record = false // bytes inside are written as Kafka does
	return true
}

// Leaf implements tree.Sink.
func (s *body) Leaf(e tree.Event) {
	up := s.top()
	if up != nil && up.kind == levelSkip || !s.room() && s.leftOut(&e) {
		return
	}
	if e.Has(tree.FlagUnknownTag) {
		s.tag = e.Value.Bytes
		return
	}
	h := s.holder()
	if h == nil {
		if e.Desc.Kind == tree.KindRest && !s.hasRoot {
			s.raw(&e)
		}
		return
	}
	if e.Has(tree.FlagStructural) || e.Desc.Kind == tree.KindRest || e.Has(tree.FlagElided) || !s.name(h, &e, "") {
		return
	}
	s.value(&e, h.record)
	if e.Has(tree.FlagChecked) && s.name(h, &e, "Valid") {
		s.buf = strconv.AppendBool(s.buf, e.Value.Num == e.Aux)
	}
}

// raw writes {"raw":".."} in place of a body whose layout is unknown.
func (s *body) raw(e *tree.Event) {
	s.hasRoot = true
	s.root.from = len(s.buf)
	if s.plain {
		s.buf = append(s.buf, "{}"...)
	} else {
		s.buf = append(s.buf, `{"raw":`...)
		if (s.hideRest || e.Desc.Secret) && !s.showSecrets {
			s.hidden(len(e.Value.Bytes))
		} else if e.Desc.Data && s.values != tree.ValuesFull {
			s.withheld(e.Value.Bytes)
		} else {
			s.base64(e, e.Value.Bytes)
		}
		s.buf = append(s.buf, '}')
	}
	s.root.to = len(s.buf)
}

func (s *body) hidden(n int) {
	s.buf = append(s.buf, '"')
	s.buf = appendHidden(s.buf, n)
	s.buf = append(s.buf, '"')
}

// withheld writes what is shown of the contents of a record.
func (s *body) withheld(b []byte) {
	s.buf = append(s.buf, '"')
	s.buf = s.values.Append(s.buf, b)
	s.buf = append(s.buf, '"')
}

// value writes a scalar.
func (s *body) value(e *tree.Event, record bool) {
	d, v := e.Desc, e.Value
	switch {
	case e.Has(tree.FlagNull):
		s.buf = append(s.buf, "null"...)
		return
	case d.Secret && !s.showSecrets:
		n := len(v.Bytes)
		if v.Bytes == nil {
			n = int(e.Span.Len)
		}
		s.hidden(n)
		return
	case d.Data && s.values != tree.ValuesFull:
		s.withheld(v.Bytes)
		return
	}
	num := v.Num
	if d.Derived {
		num = e.Aux
	}
	switch d.Kind {
	case tree.KindBool:
		s.buf = strconv.AppendBool(s.buf, num != 0)
	case tree.KindFloat64:
		s.buf = appendFloat(s.buf, math.Float64frombits(uint64(num)))
	case tree.KindString:
		if len(v.Bytes) > longValue {
			s.quoted(e, v.Bytes)
			return
		}
		s.buf = appendQuoted(s.buf, v.Bytes)
	case tree.KindBytes:
		s.blob(e, record)
	case tree.KindUUID:
		s.buf = append(s.buf, '"')
		s.buf = appendUUID(s.buf, v.Bytes)
		s.buf = append(s.buf, '"')
	case tree.KindInt8, tree.KindInt16, tree.KindInt32, tree.KindInt64, tree.KindVarint,
		tree.KindUint8, tree.KindUint16, tree.KindUint32:
		s.buf = strconv.AppendInt(s.buf, num, 10)
	case tree.KindUvarint:
		s.buf = strconv.AppendUint(s.buf, uint64(num), 10)
	default: // a group that came as a leaf: only null ones do
		s.buf = append(s.buf, "null"...)
	}
}

// blob writes bytes: those of records in the form asked for, others as Kafka does.
func (s *body) blob(e *tree.Event, record bool) {
	p := e.Value.Bytes
	switch {
	case !record || s.bytes == BytesBase64:
		s.base64(e, p)
	case s.bytes == BytesHex:
		s.hex(e, p)
	case !utf8.Valid(p):
		s.buf = append(s.buf, `{"base64":`...)
		s.base64(e, p)
		s.buf = append(s.buf, '}')
	case len(p) > longValue:
		s.quoted(e, p)
	default:
		s.buf = appendQuoted(s.buf, p)
	}
}

// End implements tree.Sink.
func (s *body) End(tree.Event) {
	l := s.top()
	if l == nil {
		return
	}
	switch l.kind {
	case levelObject:
		switch {
		case l.mixed && l.settled:
			s.disordered(l)
		case l.mixed:
			s.sort(l)
		}
		s.close(l, '{', '}')
		s.pieces = s.pieces[:l.pieces]
	case levelArray:
		s.close(l, '[', ']')
	case levelPass:
		if l.tag >= 0 {
			s.unknownTag(l.tag)
		}
	}
	s.levels = s.levels[:len(s.levels)-1]
}

// close turns the first comma of a level into its opening bracket and adds the closing one.
func (s *body) close(l *level, open, closing byte) {
	switch {
	case l.settled:
	case len(s.buf) == l.at:
		s.buf = append(s.buf, open)
	default:
		s.buf[l.at] = open
	}
	s.buf = append(s.buf, closing)
	switch {
	case !l.root:
	case l.flags&tree.FlagBody != 0:
		s.root = extent{l.at, len(s.buf)}
	default:
		s.header = extent{l.at, len(s.buf)}
	}
}

// sort puts the members of an object into the order of the schema.
func (s *body) sort(l *level) {
	p := s.pieces[l.pieces:]
	for i := range p[:len(p)-1] {
		p[i].to = p[i+1].at
	}
	p[len(p)-1].to = len(s.buf)
	s.scratch = append(s.scratch[:0], s.buf[l.at:]...)
	slices.SortStableFunc(p, func(a, b piece) int { return int(a.order) - int(b.order) })
	out := s.buf[:l.at]
	for _, m := range p {
		out = append(out, s.scratch[m.at-l.at:m.to-l.at]...)
	}
	s.buf = out
}

// Source implements tree.Sink; JSON has no place for where bytes came from.
func (s *body) Source(int32, []byte, tree.Span, string) {}
