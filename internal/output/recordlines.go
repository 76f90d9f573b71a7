package output

import (
	"io"
	"strconv"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/tree"
)

// RecordForm says what a line of Records looks like.
type RecordForm uint8

// Forms of lines.
const (
	// RecordText is for people: time, direction, client, topic[partition]@offset, the record's
	// time, key and value, headers, facts of the batch.
	RecordText RecordForm = iota
	// RecordJSON has the members of kcat -J (topic, partition, offset, tstype, ts, key, payload,
	// headers), and behind them ours.
	RecordJSON
	// RecordRaw is the value alone, as it is, with a newline behind it.
	RecordRaw
)

// RecordOptions say what Records writes.
type RecordOptions struct {
	Form        RecordForm
	Key, Value  ValueForm
	ShowSecrets bool
	Values      tree.Values
	// Control shows control records, too.
	Control bool
	// Produced and Fetched choose the directions; with neither, both are shown.
	Produced, Fetched bool
	// Topic reports whether a topic's records are wanted; nil wants all. The name is "" where the
	// capture has none for the id.
	Topic func(name string, id [16]byte) bool
	// Limit is the most records that are written; 0 is all.
	Limit int64
	// Live sends each line on as it is complete.
	Live bool
}

// Records writes a line for each record, and in between issues. It implements RecordHandler.
type Records struct {
	opt    RecordOptions
	out    lines
	checks RecordChecks
	clock  clock
	stamp  clock // of records

	// Issues counts warnings and errors.
	Issues int64
	// Limited counts those that tell of limits of ours.
	Limited int64
	// Written is the number of records.
	Written int64

	head []byte // of the set's lines
	tail []byte // of the batch's lines
}

// NewRecords returns a writer of records.
func NewRecords(w io.Writer, opt RecordOptions) *Records {
	if !opt.Produced && !opt.Fetched {
		opt.Produced, opt.Fetched = true, true
	}
	return &Records{opt: opt, out: lines{w: w, live: opt.Live}}
}

// Full reports whether nothing more is to be written.
func (r *Records) Full() bool {
	return r.out.err != nil || r.opt.Limit > 0 && r.Written >= r.opt.Limit
}

// Flush sends on what was gathered.
func (r *Records) Flush() error { return r.out.Flush() }

// Wanted implements RecordHandler.
func (r *Records) Wanted(s *RecordSet) bool {
	switch {
	case r.Full(), s.Fetched && !r.opt.Fetched, !s.Fetched && !r.opt.Produced:
		return false
	case r.opt.Topic != nil && !r.opt.Topic(s.Topic, s.TopicID):
		return false
	}
	switch r.opt.Form {
	case RecordJSON:
		r.head = r.jsonHead(r.head[:0], s)
	case RecordText:
		r.head = r.textHead(r.head[:0], s)
	}
	return true
}

// Batch implements RecordHandler.
func (r *Records) Batch(s *RecordSet, b *RecordBatch) bool {
	switch r.opt.Form {
	case RecordJSON:
		r.tail = r.jsonTail(r.tail[:0], s, b)
	case RecordText:
		r.tail = textTail(r.tail[:0], b)
	}
	if i, found := r.checks.Batch(s, b); found {
		r.Issue(s, i)
	}
	return true
}

// Record implements RecordHandler.
func (r *Records) Record(x *Record) {
	if r.Full() || len(x.ControlType) > 0 && !r.opt.Control {
		return
	}
	b := r.out.buf
	switch r.opt.Form {
	case RecordJSON:
		b = r.jsonRecord(b, x)
	case RecordText:
		b = r.textRecord(b, x)
	default:
		if x.HideValue && !r.opt.ShowSecrets {
			b = appendHidden(b, len(x.Value))
		} else {
			b = append(b, x.Value...)
		}
	}
	r.Written++
	_ = r.out.done(append(b, '\n')) // Flush returns it
}

// Issue implements RecordHandler. JSON and raw lines have no place for issues of severity info.
func (r *Records) Issue(s *RecordSet, i tree.Issue) {
	if i.Severity == tree.Info {
		return
	}
	r.Issues++
	if i.Code == tree.CodeLimit {
		r.Limited++
	}
	b := r.out.buf
	switch r.opt.Form {
	case RecordJSON:
		b = append(b, `{"issue":`...)
		from := len(b)
		b = appendIssue(b, &i, "", i.Code != tree.CodeSequence)
		copy(b[from:], b[from+1:]) // without its comma
		b = b[:len(b)-1]
		b = append(b, `,"topic":`...)
		b = appendTopic(b, s)
		b = append(b, `,"partition":`...)
		b = strconv.AppendInt(b, int64(s.Partition), 10)
		b = append(b, `,"exchange":`...)
		b = strconv.AppendInt(b, s.Exchange.Number, 10)
		b = append(b, '}')
	case RecordText:
		b = append(b, "!! "...)
		b = append(b, i.Code...)
		b = append(b, ": "...)
		b = appendTopicText(b, s)
		b = append(b, ": "...)
		b = append(b, i.Text...)
	default:
		return
	}
	_ = r.out.done(append(b, '\n'))
}

