package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Versions is an inclusive range of versions. The zero value is the range 0-0; None is empty.
type Versions struct{ Min, Max int16 }

// None contains no version; All contains every version from 0 on.
var (
	None = Versions{0, -1}
	All  = Versions{0, math.MaxInt16}
)

// ParseVersions reads Kafka's forms "3", "0-5", "2+" and "none".
func ParseVersions(s string) (Versions, error) {
	s = strings.TrimSpace(s)
	if s == "none" || s == "" {
		return None, nil
	}
	num := func(word string) (int16, error) {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 16)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("versions %q: want N, N-M, N+ or none", s)
		}
		return int16(n), nil
	}
	if lo, ok := strings.CutSuffix(s, "+"); ok {
		n, err := num(lo)
		return Versions{n, math.MaxInt16}, err
	}
	lo, hi, isRange := strings.Cut(s, "-")
	a, err := num(lo)
	if err != nil || !isRange {
		return Versions{a, a}, err
	}
	b, err := num(hi)
	if err == nil && b < a {
		err = fmt.Errorf("versions %q: %d is below %d", s, b, a)
	}
	return Versions{a, b}, err
}

// Empty reports whether v contains no version.
func (v Versions) Empty() bool { return v.Max < v.Min }

// Contains reports whether n lies in v.
func (v Versions) Contains(n int16) bool { return v.Min <= n && n <= v.Max }

// Intersect returns the versions in both v and w.
func (v Versions) Intersect(w Versions) Versions {
	r := Versions{max(v.Min, w.Min), min(v.Max, w.Max)}
	if r.Empty() {
		return None
	}
	return r
}

// Subtract returns v without w as at most two ranges, in order.
func (v Versions) Subtract(w Versions) []Versions {
	x := v.Intersect(w)
	if x.Empty() {
		if v.Empty() {
			return nil
		}
		return []Versions{v}
	}
	var r []Versions
	if v.Min < x.Min {
		r = append(r, Versions{v.Min, x.Min - 1})
	}
	if x.Max < v.Max {
		r = append(r, Versions{x.Max + 1, v.Max})
	}
	return r
}

// String returns Kafka's form of v, which ParseVersions reads back.
func (v Versions) String() string {
	switch {
	case v.Empty():
		return "none"
	case v.Max == math.MaxInt16:
		return strconv.Itoa(int(v.Min)) + "+"
	case v.Min == v.Max:
		return strconv.Itoa(int(v.Min))
	}
	return strconv.Itoa(int(v.Min)) + "-" + strconv.Itoa(int(v.Max))
}
