package output

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/tree"
)

// RecordSets writes record sets that stand for themselves as JSON. It serves one goroutine.
type RecordSets struct {
	body    body
	decoder *payload.Decoder
	limited int64
}

// NewRecordSets returns a writer that opens payloads with d. Options.Plain does not apply.
func NewRecordSets(d *payload.Decoder, opt Options) *RecordSets {
	r := &RecordSets{decoder: d}
	r.body.bytes, r.body.showSecrets = opt.Bytes, opt.ShowSecrets
	return r
}

// Descriptions of the object that holds a record set.
var (
	setDesc     = &tree.Desc{Name: "RecordSet", Kind: tree.KindStruct}
	batchesDesc = &tree.Desc{Name: "batches", Key: "batches", Kind: tree.KindRecords}
)

// Append appends the line of a record set: its batches, the number of bytes of a last one that
// was cut short and these bytes, and the issues. topic names the topic whose records they are,
// where it is known.
func (r *RecordSets) Append(b, set []byte, topic string) []byte {
	s := &r.body
	s.reset(b)
	s.issues, s.limited = s.issues[:0], false
	s.Begin(tree.Event{Desc: setDesc, Flags: tree.FlagBody})
	s.name(s.holder(), &tree.Event{Desc: batchesDesc}, "")
	s.push(&tree.Event{Desc: batchesDesc}, levelArray).record = true
	r.decoder.Reset()
	sum := r.decoder.Records(set, tree.Span{Len: int32(len(set))}, topic, s, records.Options{})
	s.End(tree.Event{})
	rest := sum.Partial + sum.Undecoded
	s.buf = append(s.buf, `,"trailingPartialBytes":`...)
	s.buf = strconv.AppendInt(s.buf, int64(rest), 10)
	if rest > 0 {
		s.buf = append(s.buf, `,"trailing":`...)
		s.buf = appendBase64(s.buf, set[len(set)-rest:])
	}
	s.buf = append(s.buf, `,"issues":`...)
	s.buf = appendArray(s.buf, s.issues)
	if s.limited {
		r.limited++
	}
	b = s.finish()
	return append(b, '\n')
}

// Limited returns of how many record sets not all was decoded, because of limits of ours.
func (r *RecordSets) Limited() int64 { return r.limited }
