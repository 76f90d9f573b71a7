package records

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

// fields are the places of a record's fields in its source. done counts how many of them could
// be read; the rest is void.
type fields struct {
	done                         int
	start, attributes, timestamp int
	offset, key, value, headers  int
	end                          int // of the record, captured or not
	length                       int32
	unused                       int8
	timestampDelta               int64
	offsetDelta                  int32
	keyLength, valueLength       int32
}

// Number of fields read at each step, in the order of the bytes.
const (
	readAttributes = 1 + iota
	readTimestamp
	readOffset
	readKey
	readValue
)

// walkRecords reports the records in [off, end) of the current source.
func (d *Decoder) walkRecords(off, end int) {
	d.rd.Reset(d.src.buf, off, end)
	for d.rd.Left() > 0 && d.nextRecord(end) {
		d.v2.found++
	}
	d.record = -1
}

// nextRecord reports one record. It returns false where the next one cannot be found.
func (d *Decoder) nextRecord(end int) bool {
	r := &d.rd
	d.record = d.v2.found
	f := fields{start: r.Off()}
	f.length = r.Varint()
	f.attributes = r.Off()
	outer := r.Narrow(int(f.length))
	if f.length < minRecord-1 {
		r.Fail(wire.Malformed, f.start, wire.BadValue, int64(f.length), 0)
	}
	if r.Failed() {
		d.v2.undecodeable = true
		err := *r.Err()
		r.Rewind(f.start)
		err.Off = f.start
		d.unread(&err, end)
		return false
	}
	f.end = r.End()
	d.scan(&f)
	captured := min(f.end, len(d.src.buf))
	group := tree.Event{
		Desc: descRecord, Span: d.span(f.start, captured-f.start), Index: d.record, Flags: tree.FlagElement,
	}
	if captured < f.end {
		group.Flags |= tree.FlagCut
	}
	if d.sink.Begin(group) {
		d.emit(&f)
	}
	d.check(&f)
	d.sink.End(group)
	whole := captured == f.end
	d.v2.undecodeable = d.v2.undecodeable || !whole
	r.Reset(d.src.buf, captured, outer)
	return whole
}

// scan reads the fields up to the headers, so that what depends on key and value is known before
// they are reported.
func (d *Decoder) scan(f *fields) {
	r := &d.rd
	if f.unused = r.Int8(); r.Failed() {
		return
	}
	f.timestamp = r.Off()
	f.done = readAttributes
	if f.timestampDelta = r.Varlong(); r.Failed() {
		return
	}
	f.offset = r.Off()
	f.done = readTimestamp
	if f.offsetDelta = r.Varint(); r.Failed() {
		return
	}
	f.key = r.Off()
	f.done = readOffset
	h := &d.v2
	d.rec = Record{
		Batch: d.batch, Index: d.record, Magic: 2,
		Offset:     h.baseOffset + int64(f.offsetDelta),
		Timestamp:  h.timestamp(f.timestampDelta),
		ProducerID: h.producerID, ProducerEpoch: h.producerEpoch, Sequence: h.sequence(int64(f.offsetDelta)),
		Transactional: h.attributes&attrTransactional != 0,
		Control:       NoControl,
	}
	d.rec.Key, f.keyLength = varBytes(r)
	if r.Failed() {
		r.Rewind(f.key)
		return
	}
	f.value = r.Off()
	f.done = readKey
	if h.attributes&attrControl != 0 {
		d.rec.Control = controlType(d.rec.Key)
	}
	d.rec.Value, f.valueLength = varBytes(r)
	if r.Failed() {
		r.Rewind(f.value)
		return
	}
	f.headers = r.Off()
	f.done = readValue
}

// varBytes reads bytes behind their varint length; -1 is null.
func varBytes(r *wire.Reader) ([]byte, int32) {
	off := r.Off()
	return counted(r, r.Varint(), off)
}

// counted reads n bytes, whose length was read at off, and returns them with n; -1 is null.
func counted(r *wire.Reader, n int32, off int) ([]byte, int32) {
	if n == -1 {
		return nil, n
	}
	if n < -1 {
		r.Fail(wire.Malformed, off, wire.NegativeLength, int64(n), 0)
		return nil, n
	}
	return r.Bytes(int(n)), n
}

// emit reports the inside of a record. The reader stands where scan stopped: at the headers, or
// at what could not be read.
func (d *Decoder) emit(f *fields) {
	d.structural(descLength, f.start, f.attributes-f.start, int64(f.length))
	if f.done >= readAttributes {
		d.structural(descRecordAttributes, f.attributes, 1, int64(f.unused))
	}
	if f.done >= readTimestamp {
		d.sink.Leaf(tree.Event{
			Desc: descTimestampDelta, Span: d.span(f.timestamp, f.offset-f.timestamp),
			Value: tree.Value{Num: f.timestampDelta}, Aux: d.v2.timestamp(f.timestampDelta),
		})
		if d.v2.attributes&attrLogAppend != 0 { // which hides it
			d.computed(descSentDelta, f.offset, f.timestampDelta)
		}
	}
	if f.done >= readOffset {
		d.sink.Leaf(tree.Event{
			Desc: descOffsetDelta, Span: d.span(f.offset, f.key-f.offset),
			Value: tree.Value{Num: int64(f.offsetDelta)}, Aux: d.rec.Offset,
		})
		d.computed(descSequence, f.key, int64(d.rec.Sequence))
	}
	secretKey, secretValue := d.secrets(f.done >= readKey)
	if f.done >= readKey {
		d.key(f, secretKey)
	}
	if f.done >= readValue {
		d.value(f, secretValue)
	}
	if f.done == readValue {
		d.headers(f)
	}
	if d.rd.Failed() {
		d.v2.undecodeable = true
		err := *d.rd.Err()
		d.unread(&err, f.end)
		return
	}
	if left := d.rd.Left(); left > 0 {
		d.rest(descUnknown, d.rd.Off(), f.end)
		d.issue(tree.Warning, tree.CodeMalformed, d.rd.Off(), left, strconv.Itoa(left)+" bytes behind the record's headers")
	}
}

