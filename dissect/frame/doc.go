// Package frame cuts the byte stream of one direction of a connection into length-prefixed
// frames: an int32 size in network byte order and as many bytes. It is a pure state machine,
// fed with chunks and gaps; how the bytes came to be cut into chunks does not matter.
//
// While the splitter is in step it trusts the sizes. After a gap that hides a frame's start, or a
// size that cannot be, it searches: a Judge says where a header may begin, and such a place is on
// trial until its frame proves itself or the next header stands right behind it.
package frame
