package capture

import "time"

// Limits bound what a capture may make us keep. A field of zero stands for its default.
type Limits struct {
	Block      int // bytes read at a time from a single file; 512 KiB. Several open files share 16 such
	Packet     int // captured bytes of one packet; 16 MiB
	Interfaces int // of one pcapng section; 65,536
	Secrets    int // bytes of one decryption-secrets block; 16 MiB
	ZstdWindow int // bytes of history that a zstd file may ask for; 128 MiB, as zstd --long does
	Warnings   int // of each kind for each file, the rest being counted; 20

	Datagrams       int           // fragmented IP datagrams waiting for their rest; 1,024
	DatagramBytes   int           // bytes they hold in all; 8 MiB
	DatagramTimeout time.Duration // in capture time, from the first fragment; 60 s
}

func (l Limits) withDefaults() Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&l.Block, 512<<10)
	def(&l.Packet, 16<<20)
	def(&l.Interfaces, 1<<16)
	def(&l.Secrets, 16<<20)
	def(&l.ZstdWindow, 128<<20)
	def(&l.Warnings, 20)
	def(&l.Datagrams, 1024)
	def(&l.DatagramBytes, 8<<20)
	if l.DatagramTimeout <= 0 {
		l.DatagramTimeout = time.Minute
	}
	return l
}
