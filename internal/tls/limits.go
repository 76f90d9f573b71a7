package tls

// Limits bound what a Decryptor holds and tries. Zero fields mean the default.
type Limits struct {
	Hold      int // captured bytes of one connection that wait for secrets or for the other direction; default 256 KiB
	HoldTotal int // of all connections; default 16 MiB
	Handshake int // bytes of one handshake message that is looked at; default 64 KiB
	Sessions  int // TLS 1.2 sessions remembered for their resumption; default 10,000

	// Trials bounds the search for the next record behind a gap: records decrypted in vain for
	// each gap; default 4,096. TrialBytes bounds their bytes; default 16 MiB.
	Trials     int
	TrialBytes int
}

func (l Limits) withDefaults() Limits {
	or := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&l.Hold, 256<<10)
	or(&l.HoldTotal, 16<<20)
	or(&l.Handshake, 64<<10)
	or(&l.Sessions, 10_000)
	or(&l.Trials, 4096)
	or(&l.TrialBytes, 16<<20)
	return l
}
