package capture

import "fmt"

// WarningKind classes warnings.
type WarningKind uint8

// Kinds of warnings.
const (
	WarnTruncated WarningKind = iota // the file ends inside a packet
	WarnDamaged                      // the file cannot be followed any further from here
	WarnSkipped                      // one packet or block had to be passed over
	numWarningKinds
)

// Warning is trouble inside a capture file that did not stop the reading of the capture.
type Warning struct {
	Kind   WarningKind
	File   string
	Offset int64 // in the file, after decompression
	Packet int64 // of that file, from 1: the one concerned or, where none is, the next; 0 where unknown
	Text   string
}

// String returns the line for people, with the file's name.
func (w Warning) String() string { return w.File + ": " + w.Text }

// reporter passes on the warnings of one file, at most a limit of each kind.
type reporter struct {
	name  string
	warn  func(Warning)
	limit int
	count [numWarningKinds]int
}

func (r *reporter) report(kind WarningKind, off, packet int64, format string, args ...any) {
	r.count[kind]++
	if r.warn == nil || r.count[kind] > r.limit {
		return
	}
	r.warn(Warning{Kind: kind, File: r.name, Offset: off, Packet: packet, Text: fmt.Sprintf(format, args...)})
}

// finish reports how many warnings were held back.
func (r *reporter) finish(off int64) {
	for k, n := range r.count {
		if r.warn != nil && n > r.limit {
			r.warn(Warning{Kind: WarningKind(k), File: r.name, Offset: off, Text: fmt.Sprintf("%d more warnings like this", n-r.limit)})
		}
		r.count[k] = 0
	}
}
