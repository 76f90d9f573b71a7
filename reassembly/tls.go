package reassembly

// TLS is what is known of a connection's encryption, by a Handler that decrypts in front of
// another one. What that one is given are bytes of plaintext, and offsets count these.
type TLS struct {
	Version    string // such as "TLS 1.3": agreed on, or else offered; "" where unknown
	Suite      string // by its name in IANA's registry; "" where no ServerHello was captured
	ServerName string // that the client asked for (SNI)
	Protocols  []string
	// Client is the direction that sent the ClientHello, ClientRandom what a key log names the
	// connection by; both hold where Hello is set.
	Client       Dir
	ClientRandom [32]byte
	Hello        bool

	Resumed      bool
	Renegotiated bool
	Decrypted    bool     // application data were decrypted
	Plain        [2]int64 // bytes of them, by direction
	Failure      string   // why not all was decrypted; "" where it was
}
