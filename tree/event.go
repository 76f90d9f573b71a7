package tree

// Kind says what sort of thing an event stands for; it decides which members of Value hold.
type Kind uint8

// Kinds. Groups come as Begin/End pairs, scalars as Leaf events.
const (
	KindInvalid Kind = iota

	// Groups.
	KindMessage // a whole buffer, such as a frame; Aux is its version
	KindGroup   // a part without a value of its own, such as a header; Aux is its version or -1
	KindStruct  // fields; Aux is the version for a body, else -1
	KindArray   // Count elements, or null where Count is -1
	KindRecords // a byte region that holds record batches; Count is the number of batches found, -1 null
	KindTags    // a section of Count tagged fields
	KindTag     // one tagged field; Aux is the tag number
	KindPayload // what bytes were found to hold, such as a record of an internal topic; Aux is its version or -1

	// Scalars held in Value.Num.
	KindBool
	KindInt8
	KindInt16
	KindInt32
	KindInt64
	KindUint8
	KindUint16
	KindUint32
	KindUvarint
	KindVarint // zigzag, of 32 or 64 bits
	KindFloat64

	// Scalars held in Value.Bytes, which alias the buffer.
	KindString
	KindBytes
	KindUUID // 16 bytes

	// KindRest is a run of bytes that was not decoded.
	KindRest
)

// Group reports whether events of this kind come as Begin/End pairs.
func (k Kind) Group() bool { return k >= KindMessage && k <= KindPayload }

// Encoding says how a length, a count or a null is written in front of a value.
type Encoding uint8

// Encodings.
const (
	EncNone    Encoding = iota
	EncInt16            // int16 length, -1 for null
	EncInt32            // int32 length or count, -1 for null
	EncCompact          // uvarint of length+1, 0 for null
	EncVarint           // zigzag varint length, -1 for null (inside records)
)

// Span is a range of bytes in one source. Source 0 is the buffer that was decoded; others are
// buffers derived from it, such as a decompressed batch.
type Span struct {
	Source int32
	Off    int32 // of the first byte
	Len    int32
}

// End returns the offset behind the last byte.
func (s Span) End() int32 { return s.Off + s.Len }

// Names gives the values of an enumeration their words.
type Names interface {
	// Name returns the word for v, or "" where it has none.
	Name(v int64) string
}

// Region is the part of a frame that a byte belongs to: the colours of a byte grid. A node
// without one is of its parent's.
type Region uint8

// Regions, in the order of the legend.
const (
	RegionNone Region = iota
	RegionFrame
	RegionHeader
	RegionRequest
	RegionData // the body of what is neither
	RegionBatch
	RegionRecord
	RegionResponse
	RegionTags
)

// String returns the words of the legend.
func (r Region) String() string {
	switch r {
	case RegionFrame:
		return "frame"
	case RegionHeader:
		return "rpc header"
	case RegionRequest:
		return "request body"
	case RegionResponse:
		return "response body"
	case RegionData:
		return "body"
	case RegionBatch:
		return "RecordBatch"
	case RegionRecord:
		return "Record"
	case RegionTags:
		return "tagged_fields"
	}
	return ""
}

// Desc is the static part of an event: one for each field of a schema, shared by all events.
type Desc struct {
	// What each event is looked at for comes first, in one line of the cache.
	Name     string // as the schema writes it, such as "GroupIds" or "request_api_key"
	Key      string // JSON member name, such as "groupIds"; empty where JSON has no member for it
	Names    Names  // words for the values of an enumeration, or nil
	Order    int32  // position among the members of its struct in the schema
	Kind     Kind
	Enc      Encoding // of the length or count; EncNone for fixed sizes
	Region   Region
	Role     uint8 // a meaning given by the producer of events, 0 for none
	Time     bool  // milliseconds since 1970
	Derived  bool  // JSON shows Aux, the value computed from what is on the wire
	Nullable bool
	Secret   bool // never shown unless asked for
	Data     bool // contents of a record, shown as Values says
	Late     bool // struct only: a tagged member stands before an untagged one in the schema

	Type    string // such as "[]string" or "DescribedGroup"
	About   string // one line of description
	Default string // as the schema writes it, empty where it writes none
}

// Value is what was read. Num holds integers (sign-extended), bools (0 or 1) and the bits of
// a float64; Bytes alias the decoded buffer and are void once it is reused.
type Value struct {
	Num   int64
	Bytes []byte
}

// Flags qualify an event.
type Flags uint16

// Flags.
const (
	FlagNull       Flags = 1 << iota
	FlagElement          // an element of an array; Index holds
	FlagStructural       // a length, count, marker or tag: bytes without a member in JSON
	FlagTagged           // a tagged field
	FlagUnknownTag       // a tagged field that the schema does not know
	FlagCut              // the value goes on behind the end of the buffer
	FlagBody             // the struct that is a frame's body
	FlagHeader           // the group that is a frame's header
	FlagChecked          // Aux holds a computed checksum: equal to Value.Num is ok
	FlagComputed         // has no bytes of its own: trees leave it out
	FlagElided           // a number of like elements that were skipped, not decoded
)

// Event is one node of the annotated tree, passed by value.
//
// At Begin, Span.Len is the length where it is known beforehand, else -1; End carries the
// whole span. Aux is the second number a line shows: a length prefix as sent (the number on
// the wire, before any -1), a version, a tag, a computed checksum.
type Event struct {
	Desc  *Desc
	Span  Span
	Value Value
	Aux   int64
	Index int32 // of an element; holds with FlagElement
	Count int32 // of a KindArray, KindTags or KindRecords
	Flags Flags
}

// Has reports whether all of f are set.
func (e *Event) Has(f Flags) bool { return e.Flags&f == f }

// Sink receives the events of one decoded buffer in the order of its bytes.
//
// Begin returns false to skip what the group holds: the decoder then gives no events of its
// inside, only the matching End. Byte slices in events die when the buffer is reused.
type Sink interface {
	Begin(Event) bool
	Leaf(Event)
	End(Event)
	// Issue reports trouble at the place reached so far; it belongs to the group that is open.
	Issue(Issue)
	// Source announces a derived buffer: its number (1 and up), its bytes, the span it was made
	// from and the codec that made it.
	Source(id int32, data []byte, origin Span, codec string)
}

// Discard is a Sink that skips everything; embed it to implement a part of Sink.
type Discard struct{}

// Begin returns false.
func (Discard) Begin(Event) bool { return false }

// Leaf does nothing.
func (Discard) Leaf(Event) {}

// End does nothing.
func (Discard) End(Event) {}

// Issue does nothing.
func (Discard) Issue(Issue) {}

// Source does nothing.
func (Discard) Source(int32, []byte, Span, string) {}
