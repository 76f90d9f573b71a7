package records

// Codec is the compression of a batch, in the lowest three bits of its attributes.
type Codec uint8

// Codecs, with their values on the wire.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// codecMask selects the codec in a batch's attributes.
const codecMask = 0x07

var codecWords = [8]string{"none", "gzip", "snappy", "lz4", "zstd", "codec-5", "codec-6", "codec-7"}

// codecBytes are codecWords as the values of events.
var codecBytes = words(codecWords[:])

// String returns the word that Kafka's configuration uses; codecs without one are "codec-N".
func (c Codec) String() string { return codecWords[c&codecMask] }

// Known reports whether c can be decompressed.
func (c Codec) Known() bool { return c <= Zstd }

// CodecSet holds the codecs seen in a record set, one bit for each.
type CodecSet uint8

// Has reports whether c was seen.
func (s CodecSet) Has(c Codec) bool { return s&(1<<c) != 0 }

// First returns the lowest codec of s other than None, or None.
func (s CodecSet) First() Codec {
	for c := Gzip; c <= codecMask; c++ {
		if s.Has(c) {
			return c
		}
	}
	return None
}

func words(ss []string) [][]byte {
	bs := make([][]byte, len(ss))
	for i, s := range ss {
		bs[i] = []byte(s)
	}
	return bs
}