// appendTopic appends the topic's name as a JSON string, its id where there is none.
func appendTopic(b []byte, s *RecordSet) []byte {
	if s.Topic != "" || s.TopicID == ([16]byte{}) {
		return appendString(b, s.Topic)
	}
	b = append(b, '"')
	b = appendUUID(b, s.TopicID[:])
	return append(b, '"')
}

// appendTopicText appends topic[partition].
func appendTopicText(b []byte, s *RecordSet) []byte {
	if s.Topic != "" {
		b = append(b, s.Topic...)
	} else {
		b = appendUUID(b, s.TopicID[:])
	}
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(s.Partition), 10)
	return append(b, ']')
}

// jsonHead makes what all lines of a set begin with.
func (r *Records) jsonHead(b []byte, s *RecordSet) []byte {
	b = append(b, `{"topic":`...)
	b = appendTopic(b, s)
	b = append(b, `,"partition":`...)
	return strconv.AppendInt(b, int64(s.Partition), 10)
}

// jsonTail makes what all lines of a batch end with.
func (r *Records) jsonTail(b []byte, s *RecordSet, x *RecordBatch) []byte {
	if s.Fetched {
		b = append(b, `,"direction":"fetched"`...)
	} else {
		b = append(b, `,"direction":"produced"`...)
		if !s.Acked {
			b = append(b, `,"acked":false`...)
		} else if s.Error != 0 {
			b = append(b, `,"errorCode":`...)
			b = strconv.AppendInt(b, int64(s.Error), 10)
		}
	}
	b = append(b, `,"time":"`...)
	b = r.clock.appendRFC3339(b, s.Frame.FirstTime)
	b = append(b, `","clientId":`...)
	if q := s.Exchange.Request; q != nil && q.ClientID != nil {
		b = appendQuoted(b, q.ClientID)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"connection":"`...)
	b = appendConnection(b, s.Exchange.Conn)
	b = append(b, `","exchange":`...)
	b = strconv.AppendInt(b, s.Exchange.Number, 10)
	b = append(b, `,"packet":`...)
	b = strconv.AppendInt(b, s.Frame.FirstPacket, 10)
	b = append(b, `,"batch":{"magic":`...)
	b = strconv.AppendInt(b, int64(x.Magic), 10)
	b = append(b, `,"codec":"`...)
	b = append(b, x.Codec...)
	b = append(b, `","baseOffset":`...)
	b = strconv.AppendInt(b, x.BaseOffset, 10)
	b = append(b, `,"crcValid":`...)
	b = strconv.AppendBool(b, x.CRCValid)
	if x.Magic >= 2 {
		b = append(b, `,"producerId":`...)
		b = strconv.AppendInt(b, x.ProducerID, 10)
		b = append(b, `,"producerEpoch":`...)
		b = strconv.AppendInt(b, int64(x.ProducerEpoch), 10)
		b = append(b, `,"isTransactional":`...)
		b = strconv.AppendBool(b, x.Transactional)
		b = append(b, `,"isControl":`...)
		b = strconv.AppendBool(b, x.Control)
		b = append(b, `,"partitionLeaderEpoch":`...)
		b = strconv.AppendInt(b, int64(x.LeaderEpoch), 10)
	}
	return append(b, '}', '}')
}

func (r *Records) jsonRecord(b []byte, x *Record) []byte {
	b = append(b, r.head...)
	b = append(b, `,"offset":`...)
	b = strconv.AppendInt(b, x.Offset, 10)
	b = append(b, `,"tstype":"`...)
	b = append(b, kcatTimestampType(x)...)
	b = append(b, `","ts":`...)
	b = strconv.AppendInt(b, x.Timestamp, 10)
	if len(x.Headers) > 0 {
		b = append(b, `,"headers":[`...)
		for i := range x.Headers {
			h := &x.Headers[i]
			if i > 0 {
				b = append(b, ',')
			}
			if r.opt.Values != tree.ValuesFull {
				b = r.jsonPart(b, ValueAuto, h.Key, false, false)
			} else {
				b = appendQuoted(b, h.Key)
			}
			b = append(b, ',')
			b = r.spill(r.jsonPart(b, ValueAuto, h.Value, h.Null, false))
		}
		b = append(b, ']')
	}
	b = append(b, `,"key":`...)
	b = r.jsonPart(b, r.opt.Key, x.Key, x.NullKey, x.HideKey)
	b = append(b, `,"payload":`...)
	b = r.jsonPart(b, r.opt.Value, x.Value, x.NullValue, x.HideValue)
	b = append(b, x.DecodedKey...)
	b = append(b, x.DecodedValue...)
	if len(x.ControlType) > 0 {
		b = append(b, `,"controlType":"`...)
		b = append(b, x.ControlType...)
		b = append(b, '"')
	}
	if x.Sequence >= 0 {
		b = append(b, `,"sequence":`...)
		b = strconv.AppendInt(b, int64(x.Sequence), 10)
	}
	return append(b, r.tail...)
}

func (r *Records) jsonPart(b []byte, f ValueForm, p []byte, null, hide bool) []byte {
	switch {
	case null:
		return append(b, "null"...)
	case hide && !r.opt.ShowSecrets:
		b = append(b, '"')
		b = appendHidden(b, len(p))
		return append(b, '"')
	case r.opt.Values != tree.ValuesFull:
		b = append(b, '"')
		b = r.opt.Values.Append(b, p)
		return append(b, '"')
	}
	if len(p) > longValue {
		return r.longJSON(b, f, p)
	}
	return f.appendJSON(b, p)
}

// kcatTimestampType returns the word that kcat has for the type of a record's timestamp.
func kcatTimestampType(x *Record) string {
	if x.Set.AppendTime >= 0 { // the answer's
		return "logappend"
	}
	switch string(x.Batch.TimestampType) {
	case records.CreateTime.String():
		return "create"
	case records.LogAppendTime.String():
		return "logappend"
	}
	return "unknown"
}

// textHead makes what all lines of a set begin with.
func (r *Records) textHead(b []byte, s *RecordSet) []byte {
	b = appendMoment(b, &r.clock, s.Frame.FirstTime, 6)
	if s.Fetched {
		b = append(b, "  fetched   "...)
	} else {
		b = append(b, "  produced  "...)
	}
	b = appendClientID(b, s.Exchange)
	b = append(b, ' ', ' ')
	return appendTopicText(b, s)
}

// appendMoment appends nanoseconds since 1970 as summaries do, with a number of decimals.
func appendMoment(b []byte, c *clock, ns int64, decimals int) []byte {
	b = append(c.appendDate(b, ns), ' ')
	return c.appendTime(b, ns, decimals)
}

func appendClientID(b []byte, x *dissect.Exchange) []byte {
	if x.Request == nil || len(x.Request.ClientID) == 0 {
		return append(b, '-')
	}
	return appendVisible(b, x.Request.ClientID)
}

// textTail makes what all lines of a batch end with.
func textTail(b []byte, x *RecordBatch) []byte {
	if string(x.Codec) != records.None.String() {
		b = append(b, ' ', ' ')
		b = append(b, x.Codec...)
	}
	if x.ProducerID >= 0 {
		b = append(b, "  producer "...)
		b = strconv.AppendInt(b, x.ProducerID, 10)
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(x.ProducerEpoch), 10)
	}
	if x.Transactional {
		b = append(b, "  transactional"...)
	}
	if !x.CRCValid {
		b = append(b, "  crc BAD"...)
	}
	return b
}

