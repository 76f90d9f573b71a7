package records

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
)

// Encoder turns the JSON form of record sets into bytes: arrays of batches with the members that
// decoding gives. Values are what encoding/json makes of JSON with UseNumber. Members that are
// computed from others, such as codec or lastOffset, are passed over; a batch without crc gets
// the one that fits. Compressed batches cannot be encoded.
type Encoder struct {
	// Base64 takes strings as base64, not as text.
	Base64 bool
}

// ErrCompressed says that a batch is compressed: other compressors than its producer's would give
// other bytes.
var ErrCompressed = fmt.Errorf("compressed batches cannot be encoded: give the record set as base64 of its bytes")

// Encode appends the encoding of v, an array of batches.
func (x Encoder) Encode(dst []byte, v any) ([]byte, error) {
	batches, ok := v.([]any)
	if !ok {
		return dst, fmt.Errorf("want an array of batches")
	}
	for i, b := range batches {
		o, ok := b.(map[string]any)
		if !ok {
			return dst, fmt.Errorf("batch %d: want an object", i)
		}
		e := setEncoder{form: x, dst: dst, members: o}
		if e.batch(); e.err != nil {
			return dst, fmt.Errorf("batch %d: %w", i, e.err)
		}
		dst = e.dst
	}
	return dst, nil
}

// setEncoder encodes one batch; its first error sticks.
type setEncoder struct {
	form    Encoder
	dst     []byte
	members map[string]any
	err     error
}

func (e *setEncoder) fail(format string, a ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, a...)
	}
}

// integer returns a member of o, or def where it is missing.
func (e *setEncoder) integer(o map[string]any, key string, def, least, most int64) int64 {
	v, ok := o[key]
	if !ok {
		return def
	}
	n, ok := v.(json.Number)
	i, err := n.Int64()
	if !ok || err != nil || i < least || i > most {
		e.fail("%s: want an integer from %d to %d", key, least, most)
	}
	return i
}

func (e *setEncoder) int64(o map[string]any, key string, def int64) int64 {
	return e.integer(o, key, def, math.MinInt64, math.MaxInt64)
}

func (e *setEncoder) int32(o map[string]any, key string, def int64) uint32 {
	return uint32(e.integer(o, key, def, math.MinInt32, math.MaxInt32))
}

func (e *setEncoder) int16(o map[string]any, key string, def int64) uint16 {
	return uint16(e.integer(o, key, def, math.MinInt16, math.MaxInt16))
}

// bytes returns a key or a value; null is nil.
func (e *setEncoder) bytes(o map[string]any, key string) []byte {
	switch v := o[key].(type) {
	case nil:
		return nil
	case string:
		if !e.form.Base64 {
			return append(make([]byte, 0, len(v)), v...)
		}
		return e.base64(key, v)
	case map[string]any:
		if s, ok := v["base64"].(string); ok && len(v) == 1 {
			return e.base64(key, s)
		}
	}
	e.fail(`%s: want a string, {"base64":".."} or null`, key)
	return nil
}

func (e *setEncoder) base64(key, s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		e.fail("%s: %w", key, err)
	}
	if b == nil {
		b = []byte{}
	}
	return b
}

// objects returns an array of objects.
func (e *setEncoder) objects(o map[string]any, key string) []map[string]any {
	list, ok := o[key].([]any)
	if !ok && o[key] != nil {
		e.fail("%s: want an array", key)
	}
	all := make([]map[string]any, len(list))
	for i := range list {
		if all[i], ok = list[i].(map[string]any); !ok {
			e.fail("%s[%d]: want an object", key, i)
			return nil
		}
	}
	return all
}

func (e *setEncoder) batch() {
	magic := e.integer(e.members, "magic", 2, math.MinInt8, math.MaxInt8)
	attributes := e.int16(e.members, "attributes", 0)
	switch {
	case e.err != nil:
	case magic < 0 || magic > 2:
		e.fail("magic %d is not known", magic)
	case Codec(attributes&codecMask) != None:
		e.err = ErrCompressed
	case magic == 2:
		e.recordBatch(attributes)
	default:
		e.message(byte(magic), attributes)
	}
}

