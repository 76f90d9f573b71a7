package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// RecordChecker holds the batches of exchanges against those of the exchanges before, by their
// heads alone: nothing is decompressed. It serves one goroutine.
type RecordChecker struct {
	reader *RecordReader
	found  batchIssues
}

// NewRecordChecker returns a checker that has seen nothing.
func NewRecordChecker() *RecordChecker {
	c := &RecordChecker{}
	c.reader = NewRecordReader(&walk.Decoder{Records: &batchHeads{}}, &c.found, false, false)
	return c
}

// Exchange returns what is out of line with the batches of x. The list is void after the next
// call. Exchanges are given in the order of the capture, each of them, shown or not.
func (c *RecordChecker) Exchange(x *dissect.Exchange) []tree.Issue {
	c.found.list = c.found.list[:0]
	c.reader.Exchange(x)
	return c.found.list
}

// batchIssues is a RecordHandler that checks batches and passes their records over.
type batchIssues struct {
	checks RecordChecks
	list   []tree.Issue
}

// Wanted implements RecordHandler.
func (b *batchIssues) Wanted(*RecordSet) bool { return true }

// Batch implements RecordHandler.
func (b *batchIssues) Batch(s *RecordSet, x *RecordBatch) bool {
	if i, found := b.checks.Batch(s, x); found {
		i.Text = string(appendTopicText(nil, s)) + ": " + i.Text
		b.list = append(b.list, i)
	}
	return false
}

// Record implements RecordHandler.
func (b *batchIssues) Record(*Record) {}

// Issue implements RecordHandler: those of decoding are told elsewhere.
func (b *batchIssues) Issue(*RecordSet, tree.Issue) {}

// batchHeads walks record sets without their checksums.
type batchHeads struct{ decoder records.Decoder }

// Reset implements walk.Records.
func (h *batchHeads) Reset() { h.decoder.Reset() }

// Walk implements walk.Records.
func (h *batchHeads) Walk(data []byte, base tree.Span, path string, sink tree.Sink) {
	h.decoder.Walk(data, base, sink, records.Options{Path: path, SkipChecksums: true, Missing: int(base.Len) - len(data)})
}
