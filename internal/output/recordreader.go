package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// Record is a record that an exchange carries. It and all it refers to are void after the call
// that gives it.
type Record struct {
	Set   *RecordSet
	Batch *RecordBatch
	Index int64 // in the record set, from 0
	// Offset is that in the partition; -1 where it is not known, as of a record that was produced
	// and not acknowledged.
	Offset      int64
	Timestamp   int64 // milliseconds since 1970, -1 for none
	Sequence    int32 // -1 for none
	Key, Value  []byte
	NullKey     bool
	NullValue   bool
	HideKey     bool // they hold secrets
	HideValue   bool
	ControlType []byte // name of a control record's type; empty for others
	Headers     []RecordHeader
	// What key and value hold, as JSON members with a comma before them; empty where that is not
	// known.
	DecodedKey, DecodedValue []byte
}

// RecordHeader is a header of a record.
type RecordHeader struct {
	Key, Value []byte
	Null       bool // the value
}

// RecordSet is the record set that a partition has in an exchange.
type RecordSet struct {
	Exchange  *dissect.Exchange
	Frame     *dissect.Frame
	Fetched   bool   // in a response; else produced
	Topic     string // name; "" where only the id is known
	TopicID   [16]byte
	Partition int32

	Acked      bool // of a produced set: the response is there
	Error      int16
	BaseOffset int64 // from the response; -1 for none
	AppendTime int64 // from the response; -1 for none
}

// RecordBatch is what the head of a batch says.
type RecordBatch struct {
	Index         int32
	Magic         int8
	BaseOffset    int64
	LastOffset    int64
	LeaderEpoch   int32 // -1 for none
	Codec         []byte
	TimestampType []byte
	ProducerID    int64 // -1 for none
	ProducerEpoch int16
	BaseSequence  int32
	LastSequence  int32
	Transactional bool
	Control       bool
	CRCValid      bool
	Count         int64
}

// RecordHandler receives what a RecordReader finds.
type RecordHandler interface {
	// Wanted reports whether the records of a set are to be given; others are not decompressed.
	Wanted(*RecordSet) bool
	// Batch reports whether the batch's records are to be given.
	Batch(*RecordSet, *RecordBatch) bool
	Record(*Record)
	Issue(*RecordSet, tree.Issue)
}

// RecordReader finds the records in exchanges. It serves one goroutine.
type RecordReader struct {
	walk    *walk.Decoder
	answers answers
	sink    recordSink
}

// NewRecordReader returns a reader that decodes with d, which opens record sets. With decoded
// set, records have what their keys and values hold.
func NewRecordReader(d *walk.Decoder, h RecordHandler, decoded, showSecrets bool) *RecordReader {
	r := &RecordReader{walk: d}
	r.sink.handler, r.sink.decoded = h, decoded
	r.sink.json.showSecrets = showSecrets
	return r
}

// Exchange gives the records of x.
func (r *RecordReader) Exchange(x *dissect.Exchange) {
	if f := x.Request; f != nil && f.APIKey == keyProduce {
		r.answers.reset()
		if x.Response != nil {
			x.Response.Walk(r.walk, &r.answers)
		}
		r.frame(x, f, false)
		return
	}
	if f := x.Response; f != nil && f.Plan != nil && f.Plan.API != nil && fetches(f.Plan.API.Key) {
		r.frame(x, f, true)
	}
}

// fetches reports whether responses of an API hold records.
func fetches(key int16) bool {
	return key == keyFetch || key == keyShareFetch || key == keyFetchSnapshot
}

func (r *RecordReader) frame(x *dissect.Exchange, f *dissect.Frame, fetched bool) {
	s := &r.sink
	s.reset()
	s.set = RecordSet{Exchange: x, Frame: f, Fetched: fetched, BaseOffset: -1, AppendTime: -1}
	s.answers = &r.answers
	f.Walk(r.walk, s)
	s.set.Exchange, s.set.Frame = nil, nil
}

// answers are what a Produce response says of partitions.
type answers struct {
	list   []answer
	cursor int
	now    answer
	topic  string
	id     [16]byte
	depth  int
}

type answer struct {
	topic      string
	id         [16]byte
	partition  int32
	error      int16
	base       int64
	appendTime int64
}

func (a *answers) reset() { a.list, a.cursor, a.depth = a.list[:0], 0, 0 }

// Begin implements tree.Sink.
func (a *answers) Begin(e tree.Event) bool {
	if e.Desc.Kind == tree.KindStruct && e.Has(tree.FlagElement) {
		a.depth++
		if a.depth == 2 {
			a.now = answer{topic: a.topic, id: a.id, partition: -1, base: -1, appendTime: -1}
		}
	}
	return a.depth <= 2 && !e.Has(tree.FlagHeader)
}

// Leaf implements tree.Sink.
func (a *answers) Leaf(e tree.Event) {
	switch schema.Role(e.Desc.Role) {
	case schema.RoleTopicName:
		a.topic, a.id = string(e.Value.Bytes), [16]byte{}
	case schema.RoleTopicID:
		a.topic = ""
		copy(a.id[:], e.Value.Bytes)
	case schema.RolePartition:
		a.now.partition = int32(e.Value.Num)
	case schema.RoleErrorCode:
		a.now.error = int16(e.Value.Num)
	case schema.RoleOffset:
		a.now.base = e.Value.Num
	default:
		if e.Desc.Key == "logAppendTimeMs" {
			a.now.appendTime = e.Value.Num
		}
	}
}

// End implements tree.Sink.
func (a *answers) End(e tree.Event) {
	if e.Desc.Kind == tree.KindStruct && e.Has(tree.FlagElement) {
		if a.depth == 2 {
			a.list = append(a.list, a.now)
		}
		a.depth--
	}
}

// Issue implements tree.Sink.
func (a *answers) Issue(tree.Issue) {}

// Source implements tree.Sink.
func (a *answers) Source(int32, []byte, tree.Span, string) {}

// find returns the answer about a partition. Answers mostly come in the order of the request.
func (a *answers) find(topic string, id [16]byte, partition int32) *answer {
	for i := range a.list {
		at := (a.cursor + i) % len(a.list)
		if x := &a.list[at]; x.partition == partition && x.topic == topic && x.id == id {
			a.cursor = at + 1
			return x
		}
	}
	return nil
}
