package payload_test

import (
	"testing"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/tree"
)

// everything is a sink that descends everything and keeps nothing.
type everything struct{ tree.Discard }

func (everything) Begin(tree.Event) bool { return true }

// BenchmarkRecords decodes a record set with one commit of a group.
func BenchmarkRecords(b *testing.B) {
	key := unhex(b, "0001 0001 67 0001 74 00000000")
	value := unhex(b, "0003 0000000000000005 ffffffff 0000 0000018bcfe56800")
	set := batch(b, key, value)
	d := payload.New(nil, records.Limits{})
	b.SetBytes(int64(len(set)))
	b.ReportAllocs()
	for b.Loop() {
		d.Reset()
		d.Records(set, tree.Span{Len: int32(len(set))}, "__consumer_offsets", everything{}, records.Options{})
	}
}
