package layout

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// recordSets is a walk.Records that walks record sets down to their records.
type recordSets struct{ decoder records.Decoder }

// Reset implements walk.Records.
func (r *recordSets) Reset() { r.decoder.Reset() }

// Walk implements walk.Records.
func (r *recordSets) Walk(data []byte, base tree.Span, path string, sink tree.Sink) {
	r.decoder.Walk(data, base, sink, records.Options{Path: path})
}

// Keys of the APIs whose older versions carry message sets.
const (
	keyProduce = 0
	keyFetch   = 1
)

// magicOf returns the format of the record sets that p carries: 2 for record batches (KIP-98),
// 1 (KIP-32) and 0 for message sets.
func magicOf(p *schema.Plan) int8 {
	if p.API == nil {
		return 2
	}
	switch {
	case p.API.Key == keyProduce && p.Version < 2, p.API.Key == keyFetch && p.Version < 2:
		return 0
	case p.API.Key == keyProduce && p.Version < 3, p.API.Key == keyFetch && p.Version < 4:
		return 1
	}
	return 2
}

// emptyRecords returns the smallest record set that p can carry.
func emptyRecords(p *schema.Plan) []byte {
	if m := magicOf(p); m < 2 {
		return message(m, 0, nil, nil)
	}
	return batch(recordBatch{})
}

// sampleRecords returns a record set of one record.
func sampleRecords(p *schema.Plan) []byte {
	key, value := []byte("key"), []byte("value")
	if m := magicOf(p); m < 2 {
		return message(m, sampleTime, key, value)
	}
	record := []byte{0, 0, 0} // attributes, timestamp delta, offset delta
	for _, b := range [][]byte{key, value} {
		record = append(binary.AppendVarint(record, int64(len(b))), b...)
	}
	record = binary.AppendVarint(record, 1) // headers
	for _, s := range []string{"trace", "1"} {
		record = append(binary.AppendVarint(record, int64(len(s))), s...)
	}
	return batch(recordBatch{
		baseTimestamp: sampleTime, maxTimestamp: sampleTime, producerID: -1, producerEpoch: -1, baseSequence: -1,
		count: 1, records: append(binary.AppendVarint(nil, int64(len(record))), record...),
	})
}

// recordBatch is what batch encodes; what it has no member for is zero.
type recordBatch struct {
	baseTimestamp, maxTimestamp int64
	producerID                  int64
	producerEpoch               int16
	baseSequence                int32
	count                       int32
	records                     []byte
}

// batchHead is the size of a record batch before its records, and batchChecked the offset from
// which the checksum counts.
const (
	batchHead    = 61
	batchChecked = 21
)

// batch encodes a record batch of magic 2.
func batch(r recordBatch) []byte {
	be := binary.BigEndian
	b := make([]byte, batchChecked, batchHead+len(r.records))
	be.PutUint32(b[8:], uint32(batchHead-12+len(r.records)))
	b[16] = 2                 // magic
	b = be.AppendUint16(b, 0) // attributes
	b = be.AppendUint32(b, 0) // last offset delta
	b = be.AppendUint64(b, uint64(r.baseTimestamp))
	b = be.AppendUint64(b, uint64(r.maxTimestamp))
	b = be.AppendUint64(b, uint64(r.producerID))
	b = be.AppendUint16(b, uint16(r.producerEpoch))
	b = be.AppendUint32(b, uint32(r.baseSequence))
	b = be.AppendUint32(b, uint32(r.count))
	b = append(b, r.records...)
	be.PutUint32(b[17:], crc32.Checksum(b[batchChecked:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// message encodes a message of magic 0 or 1 at offset 0; a nil key or value is empty.
func message(magic int8, timestamp int64, key, value []byte) []byte {
	be := binary.BigEndian
	b := make([]byte, 16, 34+len(key)+len(value))
	b = append(b, byte(magic), 0) // attributes
	if magic == 1 {
		b = be.AppendUint64(b, uint64(timestamp))
	}
	for _, part := range [][]byte{key, value} {
		b = append(be.AppendUint32(b, uint32(len(part))), part...)
	}
	be.PutUint32(b[8:], uint32(len(b)-12))
	be.PutUint32(b[12:], crc32.ChecksumIEEE(b[16:]))
	return b
}
