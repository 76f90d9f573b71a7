package records

import "strings"

// Bits of a batch's attributes, behind the codec.
const (
	attrLogAppend     = 1 << 3
	attrTransactional = 1 << 4
	attrControl       = 1 << 5
	attrDeleteHorizon = 1 << 6
)

// TimestampType says whose clock a batch's timestamps are of.
type TimestampType uint8

// Timestamp types.
const (
	NoTimestampType TimestampType = iota // magic 0 has no timestamps
	CreateTime                           // the producer's
	LogAppendTime                        // the broker's
)

var (
	timestampWords = [...]string{"NoTimestampType", "CreateTime", "LogAppendTime"}
	timestampBytes = words(timestampWords[:])
)

// String returns the word that Kafka uses.
func (t TimestampType) String() string {
	if int(t) < len(timestampWords) {
		return timestampWords[t]
	}
	return "unknown"
}

func timestampType(magic int8, attributes int64) TimestampType {
	switch {
	case magic < 1:
		return NoTimestampType
	case attributes&attrLogAppend != 0:
		return LogAppendTime
	}
	return CreateTime
}

// batchAttributes names the bits of a batch's attributes.
type batchAttributes struct{}

// Name returns the words for the bits set in v, such as "gzip, LogAppendTime, transactional".
func (batchAttributes) Name(v int64) string {
	parts := append(make([]string, 0, 5), Codec(v&codecMask).String(), timestampType(2, v).String())
	for _, bit := range [...]struct {
		mask int64
		word string
	}{{attrTransactional, "transactional"}, {attrControl, "control"}, {attrDeleteHorizon, "delete horizon"}} {
		if v&bit.mask != 0 {
			parts = append(parts, bit.word)
		}
	}
	return strings.Join(parts, ", ")
}

// messageAttributes names the bits of a message's attributes; magic 0 has the codec only.
type messageAttributes struct{ magic int8 }

func (m messageAttributes) Name(v int64) string {
	codec := Codec(v & codecMask).String()
	if m.magic == 0 {
		return codec
	}
	return codec + ", " + timestampType(m.magic, v).String()
}

// ControlType is the type of a control record, the second number of its key.
type ControlType int16

// Control types (KIP-98, KIP-595, KIP-630, KIP-853).
const (
	NoControl      ControlType = -1 // not a control record, or its key is too short
	Abort          ControlType = 0
	Commit         ControlType = 1
	LeaderChange   ControlType = 2
	SnapshotHeader ControlType = 3
	SnapshotFooter ControlType = 4
	KRaftVersion   ControlType = 5
	KRaftVoters    ControlType = 6
)

var (
	controlWords = [...]string{
		"ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION",
		"KRAFT_VOTERS", "UNKNOWN",
	}
	controlBytes = words(controlWords[:])
)

func (t ControlType) word() int {
	if t < Abort || t > KRaftVoters {
		return len(controlWords) - 1
	}
	return int(t)
}

// String returns Kafka's name of t, UNKNOWN where it has none.
func (t ControlType) String() string { return controlWords[t.word()] }

// controlNames names control types.
type controlNames struct{}

func (controlNames) Name(v int64) string { return controlWords[ControlType(v).word()] }