// secrets asks which parts of the record are not to be shown.
func (d *Decoder) secrets(read bool) (key, value bool) {
	if !read || d.opt.Secret == nil {
		return false, false
	}
	return d.opt.Secret(&d.rec)
}

func (d *Decoder) key(f *fields, hide bool) {
	desc := descKey
	if hide {
		desc = descSecretKey
	}
	if d.v2.attributes&attrControl != 0 && len(d.rec.Key) >= controlKeySize {
		d.controlKey(desc, f)
		return
	}
	d.part(Key, desc, descKeyLength, f.key, f.value, f.keyLength)
}

func (d *Decoder) value(f *fields, hide bool) {
	desc := descValue
	if hide {
		desc = descSecretValue
	}
	if (d.rec.Control == Abort || d.rec.Control == Commit) && len(d.rec.Value) >= markerSize {
		d.marker(desc, f)
		return
	}
	d.part(Value, desc, descValueLength, f.value, f.headers, f.valueLength)
}

// part reports a key or value that takes [off, end): as one leaf, or as its length and what the
// payload decoder makes of the rest.
func (d *Decoder) part(p Part, desc, length *tree.Desc, off, end int, n int32) {
	data := d.rec.Key
	if p == Value {
		data = d.rec.Value
	}
	if len(data) == 0 || d.opt.Payload == nil || !d.opt.Payload.Claim(&d.rec, p) {
		d.bytes(desc, off, end, int64(n), data)
		return
	}
	start := d.opened(desc, length, off, end, data)
	d.opt.Payload.Walk(&d.rec, p, data, d.span(start, len(data)), d.sink)
}

// opened reports bytes whose inside follows: their value without bytes of its own, and the
// length in front of them. It returns where the inside starts.
func (d *Decoder) opened(desc, length *tree.Desc, off, end int, data []byte) int {
	start := end - len(data)
	d.sink.Leaf(tree.Event{
		Desc: desc, Span: d.span(off, 0), Value: tree.Value{Bytes: data},
		Aux: int64(len(data)), Flags: tree.FlagComputed,
	})
	d.structural(length, off, start-off, int64(len(data)))
	return start
}

// headers reports the headers of a record; errors stay in the reader.
func (d *Decoder) headers(f *fields) {
	r := &d.rd
	n := r.Varint()
	behind := r.Off()
	count := r.Count(int64(n), 2, f.headers)
	if r.Failed() {
		r.Rewind(f.headers)
		return
	}
	group := tree.Event{Desc: descHeaders, Span: d.span(f.headers, -1), Count: n}
	if !d.sink.Begin(group) {
		r.Rewind(f.end)
		group.Span = d.span(f.headers, min(f.end, len(d.src.buf))-f.headers)
		d.sink.End(group)
		return
	}
	d.structural(descHeaderCount, f.headers, behind-f.headers, int64(n))
	for i := 0; i < count && !r.Failed(); i++ {
		d.header(int32(i))
	}
	group.Span = d.span(f.headers, r.Off()-f.headers)
	d.sink.End(group)
}

func (d *Decoder) header(i int32) {
	start := d.rd.Off()
	group := tree.Event{Desc: descHeader, Span: d.span(start, -1), Index: i, Flags: tree.FlagElement}
	show := d.sink.Begin(group)
	if d.headerPart(descHeaderKey, show) {
		d.headerPart(descHeaderValue, show)
	}
	group.Span = d.span(start, d.rd.Off()-start)
	d.sink.End(group)
}

// headerPart reports the key or value of a header; only the value may be null. On an error the
// reader stays in front of it.
func (d *Decoder) headerPart(desc *tree.Desc, show bool) bool {
	r := &d.rd
	off := r.Off()
	data, n := varBytes(r)
	if n < 0 && !desc.Nullable {
		r.Fail(wire.Malformed, off, wire.NegativeLength, int64(n), 0)
	}
	if r.Failed() {
		r.Rewind(off)
		return false
	}
	if show {
		d.bytes(desc, off, r.Off(), int64(n), data)
	}
	return true
}

// check compares a record with the head of its batch.
func (d *Decoder) check(f *fields) {
	if f.done < readOffset {
		return
	}
	d.checkControl(f)
	h := &d.v2
	delta := int64(f.offsetDelta)
	if delta <= h.last && !h.outOfOrder {
		h.outOfOrder = true
		d.issue(tree.Warning, tree.CodeCount, f.offset, f.key-f.offset,
			"offset delta "+strconv.FormatInt(delta, 10)+" behind "+strconv.FormatInt(h.last, 10))
	}
	if delta > int64(h.lastOffsetDelta) && !h.behindLast {
		h.behindLast = true
		d.issue(tree.Warning, tree.CodeCount, f.offset, f.key-f.offset,
			"offset delta "+strconv.FormatInt(delta, 10)+", the batch's last is "+strconv.Itoa(int(h.lastOffsetDelta)))
	}
	h.last = max(h.last, delta)
	h.latest = max(h.latest, d.v2.timestamp(f.timestampDelta))
}
