package records

import (
	"hash/crc32"
	"math"

	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

// message is an entry of an old message set (magic 0 or 1), read as far as it could be.
type message struct {
	entry
	done         int // fields read, see below
	captured     int // end of what is there
	crc          uint32
	attributes   int8
	timestamp    int64 // -1 in magic 0
	key, value   int   // their places
	behind       int   // the value
	keyLen, vLen int32
}

// Fields of a message that were read.
const (
	messageCRC = 1 + iota
	messageMagic
	messageAttributesRead
	messageTimestamp
	messageKey
	messageValue
)

func (m *message) codec() Codec { return Codec(m.attributes & codecMask) }

// scanMessage reads an entry of the current source up to its value; errors stay in the reader.
func (d *Decoder) scanMessage(e entry) message {
	r := &d.rd
	m := message{entry: e, captured: min(e.end, len(d.src.buf)), timestamp: -1}
	r.Reset(d.src.buf, e.off+headSize, e.end)
	if m.crc = uint32(r.Int32()); r.Failed() {
		return m
	}
	m.done = messageCRC
	if r.Int8(); r.Failed() {
		return m
	}
	m.done = messageMagic
	if m.attributes = r.Int8(); r.Failed() {
		return m
	}
	m.done = messageAttributesRead
	if e.magic == 1 {
		if m.timestamp = r.Int64(); r.Failed() {
			return m
		}
	}
	m.done = messageTimestamp
	d.rec = Record{
		Batch: d.batch, Magic: e.magic, Offset: e.offset, Timestamp: m.timestamp,
		ProducerID: -1, ProducerEpoch: -1, Sequence: -1, Control: NoControl,
	}
	m.key = r.Off()
	if d.rec.Key, m.keyLen = longBytes(r); r.Failed() {
		r.Rewind(m.key)
		return m
	}
	m.done = messageKey
	m.value = r.Off()
	if d.rec.Value, m.vLen = longBytes(r); r.Failed() {
		r.Rewind(m.value)
		return m
	}
	m.done = messageValue
	m.behind = r.Off()
	return m
}

// longBytes reads bytes behind their int32 length; -1 is null.
func longBytes(r *wire.Reader) ([]byte, int32) {
	off := r.Off()
	return counted(r, r.Int32(), off)
}

// message reports an entry of magic 0 or 1 in the record set itself: for JSON, a batch.
func (d *Decoder) message(e entry) {
	captured := min(e.end, len(d.src.buf))
	group := tree.Event{
		Desc: descMessage, Span: d.span(e.off, captured-e.off), Aux: int64(e.magic),
		Index: d.batch, Flags: tree.FlagElement,
	}
	if captured < e.end {
		group.Flags |= tree.FlagCut
	}
	if d.sink.Begin(group) {
		d.insideMessage(e)
	}
	d.sink.End(group)
}

func (d *Decoder) insideMessage(e entry) {
	m := d.scanMessage(e)
	d.computed(descPosition, e.off, int64(e.off))
	d.computed(descSize, e.off, int64(e.end-e.off))
	d.leaf(descOffset, e.off, 8, e.offset)
	d.structural(descMessageSize, e.off+8, 4, int64(e.length))
	if m.done >= messageCRC {
		d.messageCRC(descMessageCRC, &m)
	}
	if m.done >= messageMagic {
		d.leaf(descMessageMagic, e.off+magicAt, 1, int64(e.magic))
	}
	if m.done >= messageAttributesRead {
		off := e.off + magicAt + 1
		d.leaf(descMessageAttributes[e.magic], off, 1, int64(m.attributes))
		d.word(descCodec, off+1, codecBytes[m.codec()])
		d.word(descTimestampType, off+1, timestampBytes[timestampType(e.magic, int64(m.attributes))])
	}
	if m.done >= messageTimestamp && e.magic == 1 {
		d.leaf(descMessageTimestamp, m.key-8, 8, m.timestamp)
	}
	if m.done >= messageTimestamp && m.codec() == None {
		d.plainMessage(&m)
	} else if m.done >= messageKey {
		d.wrapper(&m)
	}
	d.endMessage(&m)
}

// messageCRC reports the checksum of a message.
func (d *Decoder) messageCRC(desc *tree.Desc, m *message) {
	at := m.off + headSize
	body := d.src.buf[min(at+4, m.captured):m.captured]
	d.checksum(desc, at, m.crc, crc32.ChecksumIEEE, body, m.captured == m.end)
}

// plainMessage reports a message as a batch with one record.
func (d *Decoder) plainMessage(m *message) {
	d.computed(descFirstOffset, m.key, m.offset)
	d.computed(descLastOffset, m.key, m.offset)
	d.record = 0
	end := m.key
	if m.done >= messageKey {
		end = m.value
	}
	if m.done >= messageValue {
		end = m.behind
	}
	array := tree.Event{Desc: descRecords, Span: d.span(m.key, end-m.key), Count: 1}
	record := tree.Event{Desc: descRecord, Span: array.Span, Flags: tree.FlagElement}
	if d.sink.Begin(array) {
		if d.sink.Begin(record) {
			d.computed(descRecordOffset, m.key, m.offset)
			d.computed(descRecordTimestamp, m.key, m.timestamp)
			d.messageBody(m)
		}
		d.sink.End(record)
	}
	d.sink.End(array)
	d.record = -1
}

// messageBody reports key and value of a message, as far as they were read.
func (d *Decoder) messageBody(m *message) {
	if m.done < messageKey {
		return
	}
	hideKey, hideValue := d.secrets(true)
	key, value := descMessageKey, descMessageValue
	if hideKey {
		key = descSecretMessageKey
	}
	if hideValue {
		value = descSecretMessageValue
	}
	d.part(Key, key, descMessageKeyLength, m.key, m.value, m.keyLen)
	if m.done < messageValue {
		return
	}
	d.part(Value, value, descMessageValueLength, m.value, m.behind, m.vLen)
}

// endMessage reports what could not be read of a message, or what is left behind its value.
// The reader was moved if messages inside were read, so it goes by m.
func (d *Decoder) endMessage(m *message) {
	if m.done < messageValue {
		err := *d.rd.Err()
		d.unread(&err, m.end)
		return
	}
	if m.behind < m.end {
		d.rest(descUnknown, m.behind, m.end)
		d.issue(tree.Warning, tree.CodeMalformed, m.behind, m.end-m.behind, "bytes behind the message's value")
	}
}

// wrapper reports the key and value of a message that holds a compressed message set.
func (d *Decoder) wrapper(m *message) {
	d.bytes(descWrapperKey, m.key, m.value, int64(m.keyLen), d.rec.Key)
	off := m.value + 4
	end := m.behind
	cut := m.done < messageValue
	if cut {
		// A set whose end was not captured is shown as far as it goes.
		if err := d.rd.Err(); err.Class != wire.Truncated || off >= m.captured {
			return
		}
		end = m.captured
		m.vLen = int32(min(int64(m.end-off), math.MaxInt32))
		m.done, m.behind = messageValue, m.end
	}
	if m.vLen < 0 {
		d.bytes(descWrapperValue, m.value, m.behind, int64(m.vLen), nil)
		d.issue(tree.Warning, tree.CodeMalformed, m.value, 4, "compressed message without a value")
		return
	}
	d.structural(descMessageValueLength, m.value, 4, readInt(d.src.buf[m.value:], 4))
	in := d.inflate(m.codec(), d.src.buf[off:end])
	set := inspect(in.data)
	base := int64(0)
	if m.magic == 1 && m.offset != 0 { // old producers leave it 0
		base = m.offset - set.last
	}
	if set.count > 0 {
		d.computed(descFirstOffset, off, base+set.first)
		d.computed(descLastOffset, off, m.offset)
	}
	array := tree.Event{Desc: descRecords, Span: d.span(off, end-off), Count: set.count}
	if d.sink.Begin(array) {
		inner := d.derive(m.codec(), in, m.magic, off, end, cut)
		if inner.id != 0 {
			outer := d.enter(inner)
			d.innerSet(m, base)
			d.src = outer
		}
	}
	d.sink.End(array)
}

// innerSummary is what the heads of the messages in a set tell.
type innerSummary struct {
	count       int32
	first, last int64 // as they stand there
}

func inspect(data []byte) innerSummary {
	var s innerSummary
	for off := 0; off < len(data); {
		e := readHead(data, off, len(data))
		if e.state != entryWhole {
			break
		}
		if s.count == 0 {
			s.first = e.offset
		}
		s.last = e.offset
		s.count++
		off = e.end
	}
	return s
}

// innerSet reports the messages in the current, derived source. wrapper is the message they were
// in, base what is added to their offsets.
func (d *Decoder) innerSet(wrapper *message, base int64) {
	end := len(d.src.buf)
	d.record = 0
	for off := 0; off < end; d.record++ {
		e := readHead(d.src.buf, off, end)
		if e.state != entryWhole {
			d.innerTail(e)
			break
		}
		d.inner(e, wrapper, base)
		off = e.end
	}
	d.record = -1
}

// innerTail reports what follows the last message of a set that was compressed whole.
func (d *Decoder) innerTail(e entry) {
	if d.src.cut && e.state != entryBad {
		d.rest(descCut, e.off, e.end)
		return
	}
	d.rest(descUnknown, e.off, e.end)
	d.issue(tree.Warning, tree.CodeMalformed, e.off, e.end-e.off, "message set does not end with a message")
}

// inner reports a message inside a compressed message set: for JSON, a record.
func (d *Decoder) inner(e entry, wrapper *message, base int64) {
	if e.magic != 0 && e.magic != 1 {
		d.rest(descUnknown, e.off, e.end)
		d.issue(tree.Warning, tree.CodeMalformed, e.off, e.end-e.off, "batch of another magic in a compressed message set")
		return
	}
	group := tree.Event{
		Desc: descInner, Span: d.span(e.off, e.end-e.off), Aux: int64(e.magic),
		Index: d.record, Flags: tree.FlagElement,
	}
	if d.sink.Begin(group) {
		d.insideInner(e, wrapper, base)
	}
	d.sink.End(group)
}

func (d *Decoder) insideInner(e entry, wrapper *message, base int64) {
	m := d.scanMessage(e)
	time := m.timestamp
	if wrapper.attributes&attrLogAppend != 0 && wrapper.magic == 1 {
		time = wrapper.timestamp
	}
	d.rec.Index, d.rec.Offset, d.rec.Timestamp = d.record, base+e.offset, time
	d.sink.Leaf(tree.Event{Desc: descInnerOffset, Span: d.span(e.off, 8), Value: tree.Value{Num: e.offset}, Aux: base + e.offset})
	d.structural(descMessageSize, e.off+8, 4, int64(e.length))
	if m.done >= messageCRC {
		d.messageCRC(descInnerCRC, &m)
	}
	if m.done >= messageMagic {
		d.leaf(descInnerMagic, e.off+magicAt, 1, int64(e.magic))
	}
	if m.done >= messageAttributesRead {
		d.leaf(descInnerAttribute[e.magic], e.off+magicAt+1, 1, int64(m.attributes))
	}
	if m.done >= messageTimestamp {
		if e.magic == 1 {
			d.sink.Leaf(tree.Event{Desc: descInnerTimestamp, Span: d.span(m.key-8, 8), Value: tree.Value{Num: m.timestamp}, Aux: time})
		} else {
			d.computed(descRecordTimestamp, m.key, time)
		}
	}
	d.messageBody(&m)
	if m.codec() != None {
		d.issue(tree.Warning, tree.CodeMalformed, e.off+magicAt+1, 1, "message sets nested more than one level deep")
	}
	d.endMessage(&m)
}
