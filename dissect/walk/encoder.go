package walk

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kdissect/kdissect/dissect/schema"
)

// RawTag is a tagged field that the schema does not know.
type RawTag struct {
	Tag  uint32
	Data []byte
}

// Encoder turns values into bytes. Values are what encoding/json makes of the JSON form with
// UseNumber: map[string]any, []any, json.Number, string, bool and nil. Members that are
// missing take the schema's default, members that the schema does not know are an error.
type Encoder struct {
	// Tags are the unknown tagged fields of structs, by path; "" is the top struct.
	Tags map[string][]RawTag
	// Wire holds bytes that stand in place of the canonical encoding, by path: of a field; with
	// ".length" behind it, of an array's count or a record set's length; with ".marker", of a
	// nullable struct's marker; with ".taggedFields", of a struct's whole tag section.
	Wire map[string][]byte
	// Records encodes the array form of a record set; where nil that form is an error.
	Records func(v any) ([]byte, error)

	path []step
	err  *ValueError
}

// ValueError says which value cannot be encoded, and why.
type ValueError struct {
	Path string // such as "topics[0].partitions[1].index"
	Text string
}

// Error returns path and text.
func (e *ValueError) Error() string {
	if e.Path == "" {
		return e.Text
	}
	return e.Path + ": " + e.Text
}

// Body appends the encoding of v in the layout of p, which may be a body, a header or a data
// definition. The error is a *ValueError.
func (e *Encoder) Body(dst []byte, p *schema.Plan, v any) ([]byte, error) {
	e.path, e.err = e.path[:0], nil
	dst = e.fields(dst, p.Root, v)
	if e.err != nil {
		return nil, e.err
	}
	return dst, nil
}

func (e *Encoder) fail(text string) {
	if e.err == nil {
		e.err = &ValueError{where(e.path), text}
	}
}

// override returns the bytes that stand for the present place.
func (e *Encoder) override(suffix string) ([]byte, bool) {
	if len(e.Wire) == 0 {
		return nil, false
	}
	key := where(e.path) + suffix
	b, ok := e.Wire[strings.TrimPrefix(key, ".")]
	return b, ok
}

// fields encodes a struct. A missing value gives one of defaults.
func (e *Encoder) fields(dst []byte, s *schema.Struct, v any) []byte {
	var members map[string]any
	switch v := v.(type) {
	case missing:
	case map[string]any:
		members = v
	default:
		e.fail("want an object, got " + kindOf(v))
		return dst
	}
	seen := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		value, ok := members[f.Desc.Key]
		if ok {
			seen++
		} else {
			value = missing{}
		}
		if _, sized := members[more(f)]; sized && !ok && f.Op == schema.OpRecords {
			value = sizeOnly{}
		}
		dst = e.field(dst, f, value, -1)
	}
	for i := range s.Tags {
		if _, ok := members[s.Tags[i].Desc.Key]; ok {
			seen++
		}
	}
	if seen+telling(s, members) < len(members) {
		e.unknown(s, members)
	}
	if s.Flexible && e.err == nil {
		dst = e.tags(dst, s, members)
	}
	return dst
}

// Ends of the names of members that tell more of a field which stands beside them.
const (
	sizeSuffix    = "SizeInBytes" // of a record set
	decodedSuffix = "Decoded"     // what bytes were found to hold
)

// more returns the name of the member that tells more of f, or "".
func more(f *schema.Field) string {
	switch f.Op {
	case schema.OpRecords:
		return f.Desc.Key + sizeSuffix
	case schema.OpBytes:
		return f.Desc.Key + decodedSuffix
	}
	return ""
}

// telling counts the members that tell more of fields.
func telling(s *schema.Struct, members map[string]any) int {
	n := 0
	for _, list := range [][]schema.Field{s.Fields, s.Tags} {
		for i := range list {
			if _, ok := members[more(&list[i])]; ok {
				n++
			}
		}
	}
	return n
}

