package tree

// Severity orders issues.
type Severity uint8

// Severities.
const (
	Info    Severity = iota // worth knowing: an unknown tag, trailing bytes, a payload not read
	Warning                 // something is wrong in the traffic or the capture
	Error                   // this frame could not be decoded whole
)

// String returns the lower-case word.
func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "unknown"
}

// Code names a kind of issue. The set is closed; outputs show the word.
type Code string

// Codes. The first four are the classes of failure, which are never merged.
const (
	CodeTruncated   Code = "truncated"   // bytes were not captured
	CodeMalformed   Code = "malformed"   // bytes contradict the layout
	CodeUnsupported Code = "unsupported" // key, version, codec or magic unknown to us
	CodeLimit       Code = "limit"       // a cap of ours

	CodeTrailing   Code = "trailing"    // bytes behind the end of a body
	CodeUnknownTag Code = "unknown-tag" // a tagged field that the schema does not know
	CodeTagOrder   Code = "tag-order"   // tags not ascending, or twice
	CodeChecksum   Code = "checksum"    // a checksum does not fit
	CodeCount      Code = "count"       // a count or size in a header disagrees with what is there
	CodeNull       Code = "null"        // null where the schema allows none
	CodePartial    Code = "partial"     // a record batch cut short, as fetch answers may hold
	CodePayload    Code = "payload"     // nested bytes that could not be read as what they should be
	CodeOlder      Code = "older"       // decoded with an older layout of the same version
	CodeFallback   Code = "fallback"    // answered at another version than asked
	CodeOutOfOrder Code = "out-of-order"
	CodeUnanswered Code = "unanswered" // no response was captured, or none came
	CodeOrphan     Code = "orphan"     // a response whose request was not seen
	CodeClosed     Code = "closed"     // the connection ended with this request outstanding
	CodeSequence   Code = "sequence"   // producer sequence, epoch or offset out of line
	CodeOverlap    Code = "overlap"    // retransmitted bytes differ from the first copy
	CodeInternal   Code = "internal"   // a fault of ours
)

// Issue is trouble found while decoding, with its place.
type Issue struct {
	Severity Severity
	Code     Code
	Span     Span
	Path     string // such as "responses[3].partitions[0].records"; "" is the frame itself
	Text     string
}
