package output

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// recordSink collects the records of a frame from its events.
type recordSink struct {
	handler RecordHandler
	answers *answers
	decoded bool
	json    body // of what keys and values hold

	set    RecordSet
	batch  RecordBatch
	record Record
	index  int64 // of the next record in its set

	level   recordLevel
	skipped int // groups open below one that is passed over
	payload int // groups open from a payload on
	split   int // in json's buffer, where what the value holds begins; -1 for nowhere
	topic   []byte
	id      [16]byte
}

// recordLevel is where in a frame a recordSink is.
type recordLevel uint8

const (
	inFrame recordLevel = iota
	inSet
	inBatch
	inRecords
	inRecord
	inHeaders
	inHeader
)

func (s *recordSink) reset() {
	s.level, s.skipped, s.payload = inFrame, 0, 0
	s.topic, s.id = nil, [16]byte{}
}

// Begin implements tree.Sink.
func (s *recordSink) Begin(e tree.Event) bool {
	if s.skipped > 0 {
		s.skipped++
		return false
	}
	if s.payload > 0 {
		s.payload++
		return s.json.Begin(e)
	}
	switch {
	case s.level == inFrame:
		if e.Desc.Kind != tree.KindRecords {
			if e.Has(tree.FlagHeader) {
				break
			}
			return true
		}
		if s.open(&e) {
			s.level = inSet
			return true
		}
	case e.Desc.Kind == tree.KindPayload:
		if s.decoded && s.level == inRecord {
			s.payload = 1
			if e.Desc.Key == "valueDecoded" {
				s.split = len(s.json.buf)
				e.Desc = payloadDesc
			}
			return s.json.Begin(e)
		}
	case s.level == inSet && e.Desc.Kind == tree.KindStruct:
		s.batch = RecordBatch{Index: e.Index, LeaderEpoch: -1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, LastSequence: -1}
		s.level = inBatch
		return true
	case s.level == inBatch && e.Desc.Kind == tree.KindArray:
		if s.handler.Batch(&s.set, &s.batch) {
			s.level = inRecords
			return true
		}
	case s.level == inRecords && e.Desc.Kind == tree.KindStruct:
		headers := s.record.Headers[:0]
		s.record = Record{Set: &s.set, Batch: &s.batch, Index: s.index, Offset: -1, Timestamp: -1, Sequence: -1, Headers: headers}
		if s.decoded {
			s.json.reset(s.json.buf[:0])
			s.json.Begin(tree.Event{Desc: setDesc, Flags: tree.FlagBody})
			s.split = -1
		}
		s.level = inRecord
		return true
	case s.level == inRecord && e.Desc.Kind == tree.KindArray:
		s.level = inHeaders
		return true
	case s.level == inHeaders:
		if n := len(s.record.Headers); n == maxHeaders {
			if s.skipped = 1; e.Index == maxHeaders {
				s.handler.Issue(&s.set, tree.Issue{Severity: tree.Warning, Code: tree.CodeLimit, Span: e.Span,
					Text: "a record has more than " + strconv.Itoa(n) + " headers: those behind are left out"})
			}
			return false
		}
		s.record.Headers = append(s.record.Headers, RecordHeader{})
		s.level = inHeader
		return true
	}
	s.skipped = 1
	return false
}

// payloadDesc describes what a value holds; here, the value has the name that kcat gives it.
var payloadDesc = &tree.Desc{Name: "payload", Key: "payloadDecoded", Kind: tree.KindPayload}

// open begins a record set and reports whether it is wanted.
func (s *recordSink) open(e *tree.Event) bool {
	if e.Has(tree.FlagNull) || len(e.Value.Bytes) == 0 {
		return false
	}
	x := &s.set
	x.Topic, x.TopicID = "", s.id
	if s.topic != nil {
		x.Topic = string(s.topic)
	} else if s.id != ([16]byte{}) {
		x.Topic = topicName(x.Exchange, s.id)
	}
	s.index = 0
	x.Acked, x.Error, x.BaseOffset, x.AppendTime = false, 0, -1, -1
	if !x.Fetched {
		sent := ""
		if s.topic != nil {
			sent = x.Topic
		}
		if a := s.answers.find(sent, s.id, x.Partition); a != nil {
			x.Acked, x.Error, x.BaseOffset, x.AppendTime = true, a.error, a.base, a.appendTime
		}
	}
	return s.handler.Wanted(x)
}

