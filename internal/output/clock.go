package output

import "time"

const dayNanos = int64(24 * time.Hour)

// clock writes times. It remembers the text of the day and of the second, so that only the first
// time of a day goes through package time.
type clock struct {
	day    int64
	date   [10]byte // "2006-01-02"
	second int64    // of the day
	time   [8]byte  // "15:04:05"
	set    bool
}

// split returns the nanoseconds into the UTC day of ns (nanoseconds since 1970), having made the
// day's text.
func (c *clock) split(ns int64) int64 {
	day := floorDiv(ns, dayNanos)
	if !c.set || day != c.day {
		// Years of int64 nanoseconds (1677 to 2262) have four digits.
		time.Unix(day*86400, 0).UTC().AppendFormat(c.date[:0], time.DateOnly)
		c.day, c.second, c.set = day, -1, true
	}
	return ns - day*dayNanos
}

// appendDate appends the UTC date of ns.
func (c *clock) appendDate(b []byte, ns int64) []byte {
	c.split(ns)
	return append(b, c.date[:]...)
}

// appendTime appends the UTC time of day of ns: hh:mm:ss and 3, 6 or 9 decimals.
func (c *clock) appendTime(b []byte, ns int64, decimals int) []byte {
	ns = c.split(ns)
	if s := ns / int64(time.Second); s != c.second {
		text := appendTwo(c.time[:0], s/3600)
		text = appendTwo(append(text, ':'), s/60%60)
		appendTwo(append(text, ':'), s%60)
		c.second = s
	}
	b = append(b, c.time[:]...)
	b = append(b, '.')
	frac := ns % int64(time.Second)
	b = appendThree(b, frac/1e6)
	if decimals > 3 {
		b = appendThree(b, frac/1e3%1e3)
	}
	if decimals > 6 {
		b = appendThree(b, frac%1e3)
	}
	return b
}

// appendRFC3339 appends ns as RFC 3339 with nine decimals, in UTC.
func (c *clock) appendRFC3339(b []byte, ns int64) []byte {
	b = c.appendDate(b, ns)
	b = append(b, 'T')
	b = c.appendTime(b, ns, 9)
	return append(b, 'Z')
}

func appendTwo(b []byte, v int64) []byte { return append(b, byte('0'+v/10), byte('0'+v%10)) }

func appendThree(b []byte, v int64) []byte {
	return append(b, byte('0'+v/100), byte('0'+v/10%10), byte('0'+v%10))
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
