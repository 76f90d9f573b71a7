package reassembly

// Conn is one TCP connection as the capture shows it. It is alive until the call of Handler.Close
// for it returns.
type Conn struct {
	Flow      Flow // the Forward direction
	SawSYN    bool // the opening SYN was captured
	SawSYNACK bool // the SYN-ACK was captured
	// Own is set while a chunk is handed on whose bytes are its segment's own, and live as long as
	// those. Whoever hands on other bytes meanwhile clears it.
	Own        bool
	LastPacket int64
	LastTime   int64 // nanoseconds since 1970

	// User is for the Handler's own state, and Layer for that of a Handler in front of it.
	User  any
	Layer any

	Dirs [2]DirStats // by Dir

	ID          int64 // from 1, in order of appearance
	FirstPacket int64
	FirstTime   int64 // nanoseconds since 1970
	// TLS is set by a Handler in front, before the first bytes of an encrypted connection; it may
	// change until Close.
	TLS *TLS
	Odd [2]DirOddities // by Dir
}

// DirStats counts one direction.
type DirStats struct {
	Packets int64
	Bytes   int64 // delivered in chunks
	// Base is the sequence number of stream offset 0, by the latest chunk: a gap of unknown length
	// changes it.
	Base           uint32
	SawFIN, SawRST bool
}

// DirOddities counts what most directions have nothing of.
type DirOddities struct {
	Missing       int64 // bytes in gaps of known length
	Gaps          int64
	Retransmitted int64 // bytes seen again
	OutOfOrder    int64 // segments that had to wait
}