// Leaf implements tree.Sink.
func (s *recordSink) Leaf(e tree.Event) {
	if s.skipped > 0 {
		return
	}
	if s.payload > 0 {
		s.json.Leaf(e)
		return
	}
	switch s.level {
	case inFrame:
		s.frameLeaf(&e)
	case inBatch:
		s.batchLeaf(&e)
	case inRecord:
		s.recordLeaf(&e)
	case inHeader:
		h := &s.record.Headers[len(s.record.Headers)-1]
		switch e.Desc.Key {
		case "key":
			h.Key = e.Value.Bytes
		case "value":
			h.Value, h.Null = e.Value.Bytes, e.Has(tree.FlagNull)
		}
	}
}

func (s *recordSink) frameLeaf(e *tree.Event) {
	switch schema.Role(e.Desc.Role) {
	case schema.RoleTopicName:
		s.topic, s.id = e.Value.Bytes, [16]byte{}
	case schema.RoleTopicID:
		s.topic = nil
		copy(s.id[:], e.Value.Bytes)
	case schema.RolePartition:
		s.set.Partition = int32(e.Value.Num)
	case schema.RoleErrorCode:
		s.set.Error = int16(e.Value.Num)
	}
}

func (s *recordSink) batchLeaf(e *tree.Event) {
	b, n := &s.batch, e.Value.Num
	switch e.Desc.Key {
	case "baseOffset":
		b.BaseOffset = n
	case "lastOffset":
		b.LastOffset = n
	case "partitionLeaderEpoch":
		b.LeaderEpoch = int32(n)
	case "magic":
		b.Magic = int8(n)
	case "crc":
		b.CRCValid = e.Has(tree.FlagChecked) && n == e.Aux
	case "codec":
		b.Codec = e.Value.Bytes
	case "timestampType":
		b.TimestampType = e.Value.Bytes
	case "isTransactional":
		b.Transactional = n != 0
	case "isControl":
		b.Control = n != 0
	case "producerId":
		b.ProducerID = n
	case "producerEpoch":
		b.ProducerEpoch = int16(n)
	case "baseSequence":
		b.BaseSequence = int32(n)
	case "lastSequence":
		b.LastSequence = int32(n)
	case "count":
		b.Count = n
	}
}

func (s *recordSink) recordLeaf(e *tree.Event) {
	r, n := &s.record, e.Value.Num
	if e.Desc.Derived {
		n = e.Aux
	}
	switch e.Desc.Key {
	case "offset":
		r.Offset = n
	case "timestamp":
		r.Timestamp = n
	case "sequence":
		r.Sequence = int32(n)
	case "controlType":
		r.ControlType = e.Value.Bytes
	case "key":
		r.Key, r.NullKey, r.HideKey = e.Value.Bytes, e.Has(tree.FlagNull), e.Desc.Secret
	case "value":
		r.Value, r.NullValue, r.HideValue = e.Value.Bytes, e.Has(tree.FlagNull), e.Desc.Secret
	}
}

// End implements tree.Sink.
func (s *recordSink) End(e tree.Event) {
	switch {
	case s.skipped > 0:
		s.skipped--
		return
	case s.payload > 0:
		s.payload--
		s.json.End(e)
		return
	case s.level == inFrame:
		return
	case s.level == inRecord:
		s.give()
	}
	s.level--
}

// give hands the record on.
func (s *recordSink) give() {
	r := &s.record
	if !s.set.Fetched {
		r.Offset = -1
		if s.set.Error == 0 && s.set.BaseOffset >= 0 {
			r.Offset = s.set.BaseOffset + s.index
		}
		if s.set.AppendTime >= 0 {
			r.Timestamp = s.set.AppendTime
		}
	}
	s.index++
	if s.decoded {
		r.DecodedKey = s.json.buf
		if s.split >= 0 {
			r.DecodedKey, r.DecodedValue = s.json.buf[:s.split], s.json.buf[s.split:]
		}
	}
	s.handler.Record(r)
}

// Issue implements tree.Sink.
func (s *recordSink) Issue(i tree.Issue) {
	if s.level != inFrame {
		s.handler.Issue(&s.set, i)
	}
}

// Source implements tree.Sink.
func (s *recordSink) Source(int32, []byte, tree.Span, string) {}
