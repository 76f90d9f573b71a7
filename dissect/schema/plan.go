package schema

import "github.com/kdissect/kdissect/tree"

// Direction tells a request from a response; Data is a definition that is no API.
type Direction uint8

// Directions.
const (
	Request Direction = iota
	Response
	Data
)

// String returns the lower-case word.
func (d Direction) String() string {
	switch d {
	case Request:
		return "request"
	case Response:
		return "response"
	}
	return "data"
}

// Op is the wire form of a field: what a decoder does at it.
type Op uint8

// Ops.
const (
	OpBool Op = iota
	OpInt8
	OpInt16
	OpInt32
	OpInt64
	OpUint16
	OpUint32
	OpFloat64
	OpUUID
	OpString
	OpBytes
	OpRecords
	OpStruct
	OpArray
)

// Role is the meaning of a field that outputs and the pipeline look for without comparing
// names; it is the Role of the field's tree.Desc.
type Role uint8

// Roles.
const (
	RoleNone Role = iota
	RoleErrorCode
	RoleErrorMessage
	RoleTopicName
	RoleTopicID
	RolePartition
	RoleGroupID
	RoleMemberID
	RoleTransactionalID
	RoleProducerID
	RoleBrokerID
	RoleOffset // a fetch offset, a base offset, a committed offset
	RoleHighWatermark
	RoleAcks
	RoleThrottle
	RoleClientSoftwareName
	RoleClientSoftwareVersion
	RoleMechanism // SASL mechanism
	RoleAuthBytes // SASL token
	RoleCoordinatorKey
	RoleHost
	RolePort
	RoleNodeID
	RoleResourceName
	RoleSessionID
	RoleSessionEpoch
	RolePrincipal
	RoleProducerEpoch
	RoleGenerationID // of a classic group
	RoleMemberEpoch  // of a member of a group of the newer kinds
	RoleGroupInstanceID
	RoleLeaderID
	RoleLeaderEpoch
	RoleReplicaID
	RoleControllerID
	RoleClusterID
	RoleLogStartOffset
	RoleLastStableOffset
	RoleIsolationLevel
	RoleResourceType
	RoleProtocolType
	RoleTimestamp
	RoleRecords
	RoleAPIKey
	RoleAPIVersion
	RoleCorrelationID
	RoleClientID
	RoleProtocolName     // of the assignor or protocol that a classic group uses
	RoleMemberMetadata   // what a member of a classic group says of itself
	RoleMemberAssignment // what a member of a classic group is given
	RoleUserData         // what an assignor adds to these
	RoleRequestData      // a forwarded request
	RoleResponseData     // the answer to it
	RolePrincipalData    // whom it is forwarded for
	RoleMetrics          // of a client, as OTLP
	RoleCompression      // codec of these
	RolePosition         // of bytes in a file
	RoleConfigName       // of a config
	RoleConfigValue      // the value of the config whose name stands before it
)

// Plan is the layout of one message at one version, compiled once and read by many.
type Plan struct {
	Name          string // such as "FetchRequest", or the name of a data definition
	API           *API   // nil for data definitions and headers
	Version       int16
	Direction     Direction
	HeaderVersion int16 // of the frame's header; -1 for data
	Flexible      bool
	Older         string     // the last release that had this layout, where a newer one replaced it under the same version; else ""
	Desc          *tree.Desc // of the whole frame (KindMessage); of a header, the same as Body
	Body          *tree.Desc // of the body (KindStruct); of a header, its group (KindGroup)
	Root          *Struct
}

// Struct is the layout of a struct at one version.
type Struct struct {
	Name      string
	Flexible  bool       // a tag section follows the fields
	Fields    []Field    // untagged, in wire order
	Tags      []Field    // by ascending tag
	MinSize   int        // bytes of the smallest encoding
	FixedSize int        // bytes where every encoding has the same size, else -1
	TagsDesc  *tree.Desc // of the tag section
	Members   int32      // fields of this version, tagged ones included
}

// Field is one field of a struct at one version.
type Field struct {
	Desc     *tree.Desc
	Op       Op
	Compact  bool // lengths and counts are uvarints
	Nullable bool
	Tag      int32 // -1 where untagged
	// TagDesc describes the group of a tagged field: its tag, its size and its value.
	TagDesc *tree.Desc
	Struct  *Struct    // of an OpStruct
	Elem    *Field     // of an OpArray; never nullable, its Desc names the element type
	Length  *tree.Desc // the length leaf of an OpArray and an OpRecords
	// Marker is the leaf before a nullable struct. Its Kind tells the form: KindInt8 is -1 for
	// null, else 1; KindUvarint, inside a tagged field, is 0 for null, else 1.
	Marker    *tree.Desc
	MinSize   int
	FixedSize int   // -1 where it varies
	Zero      Value // the schema's default, which tagged fields leave out when equal
	Member    int32 // same as Desc.Order
	// Hidden describes a RoleConfigValue that is secret: by SecretConfig of its name, or because
	// the bool Mark bytes behind it says so, -1 where there is none. It is nil for other fields.
	Hidden *tree.Desc
	Mark   int
}

// Value is a default as the schema gives it, parsed.
type Value struct {
	Num  int64  // integers, bools and float64 bits
	Str  string // strings; 16 bytes for uuids
	Null bool
}
