package dissect

import (
	"time"

	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// State says how the two halves of an exchange came together.
type State uint8

// States.
const (
	Paired      State = iota // request and response
	Unanswered               // the request only
	Orphan                   // the response only: its request was not captured
	NoResponse               // a request that expects none (Produce with acks=0)
	Interrupted              // a half is incomplete: bytes of it are missing
)

// String returns the words for people and for JSON.
func (s State) String() string {
	switch s {
	case Paired:
		return "paired"
	case Unanswered:
		return "unanswered"
	case Orphan:
		return "orphan"
	case NoResponse:
		return "no response expected"
	case Interrupted:
		return "interrupted"
	}
	return "unknown"
}

// FrameKind tells what a frame holds.
type FrameKind uint8

// Kinds of frames.
const (
	KafkaFrame FrameKind = iota
	TokenFrame           // an opaque SASL token behind SaslHandshake v0: int32 size and the token
)

// PacketMark says that the bytes of a frame from Off on came in Packet.
type PacketMark struct {
	Off    int32
	Packet int64
}

// Frame is one half of an exchange. Its bytes are alive until the Handler's call returns.
type Frame struct {
	Kind   FrameKind
	Bytes  []byte // the size prefix and what follows; shorter than 4+Size where bytes are missing
	Size   int32  // as sent: bytes behind the prefix
	Offset int64  // of the first byte in the stream of its direction

	APIKey        int16 // -1 for a token, and where it is not known
	Version       int16 // of the request; the answer's body may differ, see Plan
	CorrelationID int32
	ClientID      []byte       // of a request; nil is null
	Header        *schema.Plan // of the header; nil where not even its layout is known
	Plan          *schema.Plan // of the body; nil where key or version are unknown

	FirstPacket, LastPacket int64
	FirstTime, LastTime     int64 // nanoseconds since 1970, of the first and the last byte
	Packets                 []PacketMark

	Issues []tree.Issue // found outside of decoding, such as missing bytes

	facts   *view  // as known when the exchange was complete
	answers *Frame // of a response: its request

	mechanism  string // of SASL, where the frame is part of a login
	fromBroker bool   // of a token
}

// Cut reports whether bytes of the frame are missing.
func (f *Frame) Cut() bool { return len(f.Bytes) < 4+int(f.Size) }

// Exchange is a request with its response, or the half that there is.
type Exchange struct {
	Number   int64 // from 1, in order of output
	Conn     *Connection
	Request  *Frame
	Response *Frame
	State    State
	Latency  time.Duration // from the request's first byte to the response's last; 0 where a half is missing
	// Overtook is set where the response came before that of an earlier request.
	Overtook bool
	Issues   []tree.Issue // about the exchange as a whole
	// Place is where the Dissector stood, by At, when the exchange was complete.
	Place int64

	facts *view
}

// TopicName returns the name of a topic id, as far as the capture has shown it.
func (x *Exchange) TopicName(id [16]byte) (string, bool) {
	if x == nil || x.facts == nil { // a frame that did not come from a capture
		return "", false
	}
	return x.facts.TopicName(id)
}

// Connection is what the dissector knows of one TCP connection. It is alive until the call of
// Handler.Closed for it returns.
type Connection struct {
	TCP      *reassembly.Conn
	Protocol Protocol
	// Broker is the direction whose bytes come from the broker; Backward unless shown otherwise.
	Broker          reassembly.Dir
	Exchanges       int64
	Faults          int64     // of ours; the first few are among Issues
	SASL            SASL      // the login, or the last one
	Counts          [2]Counts // by direction, of a Kafka connection
	Software        string    // the client's name and version, from ApiVersions
	SoftwareVersion string
	Principal       string    // such as "User:alice", once the client has logged in
	Gaps            []DirGap  // the first few of both directions
	Skips           []DirSkip // the first few of both directions
	Issues          []tree.Issue
}

// Counts accounts for the captured bytes of one direction: each is in a frame or skipped, and
// those of a connection that is not Kafka are neither.
type Counts struct {
	Frames       int64 // whole ones
	FrameBytes   int64
	Incomplete   int64 // frames that lack bytes
	PartialBytes int64 // the bytes of these that are given
	Skips        int64
	Skipped      int64 // bytes
	Limited      int64 // bytes of these given up by a limit
	LimitedElse  int64 // bytes in gaps and skips that a limit is the reason of, also where they are not listed
}

// DirSkip is a run of captured bytes that belong to no frame, with its direction.
type DirSkip struct {
	Dir reassembly.Dir
	frame.Skip
}

// DirGap is a gap with its direction.
type DirGap struct {
	Dir reassembly.Dir
	reassembly.Gap
}

// Protocol is what a connection was found to speak.
type Protocol uint8

// Protocols.
const (
	ProtocolUnknown Protocol = iota
	ProtocolEmpty            // no bytes in either direction
	ProtocolKafka
	ProtocolTLS
	ProtocolHTTP
)

// String returns the words for people and for JSON.
func (p Protocol) String() string {
	switch p {
	case ProtocolEmpty:
		return "empty"
	case ProtocolKafka:
		return "Kafka"
	case ProtocolTLS:
		return "TLS"
	case ProtocolHTTP:
		return "HTTP"
	}
	return "unknown"
}

// Handler receives what the Dissector finds, in packet order. Frames' bytes die when the call
// returns.
type Handler interface {
	Exchange(*Exchange)
	// Closed is the last call about a connection, Kafka or not.
	Closed(*Connection, reassembly.End)
}
