package records_test

import (
	"encoding/hex"
	"fmt"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/tree"
)

// names prints the names of leaves that have bytes of their own.
type names struct{ tree.Discard }

func (names) Begin(tree.Event) bool { return true }

func (names) Leaf(e tree.Event) {
	if !e.Has(tree.FlagComputed) {
		fmt.Print(" ", e.Desc.Name)
	}
}

func ExampleDecoder_Walk() {
	data, _ := hex.DecodeString("00000000000000070000003a0000000b02e99b8dd80000000000000000018bcfe568000000018bcfe568" +
		"00ffffffffffffffffffffffffffff0000000110000000026b027600")
	var d records.Decoder
	sum := d.Walk(data, tree.Span{Len: int32(len(data))}, names{}, records.Options{})
	fmt.Printf("\n%d record of %s at offset %d\n", sum.Records, sum.Codecs.First(), sum.FirstOffset)
	// Output:
	// baseOffset batchLength partitionLeaderEpoch magic crc attributes lastOffsetDelta baseTimestamp maxTimestamp producerId producerEpoch baseSequence recordsCount length attributes timestampDelta offsetDelta key value headersCount
	// 1 record of none at offset 7
}
