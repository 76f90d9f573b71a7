package reassembly

// Limits bounds what an Assembler holds and how long it waits. A field of 0 or less takes its
// value from DefaultLimits.
type Limits struct {
	MaxConnections int   // open connections; beyond it the longest idle one is closed
	MaxClosed      int   // closed connections remembered, so that late duplicates open no new ones
	MaxConnBytes   int   // bytes of memory held for one connection behind holes
	MaxBytes       int   // the same for all connections together
	MaxIdle        int64 // nanoseconds of capture time without a segment before Advance closes
	MaxHold        int64 // nanoseconds that bytes wait behind a hole nobody has acknowledged
	MaxLinger      int64 // nanoseconds that a closed connection is remembered

	// A hole that the peer has acknowledged is lost once GraceSegments further segments of the
	// connection, or GraceTime nanoseconds, have gone by without its bytes: captures show
	// packets swapped, an acknowledgement before what it acknowledges.
	GraceSegments int
	GraceTime     int64
}

const (
	second = int64(1e9)

	// window is how far a sequence number may be from the expected one and still tell a distance.
	window = 1 << 30
	// maxReach bounds the holes that are waited for, and with them the filler.
	maxReach = 1 << 28
)

// DefaultLimits returns the limits that an Assembler has where nothing else is said.
func DefaultLimits() Limits {
	return Limits{
		MaxConnections: 65536,
		MaxClosed:      4096,
		MaxConnBytes:   8 << 20,
		MaxBytes:       32 << 20,
		MaxIdle:        15 * 60 * second, // Kafka's connections.max.idle.ms is 10 minutes
		MaxHold:        5 * second,
		MaxLinger:      120 * second,
		GraceSegments:  32,
		GraceTime:      second / 2,
	}
}

func (l Limits) withDefaults() Limits {
	def := DefaultLimits()
	setInt := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	setTime := func(p *int64, v int64) {
		if *p <= 0 {
			*p = v
		}
	}
	setInt(&l.MaxConnections, def.MaxConnections)
	setInt(&l.MaxClosed, def.MaxClosed)
	setInt(&l.MaxConnBytes, def.MaxConnBytes)
	setInt(&l.MaxBytes, def.MaxBytes)
	setInt(&l.GraceSegments, def.GraceSegments)
	setTime(&l.MaxIdle, def.MaxIdle)
	setTime(&l.MaxHold, def.MaxHold)
	setTime(&l.MaxLinger, def.MaxLinger)
	setTime(&l.GraceTime, def.GraceTime)
	return l
}

// reach is how far ahead of the expected byte a segment may be and still be waited for.
func (l *Limits) reach() int64 { return int64(min(l.MaxConnBytes, maxReach)) }
