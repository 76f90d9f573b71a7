package walk

import "github.com/kdissect/kdissect/tree"

// Descriptions of what frames the fields of a schema.
var (
	rawMessage = tree.Desc{Name: "UnknownMessage", Type: "message", Kind: tree.KindMessage}
	frameDesc  = &tree.Desc{Name: "Frame", Kind: tree.KindGroup, About: "length-delimited framing", Region: tree.RegionFrame}
	sizeDesc   = &tree.Desc{Name: "size", Type: "int32", Kind: tree.KindInt32, About: "number of bytes that follow"}

	tagCountDesc   = &tree.Desc{Name: "count", Type: "uvarint", Kind: tree.KindUvarint, About: "number of tagged fields"}
	tagDesc        = &tree.Desc{Name: "tag", Type: "uvarint", Kind: tree.KindUvarint, About: "number of the tagged field"}
	tagSizeDesc    = &tree.Desc{Name: "size", Type: "uvarint", Kind: tree.KindUvarint, About: "number of bytes of the tagged field"}
	tagDataDesc    = &tree.Desc{Name: "data", Type: "bytes", Kind: tree.KindBytes, About: "bytes of a field that the schema does not know"}
	unknownTagDesc = &tree.Desc{Name: "unknown", Kind: tree.KindTag}

	restDesc     = &tree.Desc{Name: "undecoded", Type: "bytes", Kind: tree.KindRest, Data: true, About: "bytes that were not decoded"}
	rawDesc      = &tree.Desc{Name: "body", Type: "bytes", Kind: tree.KindRest, Data: true, About: "body of unknown layout"}
	trailingDesc = &tree.Desc{Name: "trailing", Type: "bytes", Kind: tree.KindRest, Data: true, About: "bytes behind the end of the body"}
)
