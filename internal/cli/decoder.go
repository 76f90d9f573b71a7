package cli

import (
	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// newDecoder returns a decoder that walks record sets down to their records, and opens the bytes
// that hold messages of their own.
func newDecoder(c *schema.Catalogue, l records.Limits) *walk.Decoder {
	return payload.New(c, l).Decoder()
}

// newClosedDecoder is newDecoder where values are not shown in full: what the records of Kafka's
// own topics hold is then left as bytes.
func newClosedDecoder(c *schema.Catalogue, v tree.Values, l records.Limits) *walk.Decoder {
	d := payload.New(c, l)
	d.Closed = v != tree.ValuesFull
	return d.Decoder()
}

// valuesFlag is the choice of what is shown of records' contents.
type valuesFlag struct{ *choice }

func newValuesFlag() valuesFlag { return valuesFlag{newChoice("full", "size", "hash")} }

func (f valuesFlag) define(fs *pflag.FlagSet) {
	fs.Var(f, "values", "what to show of the keys, values and headers of records: all, how many bytes, or also their SHA-256's first 12 digits")
}

func (f valuesFlag) values() tree.Values {
	v, _ := tree.ParseValues(f.value)
	return v
}
