package payload

import (
	"encoding/binary"
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// form says what bytes were found to be: fields that lead, a header for forwarded frames, and a
// body. What is behind the body are trailing bytes.
type form struct {
	holder   *tree.Desc // of the bytes
	name     string     // of the message, such as "OffsetCommitValue"
	version  int64      // -1 where it has none
	leads    [3]lead
	n        int // of leads
	header   *schema.Plan
	headerAt int
	body     *schema.Plan // nil for metrics
	bodyAt   int
	end      int        // of the body
	hide     bool       // holds secrets
	note     string     // a remark on how it was read
	sasl     *SASLToken // in place of a body
	bare     bool       // the body alone is shown, as a member that JSON has a name for
}

// lead is a field of fixed meaning in front of a body.
type lead struct {
	desc *tree.Desc
	size int
	num  int64
}

func (f *form) lead(desc *tree.Desc, size int, num int64) {
	f.leads[f.n] = lead{desc, size, num}
	f.n++
}

// Descriptions of what stands in front of bodies, and of what JSON says about payloads.
var (
	nameDesc         = &tree.Desc{Name: "name", Key: "name", Type: "string", Kind: tree.KindString, About: "message that the bytes hold"}
	versionDesc      = &tree.Desc{Name: "version", Key: "version", Type: "int16", Kind: tree.KindInt16, About: "version of the layout"}
	typeDesc         = &tree.Desc{Name: "type", Type: "int16", Kind: tree.KindInt16, About: "type of the record"}
	frameVersionDesc = &tree.Desc{Name: "frame version", Type: "uvarint", Kind: tree.KindUvarint, About: "version of the three fields in front of the record"}
	frameTypeDesc    = &tree.Desc{Name: "type", Type: "uvarint", Kind: tree.KindUvarint, About: "type of the record"}
	frameRecordDesc  = &tree.Desc{Name: "version", Key: "version", Type: "uvarint", Kind: tree.KindUvarint, About: "version of the record's layout"}
	trailingDesc     = &tree.Desc{Name: "trailing", Type: "bytes", Kind: tree.KindRest, About: "bytes behind the end of the message"}
	secretRestDesc   = &tree.Desc{Name: "trailing", Type: "bytes", Kind: tree.KindRest, Secret: true, About: "bytes behind the end of a message that holds secrets"}

	keyHolder     = &tree.Desc{Name: "key", Key: "key"}
	valueHolder   = &tree.Desc{Name: "value", Key: "value"}
	controlHolder = &tree.Desc{Name: "value", Key: "controlBody"}
)

func int16be(b []byte) int16 { return int16(binary.BigEndian.Uint16(b)) }

func unknownVersion(name string, version int16) string {
	return name + " has no version " + strconv.Itoa(int(version))
}

func notRead(name string, version int16) string {
	return "cannot be read as version " + strconv.Itoa(int(version)) + " of " + name
}

func tooShort(name string) string { return "too short for " + name }
