package output

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/kdissect/kdissect/tree"
)

// ValueForm says how the keys or values of records are shown.
type ValueForm uint8

// Forms of values.
const (
	ValueAuto   ValueForm = iota // text where it is UTF-8, else base64
	ValueText                    // text, with U+FFFD for what is not UTF-8
	ValueJSON                    // JSON, as it is
	ValueHex                     // hex digits
	ValueBase64                  // base64, standard alphabet, padded
	ValueInt                     // a number of 4 bytes
	ValueLong                    // a number of 8 bytes
	ValueDouble                  // a float64
	ValueUUID                    // 16 bytes
	// ValueConfluent is the wire format of a schema registry: 0, the schema's id, for Protocol
	// Buffers the indexes of the message, and the data.
	ValueConfluent
)

// ValueForms are the names of the forms, in order.
var ValueForms = []string{"auto", "text", "json", "hex", "base64", "int", "long", "double", "uuid", "confluent"}

// ParseValueForm reads one of ValueForms.
func ParseValueForm(s string) (ValueForm, bool) {
	for i, name := range ValueForms {
		if s == name {
			return ValueForm(i), true
		}
	}
	return ValueAuto, false
}

// appendJSON appends p as a JSON value. What does not fit the form is shown as ValueAuto does.
func (f ValueForm) appendJSON(b, p []byte) []byte {
	switch {
	case f == ValueText:
		return appendQuoted(b, p)
	case f == ValueHex:
		return appendHex(b, p)
	case f == ValueBase64:
		return appendBase64(b, p)
	case f == ValueJSON && json.Valid(p):
		return appendCompact(b, p)
	case f == ValueInt && len(p) == 4:
		return strconv.AppendInt(b, int64(int32(binary.BigEndian.Uint32(p))), 10)
	case f == ValueLong && len(p) == 8:
		return strconv.AppendInt(b, int64(binary.BigEndian.Uint64(p)), 10)
	case f == ValueDouble && len(p) == 8:
		return appendFloat(b, math.Float64frombits(binary.BigEndian.Uint64(p)))
	case f == ValueUUID && len(p) == 16:
		b = append(b, '"')
		b = tree.AppendUUID(b, p)
		return append(b, '"')
	case f == ValueConfluent && len(p) >= 5 && p[0] == 0:
		return appendConfluent(b, p)
	case utf8.Valid(p):
		return appendQuoted(b, p)
	}
	b = append(b, `{"base64":`...)
	b = appendBase64(b, p)
	return append(b, '}')
}

// appendText appends p for people: without quotes, and on one line.
func (f ValueForm) appendText(b, p []byte) []byte {
	switch {
	case f == ValueAuto || f == ValueText || f == ValueJSON:
		if f != ValueText && !utf8.Valid(p) {
			return hex.AppendEncode(append(b, "0x"...), p)
		}
		return appendVisible(b, p)
	case f == ValueHex:
		return hex.AppendEncode(b, p)
	case f == ValueBase64, f == ValueUUID:
		from := len(b)
		b = f.appendJSON(b, p)
		if b[from] == '"' {
			copy(b[from:], b[from+1:len(b)-1])
			return b[:len(b)-2]
		}
		return b
	}
	return f.appendJSON(b, p)
}

// appendCompact appends valid JSON without the white space between its tokens.
func appendCompact(b, p []byte) []byte {
	text := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case text && c == '\\':
			b = append(b, c, p[i+1])
			i++
		case c == '"':
			text = !text
			b = append(b, c)
		case !text && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
		default:
			b = append(b, c)
		}
	}
	return b
}

// appendConfluent appends the parts of a value that a schema registry's serializer made.
func appendConfluent(b, p []byte) []byte {
	b = append(b, `{"schemaId":`...)
	b = strconv.AppendUint(b, uint64(binary.BigEndian.Uint32(p[1:])), 10)
	data := p[5:]
	if indexes, n := messageIndexes(data); n > 0 {
		b = append(b, `,"messageIndexes":[`...)
		for i, v := range indexes {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, v, 10)
		}
		b = append(b, ']')
		data = data[n:]
	}
	b = append(b, `,"data":`...)
	b = ValueJSON.appendJSON(b, data)
	return append(b, '}')
}

// maxIndexes is the most levels of messages within messages that a Protocol Buffers file is taken
// to have.
const maxIndexes = 16

// messageIndexes returns which message of its file a value of Protocol Buffers is: a varint of
// how many indexes follow, 0 standing for [0]. Values of other kinds do not have them, which
// shows in what follows: they are taken for indexes only where that is well-formed.
func messageIndexes(p []byte) (indexes []int64, n int) {
	count, n := binary.Varint(p)
	if n <= 0 || count < 0 || count > maxIndexes {
		return nil, 0
	}
	if count == 0 {
		indexes = []int64{0}
	}
	for range count {
		v, k := binary.Varint(p[n:])
		if k <= 0 || v < 0 || v > math.MaxInt16 {
			return nil, 0
		}
		indexes = append(indexes, v)
		n += k
	}
	if !wellFormed(p[n:]) {
		return nil, 0
	}
	return indexes, n
}

// wellFormed reports whether p could be a message of Protocol Buffers.
func wellFormed(p []byte) bool {
	for len(p) > 0 {
		tag, n := binary.Uvarint(p)
		if n <= 0 || tag>>3 == 0 {
			return false
		}
		p = p[n:]
		size := 0
		switch tag & 7 {
		case 0:
			if _, size = binary.Uvarint(p); size <= 0 {
				return false
			}
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			v, k := binary.Uvarint(p)
			if k <= 0 || v > uint64(len(p)-k) {
				return false
			}
			size = k + int(v)
		default:
			return false
		}
		if size > len(p) {
			return false
		}
		p = p[size:]
	}
	return true
}
