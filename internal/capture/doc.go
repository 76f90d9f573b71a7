// Package capture turns captured traffic into TCP segments.
//
// A [Source] gives packets one after another; [Reader] is the Source of capture files: pcap and
// pcapng, plain or compressed, one or several merged by time, from names or a pipe. A [Decoder]
// walks a packet's layers (link, tags, tunnels, IP, fragments) down to TCP and fills in a
// [reassembly.Segment]. [Segments] couples the two and keeps account: every packet ends in
// exactly one [Verdict].
//
// # Life of bytes
//
// Nothing is copied on the way. A packet's bytes and a segment's payload lie in a [Block], a
// large piece of the file, and are alive until the next call of the Source or Decoder that gave
// them. Who needs them longer takes a hold of the Block.
//
// # Trouble
//
// A file that cannot be opened or is no capture is an error. What is wrong inside a file (it ends
// within a packet, a length is absurd, an interface is unknown) is a [Warning]; reading goes on
// with what is whole.
package capture
