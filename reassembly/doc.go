// Package reassembly turns captured TCP segments into the ordered bytes of each direction of each
// connection, with every missing run of bytes as an explicit gap.
//
// # What it answers
//
// An Assembler takes the segments of all connections in the order of the capture. For each
// direction its Handler is given chunks, which are bytes in order, and gaps, which together tile
// the stream from offset 0. A gap is reported if and only if there is a hole in the sequence
// numbers: bytes not captured, cut by the snapshot length, or given up by a limit.
//
// # When a hole is a gap
//
// What comes ahead is held until its hole is filled or known to be lost: because the peer has
// acknowledged past it and a short grace has gone by, because a limit is reached, or because the
// connection or the capture ends. Bytes acknowledged with nothing captured behind them are a gap
// too, so that an answer of which no packet was captured has a name. A last number acknowledged
// alone is taken for a FIN.
//
// # Starts and ends
//
// A capture may begin in the middle of a connection. What is expected next is then what the peer
// acknowledges, or the sequence number of an empty segment, or else the lowest of the first few
// segments with payload. A RST ends both directions after the same grace, for packets may be
// swapped with it. A SYN with another number on the addresses of a connection opens a new one;
// what comes late for a closed one opens nothing.
//
// # Order
//
// Bytes in order go straight through. What is ahead is put in order by gopacket's tcpassembly,
// which waits for holes forever; so that it goes on, lost bytes are given to it as filler.
package reassembly
