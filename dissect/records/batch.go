package records

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strconv"

	"github.com/kdissect/kdissect/tree"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc32c(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// batch is what the head of the open batch says.
type batch struct {
	baseOffset      int64
	attributes      int64
	lastOffsetDelta int32
	baseTimestamp   int64
	maxTimestamp    int64
	producerID      int64
	producerEpoch   int16
	baseSequence    int32
	count           int32

	// Of the records walked so far.
	found        int32
	last         int64 // offset delta
	latest       int64 // timestamp
	outOfOrder   bool  // was reported
	behindLast   bool  // was reported
	undecodeable bool  // not all bytes could be walked
}

// batchField is a field of a batch's head.
type batchField struct {
	desc *tree.Desc
	off  int
	size int
}

var batchFields = [...]batchField{
	{descBaseOffset, 0, 8}, {descBatchLength, 8, 4}, {descLeaderEpoch, 12, 4}, {descMagic, 16, 1},
	{descCRC, 17, 4}, {descAttributes, 21, 2}, {descLastOffsetDelta, 23, 4}, {descBaseTimestamp, 27, 8},
	{descMaxTimestamp, 35, 8}, {descProducerID, 43, 8}, {descProducerEpoch, 51, 2},
	{descBaseSequence, 53, 4}, {descCount, 57, 4},
}

// readInt returns the big-endian number of size bytes at the start of b.
func readInt(b []byte, size int) int64 {
	switch size {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	}
	return int64(binary.BigEndian.Uint64(b))
}

// walkBatch reports a batch of magic 2.
func (d *Decoder) walkBatch(e entry) {
	end := min(e.end, len(d.src.buf)) // of what was captured
	group := tree.Event{
		Desc: descBatch, Span: d.span(e.off, end-e.off), Aux: int64(e.magic),
		Index: d.batch, Flags: tree.FlagElement,
	}
	if end < e.end {
		group.Flags |= tree.FlagCut
	}
	if d.sink.Begin(group) {
		d.insideBatch(e, end)
	}
	d.sink.End(group)
}

func (d *Decoder) insideBatch(e entry, end int) {
	if e.length < minBodyV2 {
		d.rest(descUnknown, e.off, e.end)
		d.issue(tree.Warning, tree.CodeMalformed, e.off, e.end-e.off, "batch length "+strconv.Itoa(int(e.length)))
		return
	}
	d.computed(descPosition, e.off, int64(e.off))
	d.computed(descSize, e.off, int64(e.end-e.off))
	if !d.batchHead(e, end) {
		return
	}
	d.records(e.off+batchHead, e.end, end)
}

// batchHead reports the fields up to the records, as far as they were captured.
func (d *Decoder) batchHead(e entry, end int) bool {
	b := d.src.buf[e.off:end]
	h := &d.v2
	*h = batch{last: -1, latest: math.MinInt64}
	for i := range batchFields {
		f := &batchFields[i]
		if f.off+f.size > len(b) {
			d.rest(descCut, e.off+f.off, end)
			d.issue(tree.Warning, tree.CodeTruncated, e.off+f.off, end-e.off-f.off, "the batch was not captured whole")
			return false
		}
		num := readInt(b[f.off:], f.size)
		at, behind := e.off+f.off, e.off+f.off+f.size
		switch f.desc {
		case descBatchLength:
			d.structural(f.desc, at, f.size, num)
			continue
		case descCRC:
			d.checksum(f.desc, at, uint32(num), crc32c, b[min(21, len(b)):], end == e.end)
			continue
		}
		d.leaf(f.desc, at, f.size, num)
		d.implied(f.desc, behind, num)
	}
	return true
}

// implied notes a field of the batch's head and reports what follows from it.
func (d *Decoder) implied(field *tree.Desc, off int, num int64) {
	h := &d.v2
	switch field {
	case descBaseOffset:
		h.baseOffset = num
		d.computed(descRawOffset, off, num)
	case descAttributes:
		h.attributes = num
		d.word(descCodec, off, codecBytes[num&codecMask])
		d.word(descTimestampType, off, timestampBytes[timestampType(2, num)])
		d.flag(descTransactional, off, num&attrTransactional != 0)
		d.flag(descControl, off, num&attrControl != 0)
	case descLastOffsetDelta:
		h.lastOffsetDelta = int32(num)
		d.computed(descLastOffset, off, h.baseOffset+num)
	case descBaseTimestamp:
		h.baseTimestamp = num
		horizon := tree.Event{Desc: descDeleteHorizon, Span: d.span(off, 0), Value: tree.Value{Num: num}, Flags: tree.FlagComputed}
		if h.attributes&attrDeleteHorizon == 0 {
			horizon.Value.Num = 0
			horizon.Flags |= tree.FlagNull
		}
		d.sink.Leaf(horizon)
	case descMaxTimestamp:
		h.maxTimestamp = num
	case descProducerID:
		h.producerID = num
	case descProducerEpoch:
		h.producerEpoch = int16(num)
	case descBaseSequence:
		h.baseSequence = int32(num)
		d.computed(descLastSequence, off, int64(h.sequence(int64(h.lastOffsetDelta))))
	case descCount:
		h.count = int32(num)
	}
}

// sequence returns the sequence number of the record with the given offset delta; they wrap
// from the largest int32 to 0.
func (h *batch) sequence(delta int64) int32 {
	if h.baseSequence < 0 {
		return -1
	}
	return int32((int64(h.baseSequence) + delta) & math.MaxInt32)
}

// timestamp returns the time of the record with the given delta.
func (h *batch) timestamp(delta int64) int64 {
	if h.attributes&attrLogAppend != 0 {
		return h.maxTimestamp
	}
	return h.baseTimestamp + delta
}

// records reports the records of a batch, in [off, end) of which what lies before captured is
// there.
func (d *Decoder) records(off, end, captured int) {
	codec := Codec(d.v2.attributes & codecMask)
	group := tree.Event{Desc: descRecords, Span: d.span(off, captured-off), Count: max(0, d.v2.count)}
	if captured < end {
		group.Flags |= tree.FlagCut
	}
	if d.sink.Begin(group) {
		if codec == None {
			d.walkRecords(off, end)
		} else {
			d.compressed(codec, off, end, captured)
		}
		d.checkBatch(off)
	}
	d.sink.End(group)
}

func (d *Decoder) compressed(codec Codec, off, end, captured int) {
	if off == captured {
		return
	}
	in := d.inflate(codec, d.src.buf[off:captured])
	inner := d.derive(codec, in, 2, off, captured, captured < end)
	if inner.id == 0 {
		d.v2.undecodeable = in.err != nil
		return
	}
	outer := d.enter(inner)
	end = len(inner.buf)
	if inner.cut {
		end = math.MaxInt32 // where it would end is not known
		d.v2.undecodeable = true
	}
	d.walkRecords(0, end)
	d.src = outer
}

// checkBatch compares the head of the batch with the records that were found. Compaction leaves
// holes, so the last offset may lie behind the last record.
func (d *Decoder) checkBatch(off int) {
	h := &d.v2
	if h.undecodeable {
		return
	}
	if h.count != h.found {
		d.issue(tree.Warning, tree.CodeCount, off-4, 4,
			"count "+strconv.Itoa(int(h.count))+", "+strconv.Itoa(int(h.found))+" records found")
	}
	if h.found == 0 || h.attributes&attrLogAppend != 0 || h.latest == h.maxTimestamp {
		return
	}
	severity := tree.Info // some producers set it from the first or last record
	if h.latest > h.maxTimestamp {
		severity = tree.Warning
	}
	d.issue(severity, tree.CodeCount, off-batchHead+35, 8,
		"max timestamp "+strconv.FormatInt(h.maxTimestamp, 10)+", the latest record's is "+strconv.FormatInt(h.latest, 10))
}
