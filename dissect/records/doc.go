// Package records walks the insides of a records field: record batches (magic 2, KIP-98) and
// the older message sets (magic 0 and 1, KIP-32), with their codecs, checksums and control
// records.
//
// A Decoder reports what it finds as tree events. The leaves in the source it was given tile
// that source, whatever the bytes hold. Compressed records become a derived source, announced
// before the first event that lies in it; inside the Records group stand first the leaf with the
// compressed bytes and then the records.
//
// Members that JSON shows but that have no bytes of their own (the codec, the offset of a
// record, whether a checksum fits) come as leaves of length zero with tree.FlagComputed.
package records
