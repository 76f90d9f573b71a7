package cli

import "github.com/kdissect/kdissect/reassembly"

// Where an epoch of a capture ends: by what it holds, or by capture time.
const (
	epochSegments = 1024
	epochBytes    = 512 << 10
	epochTime     = 100_000_000 // nanoseconds
)

// exactPackets is how many packets see what other connections have shown by the packet before.
// From there on they see what was shown before their epoch, so that workers that know nothing
// need not go in step.
const exactPackets = 16384

// epochs cuts a capture into stretches, by nothing but its segments. At their beginnings time
// passes for all connections, so that what comes of that is the same for any number of workers.
type epochs struct {
	segments, bytes int
	started         int64
	begun           bool
}

// next takes a segment and reports whether an epoch begins with it.
func (e *epochs) next(s *reassembly.Segment) (begins bool) {
	full := e.segments >= epochSegments || e.bytes >= epochBytes
	if begins = full || !e.begun || s.Time-e.started >= epochTime; begins {
		*e = epochs{started: s.Time, begun: true}
	}
	e.segments++
	e.bytes += len(s.Payload)
	return begins
}

// mark is the beginning of an epoch.
type mark struct{ packet, time int64 }

// Places order what happens in a capture: first what comes of time passing when an epoch begins
// with a packet, then what comes of the packet.
func placeOfEpoch(packet int64) int64  { return 2 * packet }
func placeOfPacket(packet int64) int64 { return 2*packet + 1 }
