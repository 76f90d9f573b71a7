package records

import "encoding/binary"

// Sizes and places within entries.
const (
	headSize  = 12 // offset and length, in front of every batch and message
	magicAt   = 16
	minBody   = 14 // of the smallest message, magic 0
	batchHead = 61 // up to the first record
	minBodyV2 = batchHead - headSize
	minRecord = 7 // length included
	minEntry  = headSize + minBody
)

// Summary is what the heads of batches tell, without checksums and decompression.
type Summary struct {
	Bytes   int   // of the record set, as sent
	Batches int   // whole ones, each message of an old set counting as one
	Records int64 // by the heads of the batches; a compressed message counts as one
	// Wrapped is the number of compressed messages (magic 0 and 1), whose count of records and
	// first offset are inside.
	Wrapped     int
	FirstOffset int64 // of the first batch; -1 where there is none
	LastOffset  int64 // of the last batch
	Codecs      CodecSet
	MinMagic    int8 // -1 where there is no batch
	MaxMagic    int8
	Unknown     int // batches of unknown magic; counted in Batches

	// Of the first batch of magic 2; -1 where there is none.
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32
	// Of any batch of magic 2.
	Transactional bool
	Control       bool

	MaxTimestamp int64 // -1 where there is none
	Partial      int   // bytes of a last batch that was cut short by its sender
	Undecoded    int   // bytes at the end that are no batches
}

// Summarize reads the heads of the batches in data. missing is the number of bytes behind it
// that were not captured. It does not allocate.
func Summarize(data []byte, missing int) (s Summary) {
	s.Read(data, missing)
	return s
}

// Read makes s what Summarize returns.
func (s *Summary) Read(data []byte, missing int) {
	*s = Summary{}
	s.Bytes = len(data) + missing
	s.FirstOffset, s.LastOffset, s.MinMagic, s.MaxMagic = -1, -1, -1, -1
	s.ProducerID, s.ProducerEpoch, s.BaseSequence, s.MaxTimestamp = -1, -1, -1, -1
	var e entry
	for off := 0; off < s.Bytes; off = e.end {
		e.read(data, off, s.Bytes)
		switch e.state {
		case entryPartial:
			s.Partial = s.Bytes - off
		case entryCut, entryBad:
			s.Undecoded = s.Bytes - off
		}
		if e.state != entryWhole {
			break
		}
		s.add(data, &e)
	}
}

func (s *Summary) add(data []byte, e *entry) {
	first, last := e.offset, e.offset
	b := data[e.off:min(e.end, len(data))]
	switch {
	case e.magic == 2 && len(b) >= batchHead:
		attributes := binary.BigEndian.Uint16(b[21:])
		last += int64(int32(binary.BigEndian.Uint32(b[23:])))
		s.Codecs |= 1 << (attributes & codecMask)
		s.Transactional = s.Transactional || attributes&attrTransactional != 0
		s.Control = s.Control || attributes&attrControl != 0
		s.MaxTimestamp = max(s.MaxTimestamp, int64(binary.BigEndian.Uint64(b[35:])))
		if s.ProducerID < 0 {
			s.ProducerID = int64(binary.BigEndian.Uint64(b[43:]))
			s.ProducerEpoch = int16(binary.BigEndian.Uint16(b[51:]))
			s.BaseSequence = int32(binary.BigEndian.Uint32(b[53:]))
		}
		s.Records += int64(max(0, int32(binary.BigEndian.Uint32(b[57:]))))
	case (e.magic == 0 || e.magic == 1) && len(b) >= minEntry:
		codec := Codec(b[17] & codecMask)
		s.Codecs |= 1 << codec
		if codec != None {
			s.Wrapped++
		}
		s.Records++
		if e.magic == 1 {
			s.MaxTimestamp = max(s.MaxTimestamp, int64(binary.BigEndian.Uint64(b[18:])))
		}
	default:
		s.Unknown++
	}
	if s.Batches == 0 {
		s.FirstOffset = first
		s.MinMagic, s.MaxMagic = e.magic, e.magic
	}
	s.LastOffset = last
	s.MinMagic, s.MaxMagic = min(s.MinMagic, e.magic), max(s.MaxMagic, e.magic)
	s.Batches++
}

// entry is a batch or a message in a set.
type entry struct {
	state    entryState
	off, end int // in the set
	offset   int64
	length   int32 // bytes behind the head, as sent; -1 where that was not sent
	magic    int8
}

type entryState uint8

const (
	entryWhole   entryState = iota // its end may still not have been captured
	entryPartial                   // the set ends before it does
	entryCut                       // not enough was captured to tell
	entryBad                       // its length cannot be
)

// readHead reads the head of the entry at off in a set that ends at end, which may lie behind
// data.
func readHead(data []byte, off, end int) (e entry) {
	e.read(data, off, end)
	return e
}

// read is readHead into e.
func (e *entry) read(data []byte, off, end int) {
	e.state, e.off, e.end, e.offset, e.length, e.magic = entryWhole, off, end, 0, -1, 0
	if end-off < headSize {
		e.state = entryPartial
		return
	}
	if len(data)-off < headSize {
		e.state = entryCut
		return
	}
	e.offset = int64(binary.BigEndian.Uint64(data[off:]))
	e.length = int32(binary.BigEndian.Uint32(data[off+8:]))
	switch {
	case e.length < minBody:
		e.state = entryBad
	case int64(e.length) > int64(end-off-headSize):
		e.state = entryPartial
	case len(data)-off <= magicAt:
		e.state = entryCut
	default:
		e.end = off + headSize + int(e.length)
		e.magic = int8(data[off+magicAt])
	}
}
