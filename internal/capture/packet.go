package capture

// LinkType says what a packet begins with, as numbered by the LINKTYPE_ registry of tcpdump.org.
type LinkType uint32

// Packet is one captured packet. Data lies in Block.
type Packet struct {
	Data    []byte   // the captured bytes
	WireLen int      // length on the wire; more than len(Data) where the snapshot length cut it
	Time    int64    // nanoseconds since 1970
	Number  int64    // in the whole capture, from 1
	Link    LinkType // what Data begins with
	File    int      // index of the file it came from
	Offset  int64    // of its record in that file (decompressed), for messages
	Block   *Block   // what Data lies in; after Decode, what the segment's payload lies in
	Record  []byte   // of a file: the packet's record as it stands there, headers and options and all
	At      int      // where Data begins in Record

	// Fault is set where the capture itself spoiled the packet, and is then Decode's verdict.
	Fault Verdict
}

// Source gives packets one after another.
type Source interface {
	// Next sets p to the next packet, whose bytes are alive until the next call. The error is
	// io.EOF at the end of the capture, and the context's where reading was interrupted.
	Next(p *Packet) error
}
