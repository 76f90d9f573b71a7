package frame

// State says what the splitter is doing.
type State uint8

// States.
const (
	Synced    State = iota // the next frame begins where the last one ends
	Searching              // no place that may begin a frame is known
	Trial                  // places that may begin a frame are known, none is confirmed
)

// String returns the lower-case word.
func (s State) String() string {
	switch s {
	case Synced:
		return "synced"
	case Searching:
		return "searching"
	case Trial:
		return "trial"
	}
	return "unknown"
}

// Verdict is what a Judge thinks of bytes.
type Verdict uint8

// Verdicts.
const (
	No     Verdict = iota // cannot be
	More                  // needs more bytes to tell
	Weak                  // may be
	Strong                // looks right in all that can be checked
)

// Judge knows what the frames of a stream look like.
type Judge interface {
	// Size reports whether a frame that follows another one may have this size.
	Size(size int32) bool
	// Header judges bytes that may begin a frame, the size first. prev is nil, or the candidate
	// right before them. Once it is not More, the verdict stays the same when more bytes follow.
	Header(prev, b []byte) Verdict
	// Whole judges a whole frame whose header passed. Strong confirms it without waiting, No
	// rejects it, and Weak leaves it to the header that follows. Most senders begin a packet
	// with a frame: aligned says that this one does.
	Whole(b []byte, aligned bool) Verdict
	// Begins reports whether b, the first bytes behind a gap, begin a frame beyond doubt, although
	// the rest of it is missing.
	Begins(b []byte) bool
}

// Cause says why bytes are not given.
type Cause uint8

// Causes.
const (
	Nothing   Cause = iota
	InGap           // missing from the stream
	AtEnd           // the stream ended first
	OverLimit       // given up by the limit on a frame or on buffers
	BehindGap       // captured, in a frame that a gap interrupted before
	NoPrefix        // captured, a part of a size prefix that is not whole
	NotFound        // captured, passed over while searching for a frame
)

// String returns the words for people.
func (c Cause) String() string {
	switch c {
	case InGap:
		return "missing"
	case AtEnd:
		return "the stream ended"
	case OverLimit:
		return "over the limit"
	case BehindGap:
		return "behind a gap in their frame"
	case NoPrefix:
		return "a part of a size prefix"
	case NotFound:
		return "no frame found"
	}
	return ""
}

// Mark says that the bytes from Off on came with a packet.
type Mark struct {
	Off    int32
	Packet int64
	Time   int64 // nanoseconds since 1970
}

// Missing names the first range of an incomplete frame's bytes that is not given. Bytes behind
// it are not given either; those that were captured are skipped with BehindGap.
type Missing struct {
	Why    Cause
	Reason uint8 // of the gap, for InGap
	Off    int64 // in the frame
	Len    int64 // within the frame
	Packet int64 // that made it known
	Time   int64
}

// Frame is a frame or its beginning.
type Frame struct {
	Off     int64  // of the size prefix in the stream
	Size    int32  // as sent
	Bytes   []byte // size prefix and what follows, alive during the call
	Missing Missing
	Marks   []Mark // by ascending Off, the first at 0; alive during the call
	// Last and LastTime are the packet of the last byte, or the one that made the loss known.
	Last     int64
	LastTime int64
	// Buf holds Bytes where they were gathered from several chunks. A receiver may keep it by
	// setting this to nil, and then gives it back to the Pool.
	Buf *Buffer
	// InChunk is set where Bytes are of the chunk that was given last.
	InChunk bool

	one [1]Mark // of a frame that came in one chunk
}

// Whole reports whether no byte is missing.
func (f *Frame) Whole() bool { return f.Missing.Why == Nothing }

// Skip is a run of captured bytes that belong to no frame that is given.
type Skip struct {
	Off, Len    int64
	Why         Cause
	First, Last int64 // packets
	Time        int64 // of the last packet
}

// Gap is a run of missing bytes.
type Gap struct {
	Off    int64
	Len    int64 // -1 where unknown
	Reason uint8 // passed through
	Packet int64
	Time   int64
}

// Sink receives what a Splitter finds, by ascending offset.
type Sink interface {
	Frame(*Frame)
	Skip(Skip)
}

// Owner has a Splitter: it knows what its frames look like, and receives them.
type Owner interface {
	Judge
	Sink
}

// Limits bound a Splitter. WithDefaults puts the default in place of zero.
type Limits struct {
	MaxFrame  int32 // size of a frame that is given whole; default 128 MiB
	MaxSearch int32 // size of a frame that is found again after loss; default 16 MiB
	KeepOver  int32 // bytes given of a frame over MaxFrame; default 4 KiB
	Chain     int   // frames in a row that confirm each other where each is Weak; default 3
}

// WithDefaults returns l with defaults where it has zeros.
func (l Limits) WithDefaults() Limits {
	if l.MaxFrame <= 0 {
		l.MaxFrame = 128 << 20
	}
	if l.MaxSearch <= 0 {
		l.MaxSearch = 16 << 20
	}
	if l.KeepOver <= 0 {
		l.KeepOver = 4 << 10
	}
	if l.Chain <= 0 {
		l.Chain = 3
	}
	return l
}
