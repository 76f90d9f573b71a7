package schema

import "github.com/kdissect/kdissect/tree"

// Descriptions of the bytes that structure needs and no schema names. They are shared by all plans.
var (
	lengthCompact = &tree.Desc{Name: "length", Type: "uvarint", About: "number of elements", Kind: tree.KindUvarint, Enc: tree.EncCompact}
	lengthInt32   = &tree.Desc{Name: "length", Type: "int32", About: "number of elements", Kind: tree.KindInt32, Enc: tree.EncInt32}
	sizeCompact   = &tree.Desc{Name: "length", Type: "uvarint", About: "number of bytes", Kind: tree.KindUvarint, Enc: tree.EncCompact}
	sizeInt32     = &tree.Desc{Name: "length", Type: "int32", About: "number of bytes", Kind: tree.KindInt32, Enc: tree.EncInt32}

	markerInt8    = &tree.Desc{Name: "present", Type: "int8", About: "1: the struct follows, -1: it is null", Kind: tree.KindInt8}
	markerUvarint = &tree.Desc{Name: "present", Type: "uvarint", About: "1: the struct follows, 0: it is null", Kind: tree.KindUvarint}

	structTags = &tree.Desc{Name: "tagged_fields", Type: "uvarint", About: "number of tagged fields in this struct", Kind: tree.KindTags, Region: tree.RegionTags}
	headerTags = &tree.Desc{Name: "tagged_fields", Type: "uvarint", About: "number of tagged fields in the header", Kind: tree.KindTags, Region: tree.RegionTags}
)

// bodyRegions gives the part of a frame that a body is, by direction.
var bodyRegions = [...]tree.Region{Request: tree.RegionRequest, Response: tree.RegionResponse, Data: tree.RegionData}

// opKinds gives the kind of event of each scalar op.
var opKinds = [...]tree.Kind{
	OpBool: tree.KindBool, OpInt8: tree.KindInt8, OpInt16: tree.KindInt16, OpInt32: tree.KindInt32,
	OpInt64: tree.KindInt64, OpUint16: tree.KindUint16, OpUint32: tree.KindUint32,
	OpFloat64: tree.KindFloat64, OpUUID: tree.KindUUID, OpString: tree.KindString,
	OpBytes: tree.KindBytes, OpRecords: tree.KindRecords, OpStruct: tree.KindStruct, OpArray: tree.KindArray,
}

// opSizes gives the bytes of each op of fixed size, 0 for others.
var opSizes = [...]int{
	OpBool: 1, OpInt8: 1, OpInt16: 2, OpInt32: 4, OpInt64: 8, OpUint16: 2, OpUint32: 4,
	OpFloat64: 8, OpUUID: 16, OpArray: 0,
}

// headerAbout describes the fields of the headers and the headers themselves, by name and,
// where request and response differ, by header and name.
var headerAbout = map[string]string{
	"RequestHeader":     "common request header",
	"ResponseHeader":    "common response header",
	"RequestApiKey":     "numeric id of the API being invoked",
	"RequestApiVersion": "version of the API being invoked",
	"CorrelationId":     "echoed back by the broker in the response",
	"ClientId":          "always a non-flexible int16-prefixed string",

	"ResponseHeader.CorrelationId": "matches the correlation_id of the request",
}
