package wire

import "strconv"

// Class tells apart the two ways in which reading fails.
type Class uint8

// Classes.
const (
	// Truncated: the bytes lie inside the region, but were not captured.
	Truncated Class = iota
	// Malformed: the bytes contradict the layout, such as a length that leaves its region.
	Malformed
)

// String returns the lower-case word.
func (c Class) String() string {
	if c == Truncated {
		return "truncated"
	}
	return "malformed"
}

// Error says where and why reading stopped. It is a value without allocations: the text is
// made when it is asked for.
type Error struct {
	Class Class
	Off   int // of the value that could not be read
	What  What
	Want  int64 // the length, count or value found
	Have  int64 // what was left, or the bound
}

// What names the check that failed.
type What uint8

// Checks.
const (
	ShortValue     What = iota // fewer bytes left than a value of fixed size takes: Want, Have
	ShortBytes                 // a length beyond the end: Want, Have
	NegativeLength             // a length below -1: Want
	VarintTooLong              // more than 5 (10) bytes, or more than 32 (64) bits
	CountTooLarge              // a count that the bytes left cannot hold: Want, Have
	BadValue                   // a value that has no meaning here: Want
	NestedTooDeep              // more levels than Have
)

// Error returns the text, without the offset.
func (e *Error) Error() string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	switch e.What {
	case ShortValue:
		return "value of " + n(e.Want) + " bytes, " + n(e.Have) + " left"
	case ShortBytes:
		return "length " + n(e.Want) + ", " + n(e.Have) + " bytes left"
	case NegativeLength:
		return "negative length " + n(e.Want)
	case VarintTooLong:
		return "varint too long"
	case CountTooLarge:
		return "count " + n(e.Want) + " needs more than the " + n(e.Have) + " bytes left"
	case BadValue:
		return "value " + n(e.Want) + " has no meaning here"
	case NestedTooDeep:
		return "nested deeper than " + n(e.Have)
	}
	return "cannot be read"
}
