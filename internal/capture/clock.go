package capture

import (
	"math"
	"math/bits"
)

// maxSeconds is how far from 1970 nanoseconds in an int64 can tell.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// clock turns a pcapng interface's time stamps into nanoseconds since 1970.
type clock struct {
	binary  bool   // the unit is 2^-shift seconds, else 1/units
	shift   uint   // of a binary clock
	units   uint64 // in a second; 0 where a second has more than an uint64 counts
	exp     uint   // units is 10^exp
	seconds int64  // added, if_tsoffset
}

// newClock makes a clock from the octet if_tsresol: a negative power of 10 or, with the highest
// bit set, of 2.
func newClock(resolution byte, seconds int64) clock {
	c := clock{seconds: seconds, exp: uint(resolution & 0x7f)}
	if resolution&0x80 != 0 {
		c.binary, c.shift = true, c.exp
		return c
	}
	if c.exp <= 19 {
		c.units = pow10(c.exp)
	}
	return c
}

func pow10(n uint) uint64 {
	v := uint64(1)
	for range n {
		v *= 10
	}
	return v
}

// nanos is exact down to the nanosecond below; what does not fit an int64 becomes its limit.
func (c *clock) nanos(ts uint64) int64 {
	var sec, nano uint64
	switch {
	case c.binary && c.shift < 64:
		sec = ts >> c.shift
		hi, lo := bits.Mul64(ts&(1<<c.shift-1), 1e9)
		nano = lo>>c.shift | hi<<(64-c.shift) // a shift by 64 gives 0
	case c.binary:
		// Less than a second in all.
		hi, _ := bits.Mul64(ts, 1e9)
		nano = hi >> (c.shift - 64)
	case c.units == 0:
		if c.exp-9 <= 19 {
			nano = ts / pow10(c.exp-9)
		}
	case c.exp <= 9:
		sec = ts / c.units
		nano = ts % c.units * (1e9 / c.units)
	default:
		sec = ts / c.units
		nano = ts % c.units / (c.units / 1e9)
	}
	if sec > maxSeconds {
		return math.MaxInt64
	}
	return addSeconds(int64(sec), c.seconds, int64(nano))
}

func addSeconds(sec, offset, nano int64) int64 {
	if offset > maxSeconds-sec {
		return math.MaxInt64
	}
	if offset < -maxSeconds-sec {
		return math.MinInt64
	}
	return (sec+offset)*1e9 + nano
}
