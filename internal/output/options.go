package output

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// BytesForm says how the keys, values and header values of records are written in JSON.
type BytesForm uint8

// Forms of bytes.
const (
	BytesAuto   BytesForm = iota // a string where they are UTF-8, else {"base64":".."}
	BytesBase64                  // a string of base64, standard alphabet, padded
	BytesHex                     // a string of hex digits
)

// ParseBytesForm reads auto, base64 or hex.
func ParseBytesForm(s string) (BytesForm, bool) {
	switch s {
	case "auto":
		return BytesAuto, true
	case "base64":
		return BytesBase64, true
	case "hex":
		return BytesHex, true
	}
	return BytesAuto, false
}

// Options are common to all forms; the zero value is the default.
type Options struct {
	// Plain leaves out of JSON what the broker's request log does not have.
	Plain bool
	// Bytes is the form of record data. With Plain and BytesBase64 a record set is the base64 of
	// its bytes.
	Bytes BytesForm
	// ShowSecrets writes passwords, tokens and the like instead of "<hidden, N bytes>".
	ShowSecrets bool
	// Values says what is shown of the contents of records.
	Values tree.Values
	// Color marks up summaries and trees for a terminal.
	Color bool
	// Wide lists all topics and partitions in a summary line; else the details of an exchange
	// end at about Width columns.
	Wide  bool
	Width int // 0 is 120
	// Live sends each line on as it is complete; else they gather in a buffer.
	Live bool
	// Packets adds to trees which packets carried what.
	Packets bool
	// Full shows long values whole in trees, Hex puts the bytes beside them.
	Full, Hex bool
	// Long takes texts that have grown long; nil is the writer itself, where there is one, else
	// nothing.
	Long Long
	// Held bounds the bytes of an object that are held until it is known whether a member comes late;
	// 0 is 16 MiB.
	Held int
	// MaxNodes bounds the lines of a tree; 0 does not.
	MaxNodes int
	// Decoder decodes the frames; nil is a decoder that leaves record sets whole.
	// It serves one goroutine.
	Decoder *walk.Decoder
	// Late is given the places of what is only known once all exchanges before are: the numbers of
	// exchanges and connections, which are left out then, and further issues. Nil writes numbers.
	Late *Slots
	// Catalogue knows the APIs; nil is the embedded one.
	Catalogue *schema.Catalogue
}

func (o *Options) decoder() *walk.Decoder {
	if o.Decoder == nil {
		o.Decoder = &walk.Decoder{}
	}
	return o.Decoder
}

func (o *Options) catalogue() *schema.Catalogue {
	if o.Catalogue == nil {
		o.Catalogue = schema.Default()
	}
	return o.Catalogue
}