// unknown fails with the first member that the struct does not have.
func (e *Encoder) unknown(s *schema.Struct, members map[string]any) {
	var names []string
	for name := range members {
		is := func(f schema.Field) bool { return f.Desc.Key == name || more(&f) == name }
		if !slices.ContainsFunc(s.Fields, is) && !slices.ContainsFunc(s.Tags, is) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	e.fail("no field " + strconv.Quote(names[0]) + " in this version of " + s.Name)
}

// tags encodes a tag section: known fields that differ from their default and unknown ones, by
// ascending tag.
func (e *Encoder) tags(dst []byte, s *schema.Struct, members map[string]any) []byte {
	if b, ok := e.override(".taggedFields"); ok {
		return append(dst, b...)
	}
	var all []RawTag
	if len(e.Tags) > 0 {
		all = append(all, e.Tags[where(e.path)]...)
	}
	for i := range s.Tags {
		f := &s.Tags[i]
		v, ok := members[f.Desc.Key]
		if !ok {
			continue
		}
		b := e.field(nil, f, v, -1)
		if e.err != nil {
			return dst
		}
		var zero Encoder // without overrides
		if !slices.Equal(b, zero.field(nil, f, missing{}, -1)) {
			all = append(all, RawTag{uint32(f.Tag), b})
		}
	}
	slices.SortStableFunc(all, func(a, b RawTag) int { return int(int64(a.Tag) - int64(b.Tag)) })
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for _, t := range all {
		dst = binary.AppendUvarint(dst, uint64(t.Tag))
		dst = binary.AppendUvarint(dst, uint64(len(t.Data)))
		dst = append(dst, t.Data...)
	}
	return dst
}

// missing stands for a value that was not given.
type missing struct{}

// sizeOnly stands for a record set of which only the size was given.
type sizeOnly struct{}

func (e *Encoder) field(dst []byte, f *schema.Field, v any, index int32) []byte {
	if e.err != nil {
		return dst
	}
	e.path = append(e.path, step{f.Desc, index})
	defer func() { e.path = e.path[:len(e.path)-1] }()
	if b, ok := e.override(""); ok {
		return append(dst, b...)
	}
	if v == nil && !f.Nullable {
		e.fail("null, where the schema allows none")
		return dst
	}
	switch f.Op {
	case schema.OpBool:
		return append(dst, byte(b2i(e.bool(f, v))))
	case schema.OpInt8:
		return append(dst, byte(e.integer(f, v, math.MinInt8, math.MaxInt8)))
	case schema.OpInt16:
		return binary.BigEndian.AppendUint16(dst, uint16(e.integer(f, v, math.MinInt16, math.MaxInt16)))
	case schema.OpUint16:
		return binary.BigEndian.AppendUint16(dst, uint16(e.integer(f, v, 0, math.MaxUint16)))
	case schema.OpInt32:
		return binary.BigEndian.AppendUint32(dst, uint32(e.integer(f, v, math.MinInt32, math.MaxInt32)))
	case schema.OpUint32:
		return binary.BigEndian.AppendUint32(dst, uint32(e.integer(f, v, 0, math.MaxUint32)))
	case schema.OpInt64:
		return binary.BigEndian.AppendUint64(dst, uint64(e.integer(f, v, math.MinInt64, math.MaxInt64)))
	case schema.OpFloat64:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(e.float(f, v)))
	case schema.OpUUID:
		return e.uuid(dst, f, v)
	case schema.OpString:
		return e.text(dst, f, v)
	case schema.OpBytes:
		return e.blob(dst, f, v)
	case schema.OpRecords:
		return e.records(dst, f, v)
	case schema.OpStruct:
		return e.nested(dst, f, v)
	case schema.OpArray:
		return e.array(dst, f, v)
	}
	panic("walk: unknown op")
}

func (e *Encoder) records(dst []byte, f *schema.Field, v any) []byte {
	if _, sized := v.(sizeOnly); sized {
		e.fail("only the size is known, not the record set")
		return dst
	}
	batches, ok := v.([]any)
	if !ok {
		return e.blob(dst, f, v)
	}
	if e.Records == nil {
		e.fail("want a record set as base64, got an array")
		return dst
	}
	b, err := e.Records(batches)
	if err != nil {
		e.fail(err.Error())
		return dst
	}
	return append(e.count(dst, f, len(b)), b...)
}

func (e *Encoder) nested(dst []byte, f *schema.Field, v any) []byte {
	if !f.Nullable {
		return e.fields(dst, f.Struct, v)
	}
	if _, unset := v.(missing); v == nil || unset && f.Zero.Null {
		if f.Tag >= 0 {
			return append(dst, 0)
		}
		return append(dst, 0xff)
	}
	if b, ok := e.override(".marker"); ok {
		dst = append(dst, b...)
	} else {
		dst = append(dst, 1)
	}
	return e.fields(dst, f.Struct, v)
}

func (e *Encoder) array(dst []byte, f *schema.Field, v any) []byte {
	switch v := v.(type) {
	case missing:
		if f.Zero.Null {
			return e.longNull(dst, f)
		}
		return e.count(dst, f, 0)
	case nil:
		return e.longNull(dst, f)
	case []any:
		dst = e.count(dst, f, len(v))
		for i, x := range v {
			dst = e.field(dst, f.Elem, x, int32(i))
		}
		return dst
	}
	e.fail("want an array, got " + kindOf(v))
	return dst
}
