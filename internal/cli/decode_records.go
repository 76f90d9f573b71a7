package cli

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/tree"
)

// recordSet is the root of the tree of a record set.
var recordSet = &tree.Desc{Name: "RecordSet", Kind: tree.KindGroup, About: "record batches or messages, one behind the other"}

// showRecords shows bytes that are a record set.
func (d *decoder) showRecords(b []byte) error {
	d.buf = d.buf[:0]
	switch d.f.format.value {
	case "tree":
		d.buf = d.appendRecordTree(d.buf, b)
	case "json":
		d.buf = d.sets.Append(d.buf, b, d.f.topic)
	default:
		s := records.Summarize(b, 0)
		d.buf = fmt.Appendf(d.buf, "%s  %s  offset %d  %d bytes\n",
			plural(int64(s.Batches), "batch"), plural(s.Records, "record"), s.FirstOffset, s.Bytes)
	}
	_, err := d.e.stdout.Write(d.buf)
	return err
}

func (d *decoder) appendRecordTree(dst, b []byte) []byte {
	text := tree.Text{Full: d.f.full, Secrets: d.f.showSecrets, Color: useColor(d.f.color.value, d.e.stdout)}
	d.builder.Reset(b)
	root := tree.Event{Desc: recordSet, Span: tree.Span{Len: int32(len(b))}, Aux: -1}
	d.builder.Begin(root)
	d.payloads.Reset()
	d.payloads.Records(b, root.Span, d.f.topic, &d.builder, records.Options{})
	d.builder.End(root)
	dst = text.Append(dst, d.builder.Tree())
	if d.f.hex {
		grid := tree.Grid{Secrets: d.f.showSecrets, Color: text.Color}
		dst = grid.Append(dst, d.builder.Tree())
	}
	return dst
}

// exact reports whether the array form of a record set gives its bytes again. That of compressed
// ones does not, nor has it what is left of a batch that was cut short.
func (d *decoder) exact(set []byte) bool {
	if d.f.plain || d.f.bytes.value == "hex" { // only the size is shown, or strings that could be text
		return false
	}
	var v struct{ Batches []any }
	dec := json.NewDecoder(bytes.NewReader(d.exactSets.Append(nil, set, "")))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return false
	}
	b, err := records.Encoder{Base64: d.f.bytes.value == "base64"}.Encode(nil, v.Batches)
	return err == nil && bytes.Equal(b, set)
}
