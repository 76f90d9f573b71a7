package reassembly

// Conn is one TCP connection as the capture shows it. It is alive until the call of Handler.Close
// for it returns.
type Conn struct {
	ID          int64 // from 1, in order of appearance
	Flow        Flow  // the Forward direction
	SawSYN      bool  // the opening SYN was captured
	SawSYNACK   bool  // the SYN-ACK was captured
	FirstPacket int64
	FirstTime   int64 // nanoseconds since 1970
	LastPacket  int64
	LastTime    int64
	Dirs        [2]DirStats // by Dir

	// User is for the Handler's own state, and Layer for that of a Handler in front of it.
	User  any
	Layer any
	// TLS is set by a Handler in front, before the first bytes of an encrypted connection; it may
	// change until Close.
	TLS *TLS
}

// DirStats counts one direction.
type DirStats struct {
	Packets        int64
	Bytes          int64 // delivered in chunks
	Missing        int64 // in gaps of known length
	Trailing       int64 // of Missing: behind the last captured byte, known by acknowledgements or a FIN alone
	Gaps           int64
	Retransmitted  int64 // bytes seen again
	OutOfOrder     int64 // segments that had to wait
	SawFIN, SawRST bool
	// Base is the sequence number of stream offset 0, by the latest chunk: a gap of unknown length
	// changes it.
	Base uint32
}
