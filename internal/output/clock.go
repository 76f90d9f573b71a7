package output

import "time"

const dayNanos = int64(24 * time.Hour)

// clock writes times. It remembers the day's text, so that only the first time of a day goes
// through package time.
type clock struct {
	day  int64
	text [10]byte // "2006-01-02"
	set  bool
}

// date appends the UTC date of ns (nanoseconds since 1970) and returns the nanoseconds into
// that day.
func (c *clock) date(b []byte, ns int64) ([]byte, int64) {
	day := floorDiv(ns, dayNanos)
	if !c.set || day != c.day {
		// Years of int64 nanoseconds (1677 to 2262) have four digits.
		time.Unix(day*86400, 0).UTC().AppendFormat(c.text[:0], time.DateOnly)
		c.day, c.set = day, true
	}
	return append(b, c.text[:]...), ns - day*dayNanos
}

// appendRFC3339 appends ns as RFC 3339 with nine decimals, in UTC.
func (c *clock) appendRFC3339(b []byte, ns int64) []byte {
	b, rest := c.date(b, ns)
	b = append(b, 'T')
	b = appendTimeOfDay(b, rest, 9)
	return append(b, 'Z')
}

// appendTimeOfDay appends hh:mm:ss and a number of decimals.
func appendTimeOfDay(b []byte, ns int64, decimals int) []byte {
	s := ns / int64(time.Second)
	b = appendTwo(b, s/3600)
	b = append(b, ':')
	b = appendTwo(b, s/60%60)
	b = append(b, ':')
	b = appendTwo(b, s%60)
	b = append(b, '.')
	frac := ns % int64(time.Second)
	for div := int64(time.Second) / 10; decimals > 0; decimals-- {
		b = append(b, byte('0'+frac/div%10))
		div /= 10
	}
	return b
}

func appendTwo(b []byte, v int64) []byte { return append(b, byte('0'+v/10), byte('0'+v%10)) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
