package cli

import (
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
)

// newDecoder returns a decoder that walks record sets down to their records, and opens the bytes
// that hold messages of their own.
func newDecoder(c *schema.Catalogue) *walk.Decoder {
	return payload.New(c, records.Limits{}).Decoder()
}
