package dissect

import (
	"net/netip"
	"time"

	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
)

// Options configure a Dissector.
type Options struct {
	Catalogue *schema.Catalogue // nil is schema.Default()
	Handler   Handler
	Limits    Limits

	// Ports and Brokers name the brokers. Where any is given, only connections to them are
	// looked at, and they give the direction.
	Ports   []uint16
	Brokers []netip.AddrPort

	// Facts are shared with other Dissectors, or known beforehand, such as those of a first pass
	// over the same capture; nil is none.
	Facts *Facts

	// Buffers bounds the bytes of frames held in all, also by other Dissectors that share it; nil is
	// 256 MiB for this one.
	Buffers *frame.Budget

	// Gather says that the bytes of segments live until HandOver, so that exchanges need not be handed
	// over one by one.
	Gather bool

	// Recover makes a fault of ours an internal issue of the connection that it arose in, with the
	// stack, instead of a panic. Only a program for users sets it; tests want the panic.
	Recover bool
}

// Limits bound what a Dissector holds. Zero fields mean the default.
type Limits struct {
	Frame frame.Limits

	InFlight      int           // requests of a connection that wait for their response; default 1,000
	InFlightBytes int64         // bytes of these, for each connection; default 64 MiB
	MaxWait       time.Duration // for a response, in capture time; default 1 hour
	Detect        int64         // bytes of a connection held until its protocol is known; default 1 MiB
	DetectTotal   int64         // bytes of a connection begun before the capture that are looked at in vain; default 16 MiB
	Late          int           // responses of a connection kept for requests that are delivered late; default 256
	MaxLate       time.Duration // for which these are kept, in capture time; it should be longer than bytes wait behind a hole; default 6 s
	Topics        int           // topic ids remembered; default 100,000
	Listed        int           // gaps, skips and issues listed for each connection; default 64
}

func (l Limits) withDefaults() Limits {
	l.Frame = l.Frame.WithDefaults()
	or := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	or64 := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&l.InFlight, 1000)
	or64(&l.InFlightBytes, 64<<20)
	if l.MaxWait <= 0 {
		l.MaxWait = time.Hour
	}
	or64(&l.Detect, 1<<20)
	or64(&l.DetectTotal, 16<<20)
	or(&l.Late, 256)
	if l.MaxLate <= 0 {
		l.MaxLate = 6 * time.Second
	}
	or(&l.Topics, 100_000)
	or(&l.Listed, 64)
	return l
}
