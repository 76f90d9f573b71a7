package records

import (
	"encoding/binary"
	"strconv"

	"github.com/kdissect/kdissect/tree"
)

// Sizes of what a control record holds (KIP-98).
const (
	controlKeySize = 4 // version, type
	markerSize     = 6 // version, coordinator epoch
)

// controlType returns the type that the key of a control record names.
func controlType(key []byte) ControlType {
	if len(key) < controlKeySize {
		return NoControl
	}
	return ControlType(binary.BigEndian.Uint16(key[2:]))
}

// controlKey reports the key of a control record.
func (d *Decoder) controlKey(desc *tree.Desc, f *fields) {
	key := d.rec.Key
	at := d.opened(desc, descKeyLength, f.key, f.value, key)
	d.leaf(descControlVer, at, 2, readInt(key, 2))
	d.leaf(descControlID, at+2, 2, int64(d.rec.Control))
	d.word(descControlType, at+controlKeySize, controlBytes[d.rec.Control.word()])
	d.surplus(at+controlKeySize, f.value)
}

// marker reports the value of a COMMIT or ABORT record.
func (d *Decoder) marker(desc *tree.Desc, f *fields) {
	value := d.rec.Value
	at := d.opened(desc, descValueLength, f.value, f.headers, value)
	d.leaf(descMarkerVer, at, 2, readInt(value, 2))
	body := tree.Event{Desc: descMarker, Span: d.span(at+2, 4), Aux: -1}
	if d.sink.Begin(body) {
		d.leaf(descCoordEpoch, at+2, 4, readInt(value[2:], 4))
	}
	d.sink.End(body)
	d.surplus(at+markerSize, f.headers)
}

// surplus reports what newer versions of control records may have behind what is known.
func (d *Decoder) surplus(off, end int) {
	if off == end {
		return
	}
	d.rest(descUnknown, off, end)
	d.issue(tree.Info, tree.CodeTrailing, off, end-off, strconv.Itoa(end-off)+" bytes behind the end")
}

// checkControl reports a control record that is too short to say what it is.
func (d *Decoder) checkControl(f *fields) {
	if d.v2.attributes&attrControl == 0 {
		return
	}
	if f.done >= readKey && len(d.rec.Key) < controlKeySize {
		d.issue(tree.Warning, tree.CodeMalformed, f.key, f.value-f.key, "key of a control record has less than 4 bytes")
	}
	marker := d.rec.Control == Abort || d.rec.Control == Commit
	if f.done >= readValue && marker && len(d.rec.Value) < markerSize {
		d.issue(tree.Warning, tree.CodeMalformed, f.value, f.headers-f.value, "transaction marker has less than 6 bytes")
	}
}
