package records

import (
	"encoding/binary"
	"math"
)

// Head is what the head of a batch (magic 2) says of its place in the log and in what its
// producer sends.
type Head struct {
	Index         int32 // among the batches of its set
	BaseOffset    int64
	LastOffset    int64
	ProducerID    int64 // -1 for none
	ProducerEpoch int16
	BaseSequence  int32 // -1 for none
	LastSequence  int32
}

// AppendHeads appends the heads of the batches in data, behind which missing bytes were not
// captured, until there are most of them. Old messages (magic 0 and 1) have none.
func AppendHeads(heads []Head, data []byte, missing, most int) []Head {
	end := len(data) + missing
	for off, index := 0, int32(0); off < end && len(heads) < most; index++ {
		e := readHead(data, off, end)
		if e.state != entryWhole {
			break
		}
		if b := data[e.off:min(e.end, len(data))]; e.magic == 2 && len(b) >= batchHead {
			delta := int64(int32(binary.BigEndian.Uint32(b[23:])))
			h := Head{
				Index: index, BaseOffset: e.offset, LastOffset: e.offset + delta,
				ProducerID:    int64(binary.BigEndian.Uint64(b[43:])),
				ProducerEpoch: int16(binary.BigEndian.Uint16(b[51:])),
				BaseSequence:  int32(binary.BigEndian.Uint32(b[53:])),
				LastSequence:  -1,
			}
			if h.BaseSequence >= 0 {
				h.LastSequence = int32((int64(h.BaseSequence) + delta) & math.MaxInt32)
			}
			heads = append(heads, h)
		}
		off = e.end
	}
	return heads
}
