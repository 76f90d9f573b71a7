package walk

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kdissect/kdissect/dissect/schema"
)

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a bool"
	case json.Number:
		return v.String()
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "nothing"
}

func (e *Encoder) bool(f *schema.Field, v any) bool {
	switch v := v.(type) {
	case missing:
		return f.Zero.Num != 0
	case bool:
		return v
	}
	e.fail("want true or false, got " + kindOf(v))
	return false
}

func (e *Encoder) integer(f *schema.Field, v any, least, most int64) int64 {
	switch v := v.(type) {
	case missing:
		return f.Zero.Num
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		if err == nil && n >= least && n <= most {
			return n
		}
		e.fail(v.String() + " is no integer from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10))
		return 0
	}
	e.fail("want an integer, got " + kindOf(v))
	return 0
}

func (e *Encoder) float(f *schema.Field, v any) float64 {
	switch v := v.(type) {
	case missing:
		return math.Float64frombits(uint64(f.Zero.Num))
	case json.Number:
		if n, err := strconv.ParseFloat(v.String(), 64); err == nil {
			return n
		}
	case string:
		switch v {
		case "NaN":
			return math.NaN()
		case "Infinity":
			return math.Inf(1)
		case "-Infinity":
			return math.Inf(-1)
		}
	}
	e.fail("want a number, got " + kindOf(v))
	return 0
}

// uuid takes Kafka's form (22 characters of base64url) and the hyphenated one.
func (e *Encoder) uuid(dst []byte, f *schema.Field, v any) []byte {
	switch v := v.(type) {
	case missing:
		if len(f.Zero.Str) == 16 {
			return append(dst, f.Zero.Str...)
		}
		return append(dst, make([]byte, 16)...)
	case string:
		if b, err := base64.RawURLEncoding.DecodeString(v); err == nil && len(b) == 16 {
			return append(dst, b...)
		}
		if b, err := hex.DecodeString(strings.ReplaceAll(v, "-", "")); err == nil && len(b) == 16 {
			return append(dst, b...)
		}
		e.fail(strconv.Quote(v) + " is no uuid: want 22 characters of base64url or the hyphenated form")
		return dst
	}
	e.fail("want a uuid as a string, got " + kindOf(v))
	return dst
}

func (e *Encoder) text(dst []byte, f *schema.Field, v any) []byte {
	var s string
	switch v := v.(type) {
	case missing:
		if f.Zero.Null {
			return e.longNull(dst, f)
		}
		s = f.Zero.Str
	case nil:
		return e.longNull(dst, f)
	case string:
		s = v
	default:
		e.fail("want a string, got " + kindOf(v))
		return dst
	}
	switch {
	case !utf8.ValidString(s):
		e.fail("not UTF-8")
	case f.Compact:
		dst = binary.AppendUvarint(dst, uint64(len(s))+1)
	case len(s) > math.MaxInt16:
		e.fail(strconv.Itoa(len(s)) + " bytes are too long for a string: at most " + strconv.Itoa(math.MaxInt16))
	default:
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	}
	return append(dst, s...)
}

// longNull appends the null of a string, of bytes, of records or of an array.
func (e *Encoder) longNull(dst []byte, f *schema.Field) []byte {
	switch {
	case f.Compact:
		return append(dst, 0)
	case f.Op == schema.OpString:
		return append(dst, 0xff, 0xff)
	}
	return append(dst, 0xff, 0xff, 0xff, 0xff)
}

// count appends the length of bytes or records or the count of an array.
func (e *Encoder) count(dst []byte, f *schema.Field, n int) []byte {
	if b, ok := e.override(".length"); ok {
		return append(dst, b...)
	}
	if f.Compact {
		return binary.AppendUvarint(dst, uint64(n)+1)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

func (e *Encoder) blob(dst []byte, f *schema.Field, v any) []byte {
	switch v := v.(type) {
	case missing:
		if f.Zero.Null {
			return e.longNull(dst, f)
		}
		return e.count(dst, f, 0)
	case nil:
		return e.longNull(dst, f)
	case string:
		b, err := base64.StdEncoding.DecodeString(v)
		if err != nil {
			e.fail("want base64: " + err.Error())
			return dst
		}
		return append(e.count(dst, f, len(b)), b...)
	}
	e.fail("want bytes as base64, got " + kindOf(v))
	return dst
}