// recordBatch encodes a batch of magic 2.
func (e *setEncoder) recordBatch(attributes uint16) {
	o, start := e.members, len(e.dst)
	list := e.objects(o, "records")
	base, first := e.int64(o, "baseOffset", 0), e.int64(o, "baseTimestamp", 0)
	last := int64(len(list)) - 1
	b := binary.BigEndian.AppendUint64(e.dst, uint64(base))
	b = append(b, 0, 0, 0, 0) // length
	b = binary.BigEndian.AppendUint32(b, e.int32(o, "partitionLeaderEpoch", -1))
	b = append(b, 2, 0, 0, 0, 0) // magic, crc
	b = binary.BigEndian.AppendUint16(b, attributes)
	b = binary.BigEndian.AppendUint32(b, e.int32(o, "lastOffsetDelta", last))
	b = binary.BigEndian.AppendUint64(b, uint64(first))
	b = binary.BigEndian.AppendUint64(b, uint64(e.int64(o, "maxTimestamp", first)))
	b = binary.BigEndian.AppendUint64(b, uint64(e.int64(o, "producerId", -1)))
	b = binary.BigEndian.AppendUint16(b, e.int16(o, "producerEpoch", -1))
	b = binary.BigEndian.AppendUint32(b, e.int32(o, "baseSequence", -1))
	b = binary.BigEndian.AppendUint32(b, e.int32(o, "count", int64(len(list))))
	for i, r := range list {
		b = e.record(b, r, base, first, int64(i))
	}
	batch := b[start:]
	binary.BigEndian.PutUint32(batch[8:], uint32(len(batch)-headSize))
	binary.BigEndian.PutUint32(batch[17:], e.crc(crc32c(batch[21:])))
	e.dst = b
}

func (e *setEncoder) crc(fits uint32) uint32 {
	return uint32(e.integer(e.members, "crc", int64(fits), 0, math.MaxUint32))
}

// record encodes a record of a batch.
func (e *setEncoder) record(b []byte, o map[string]any, base, first, index int64) []byte {
	delta := e.int64(o, "timestamp", first) - first
	delta = e.int64(o, "timestampDelta", delta) // where the timestamp is the broker's
	r := []byte{0}
	r = binary.AppendVarint(r, delta)
	r = binary.AppendVarint(r, e.int64(o, "offset", base+index)-base)
	r = appendVarBytes(r, e.bytes(o, "key"))
	r = appendVarBytes(r, e.bytes(o, "value"))
	headers := e.objects(o, "headers")
	r = binary.AppendVarint(r, int64(len(headers)))
	for _, h := range headers {
		key, ok := h["key"].(string)
		if !ok {
			e.fail("headers: want keys that are strings")
		}
		r = appendVarBytes(r, []byte(key))
		r = appendVarBytes(r, e.bytes(h, "value"))
	}
	b = binary.AppendVarint(b, int64(len(r)))
	return append(b, r...)
}

// appendVarBytes appends bytes behind their length as a varint, -1 for nil.
func appendVarBytes(b, p []byte) []byte {
	if p == nil {
		return binary.AppendVarint(b, -1)
	}
	return append(binary.AppendVarint(b, int64(len(p))), p...)
}

// message encodes a message of magic 0 or 1, which is a batch of one record.
func (e *setEncoder) message(magic byte, attributes uint16) {
	o, start := e.members, len(e.dst)
	list := e.objects(o, "records")
	if len(list) != 1 {
		e.fail("a message that is not compressed holds one record, found %d", len(list))
		return
	}
	r := list[0]
	offset := e.int64(o, "rawOffset", e.int64(o, "baseOffset", e.int64(r, "offset", 0)))
	b := binary.BigEndian.AppendUint64(e.dst, uint64(offset))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0) // size, crc
	b = append(b, magic, byte(attributes))
	if magic == 1 {
		b = binary.BigEndian.AppendUint64(b, uint64(e.int64(r, "timestamp", -1)))
	}
	for _, part := range [...]string{"key", "value"} {
		p := e.bytes(r, part)
		if p == nil {
			b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
			continue
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	msg := b[start:]
	binary.BigEndian.PutUint32(msg[8:], uint32(len(msg)-headSize))
	binary.BigEndian.PutUint32(msg[12:], e.crc(crc32.ChecksumIEEE(msg[magicAt:])))
	e.dst = b
}