func (r *Records) textRecord(b []byte, x *Record) []byte {
	b = append(b, r.head...)
	if x.Offset >= 0 {
		b = append(b, '@')
		b = strconv.AppendInt(b, x.Offset, 10)
	}
	b = append(b, ' ', ' ')
	if x.Timestamp >= 0 && x.Timestamp < maxMillis {
		b = appendMoment(b, &r.stamp, x.Timestamp*1_000_000, 3)
	} else {
		b = append(b, "no time"...)
	}
	b = append(b, ' ', ' ')
	if len(x.ControlType) > 0 {
		b = append(b, x.ControlType...)
		return append(b, r.tail...)
	}
	if len(x.DecodedKey) > 0 {
		b = append(b, x.DecodedKey[len(`,"keyDecoded":`):]...)
	} else {
		b = r.textPart(b, r.opt.Key, x.Key, x.NullKey, x.HideKey)
	}
	b = append(b, " = "...)
	if len(x.DecodedValue) > 0 {
		b = append(b, x.DecodedValue[len(`,"payloadDecoded":`):]...)
	} else {
		b = r.textPart(b, r.opt.Value, x.Value, x.NullValue, x.HideValue)
	}
	for i := range x.Headers {
		h := &x.Headers[i]
		if i == 0 {
			b = append(b, "  {"...)
		} else {
			b = append(b, ", "...)
		}
		if r.opt.Values != tree.ValuesFull {
			b = r.opt.Values.Append(b, h.Key)
		} else {
			b = appendVisible(b, h.Key)
		}
		b = append(b, '=')
		b = r.textPart(b, ValueAuto, h.Value, h.Null, false)
		if i == len(x.Headers)-1 {
			b = append(b, '}')
		}
	}
	if x.Sequence >= 0 {
		b = append(b, "  #"...)
		b = strconv.AppendInt(b, int64(x.Sequence), 10)
	}
	return append(b, r.tail...)
}

// maxMillis is the first time in milliseconds that nanoseconds cannot hold.
const maxMillis = (1<<63 - 1) / 1_000_000

func (r *Records) textPart(b []byte, f ValueForm, p []byte, null, hide bool) []byte {
	switch {
	case null:
		return append(b, "null"...)
	case hide && !r.opt.ShowSecrets:
		return appendHidden(b, len(p))
	case r.opt.Values != tree.ValuesFull:
		return r.opt.Values.Append(b, p)
	case len(p) == 0:
		return append(b, `""`...)
	}
	if len(p) > longValue {
		return r.longText(b, f, p)
	}
	return f.appendText(b, p)
}
