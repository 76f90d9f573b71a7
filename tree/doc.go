// Package tree describes annotated byte ranges: what lies where in a buffer, what it is called,
// what its value is and what is wrong with it. It knows nothing of Kafka.
//
// A decoder reports what it finds as events to a Sink, in the order of the bytes. Outputs are
// sinks: a Builder keeps the events as a Tree, others write bytes straight away.
//
// # Tiling
//
// The leaves of a decoded buffer (Leaf events whose span lies in source 0) are ordered, disjoint and
// cover the buffer exactly. Length prefixes, null markers, counts and undecoded rests are
// leaves too. A string or byte leaf covers its length prefix and its content. CheckTiling
// asserts this.
package tree
