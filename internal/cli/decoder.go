package cli

import (
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// newDecoder returns a decoder that walks record sets down to their records.
func newDecoder() *walk.Decoder {
	return &walk.Decoder{Records: &recordWalker{}}
}

// recordWalker lets a records.Decoder walk the fields that hold record sets.
type recordWalker struct{ decoder records.Decoder }

// Reset implements walk.Records.
func (w *recordWalker) Reset() { w.decoder.Reset() }

// Walk implements walk.Records.
func (w *recordWalker) Walk(data []byte, base tree.Span, path string, sink tree.Sink) {
	w.decoder.Walk(data, base, sink, records.Options{Path: path})
}
