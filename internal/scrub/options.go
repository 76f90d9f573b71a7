package scrub

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/internal/tls"
	"github.com/kdissect/kdissect/reassembly"
)

// Options say what is replaced beyond secrets, users, record data and free text, which always are.
type Options struct {
	// Key makes the stand-ins: with the same key, runs over different captures give the same.
	// Empty is a random one.
	Key string

	ClientIDs bool // client ids, member ids, group instance ids
	Topics    bool // topic names and ids, names in topologies
	Groups    bool // group ids, transactional ids, connectors
	Hosts     bool // host names, racks, cluster ids, listeners, log directories
	Addresses bool // IP and MAC addresses, also where fields hold an IP address as text

	// Keys decrypt TLS connections, and take in the secrets that the capture holds. What is
	// decrypted is written as plaintext, in segments of its own. Nil leaves TLS as it is.
	Keys *tls.Keys

	// Dissect configures the dissector, but for its Handler. Front puts a handler in front of the one
	// that it has here; nil puts none.
	Dissect    dissect.Options
	Front      func(dissect.Handler) dissect.Handler
	Reassembly reassembly.Limits
	Records    records.Limits

	// Warn gets what is odd about the capture, once; nil ignores.
	Warn func(text string)
	// Progress is called now and then with the bytes read of both passes; nil is not.
	Progress func(read, total int64)
}

// Report counts what a run did.
type Report struct {
	Packets     int64
	Connections int64
	Frames      int64 // given with their values replaced
	Encrypted   int64 // connections left as they were, because they are encrypted
	Decrypted   int64 // connections written as plaintext
	Blanked     int64 // connections of other protocols, whose bytes became zeros
	Limited     int64 // frames not decoded whole because of limits of ours; what was not is zeroed
	Batches     Batches
}

// Batches counts compressed batches by what had to be done to keep their size.
type Batches struct {
	Recompressed int64 // with stand-ins
	Filled       int64 // with one repeated character in place of stand-ins
	Replaced     int64 // by one record of filler
	Zeroed       int64 // not whole, or damaged
}
