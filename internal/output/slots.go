package output

import (
	"strconv"

	"github.com/kdissect/kdissect/tree"
)

// SlotKind says what belongs in a slot.
type SlotKind uint8

// Kinds of slots.
const (
	ExchangeNumber SlotKind = iota
	ConnectionNumber
	TreeIssues // issues of the exchange that come late
	JSONIssues // the same, as elements of a list
)

// Slots are places in a text where something belongs that is not known yet, in order: what takes
// all exchanges before to tell.
type Slots []Slot

// Slot is a place in a text.
type Slot struct {
	At   int // by the length of the text before it
	Kind SlotKind
	// Before and Behind say whether the list of JSONIssues has elements on either side.
	Before, Behind bool
}

// AppendIssues appends what the slot of late issues holds.
func (s Slot) AppendIssues(b []byte, issues []tree.Issue) []byte {
	if s.Kind == TreeIssues {
		for i := range issues {
			b = appendTreeIssue(b, &issues[i])
		}
		return b
	}
	for i := range issues {
		from := len(b)
		b = appendIssue(b, &issues[i], "", false)
		if i == 0 && !s.Before { // without the comma before it
			b = append(b[:from], b[from+1:]...)
		}
	}
	if len(issues) > 0 && !s.Before && s.Behind {
		b = append(b, ',')
	}
	return b
}

// appendNumber appends a number, or notes its place.
func (o *Options) appendNumber(b []byte, kind SlotKind, n int64) []byte {
	if o.Late != nil {
		*o.Late = append(*o.Late, Slot{At: len(b), Kind: kind})
		return b
	}
	return strconv.AppendInt(b, n, 10)
}
