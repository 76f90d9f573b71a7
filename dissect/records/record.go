package records

import "github.com/kdissect/kdissect/tree"

// Record is what is known of a record when its key and value are handed out.
type Record struct {
	Batch, Index int32 // of the batch in the set and of the record in the batch, from 0
	Magic        int8
	Offset       int64
	Timestamp    int64  // milliseconds since 1970, -1 for none
	Key, Value   []byte // nil for null

	// Of batches of magic 2; -1 and false in older ones.
	ProducerID    int64
	ProducerEpoch int16
	Sequence      int32
	Transactional bool
	// Control is the type of a control record, NoControl for all others.
	Control ControlType
}

// Part tells a record's key from its value.
type Part uint8

// Parts.
const (
	Key Part = iota
	Value
)

// Options say how one record set is walked.
type Options struct {
	// Missing is the number of bytes at the set's end that were not captured.
	Missing int
	// Whole is set where the sender may not cut the last batch short, as in Produce requests.
	Whole bool
	// SkipChecksums leaves checksums uncomputed.
	SkipChecksums bool
	// Path is the path of the record set, in front of that of issues.
	Path string
	// Secret reports which parts of a record are not to be shown. The record is void after.
	Secret func(*Record) (key, value bool)
	// Payload decodes what is nested in keys and values; nil shows them as bytes.
	Payload Payload
}

// Payload decodes what is nested in the keys and values of records. It is not asked about those
// that are empty or null, about keys of control records and about transaction markers. Records
// are void after each call.
type Payload interface {
	// Claim reports whether Walk shall give the events of a part's bytes.
	Claim(rec *Record, part Part) bool
	// Walk gives the events of the bytes of a claimed part, whose leaves tile at. The leaf with
	// the length in front and, for JSON, a computed leaf with the bytes came before.
	Walk(rec *Record, part Part, data []byte, at tree.Span, sink tree.Sink)
}
