// Package scrub makes a copy of a capture that can be handed to a stranger: the same packets with
// the same lengths and times, in which what is confidential is replaced by stand-ins.
//
// # Two passes
//
// The first pass dissects the capture. Each frame that was found is copied with its values
// replaced, and put aside by connection, direction and stream offset. The second pass goes over
// the packets and fills the payload of each TCP segment from what was put aside, so that
// retransmissions and overlaps get the same bytes. What no frame covers becomes zero: bytes
// between frames, connections that are not Kafka, packets that are not TCP. What is wrong in a
// mapping can therefore show a zero too many, and no byte of the original.
//
// A TLS connection that could be decrypted is written as plaintext: each of its packets is given
// what could be decrypted once it was there, and sequence numbers count plaintext.
//
// # Stand-ins
//
// A stand-in is a function of a key, the value and its form: equal values look equal
// everywhere, also where a topic's name is a resource's name in another API. It has the value's
// length and its kind of characters. Without a given key, each run has a new one.
//
// # What is rebuilt
//
// Checksums of record batches are computed anew where the original's were right. Compressed
// batches are compressed anew to exactly the size that they had; where that cannot be, their
// values become one repeated character, and where not even that helps, one record of filler
// takes the place of all. Checksums of IP, UDP, GRE and TCP are those of the new bytes, also
// where they had been left to the network card.
package scrub
