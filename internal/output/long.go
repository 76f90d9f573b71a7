package output

import (
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"

	"github.com/kdissect/kdissect/tree"
)

// Long takes the text of an exchange in pieces where it is too long to stay in one buffer.
type Long interface {
	// Full reports whether no text may begin for now.
	Full() bool
	// Spill is given a buffer whose first n bytes are done. It returns the one to go on with, which
	// begins with the bytes behind them, and whether more text may come.
	Spill(b []byte, n int) ([]byte, bool)
	// Limit says in words what Full is about, and how to raise it.
	Limit() string
}

// Sizes of texts.
const (
	spillAt      = 1 << 20  // from where on a text is long
	longValue    = 64 << 10 // values over it are written in pieces of about that size
	maxIssueText = 2 << 20  // of the issues of an exchange
	defaultHeld  = 16 << 20
)

// begin begins an exchange.
func (s *body) begin() {
	s.issues, s.issuesLeft = s.issues[:0], 0
	s.limited, s.told = false, false
	if s.full = s.long != nil && s.long.Full(); s.full {
		s.next = 0
	}
	if cap(s.scratch) > keepCap {
		s.scratch = nil
	}
}

// spill hands on what is done of a long text, and keeps what may still change.
func (s *body) spill() {
	n := s.settle(len(s.buf) >= s.held)
	if n > 0 {
		var more bool
		s.buf, more = s.long.Spill(s.buf, n)
		s.full = s.full || !more
		for i := range s.levels {
			s.levels[i].at = max(s.levels[i].at-n, 0)
		}
		for i := range s.pieces {
			s.pieces[i].at = max(s.pieces[i].at-n, 0)
		}
	}
	s.next = max(spillAt, min(2*len(s.buf), s.held))
}

// settle writes the opening brackets of what is open, and returns how many bytes change no more.
// The members of an object of which one may come too late for its place are held, unless forced.
func (s *body) settle(forced bool) int {
	for i := range s.levels {
		l := &s.levels[i]
		switch {
		case l.kind != levelObject && l.kind != levelArray, l.settled:
		case l.at == len(s.buf): // nothing is in it so far
			return l.at
		case l.kind == levelArray:
			s.buf[l.at], l.settled = '[', true
		case l.desc.Late && !forced:
			return l.at
		default:
			s.buf[l.at], l.settled = '{', true
		}
	}
	return len(s.buf)
}

// room spills what is done of a long text, and reports whether there is room for more.
func (s *body) room() bool { return len(s.buf) < s.next || s.spilled() }

// spilled is room of a text that is long, or may not be.
func (s *body) spilled() bool {
	if !s.full {
		s.spill()
	}
	if s.full {
		s.next = 0 // no text is short enough
	}
	return !s.full
}

// leftOut notes that e is left out, once in an exchange.
func (s *body) leftOut(e *tree.Event) bool {
	if !s.told {
		s.told = true
		s.tell(e, s.long.Limit()+": what follows is left out")
	}
	return true
}

// cutShort notes that the value of e is not all there.
func (s *body) cutShort(e *tree.Event) {
	s.told = true
	s.tell(e, s.long.Limit()+": the rest of this value and what follows is left out")
}

// disordered notes that the members of an object were too long for being held until all are there.
func (s *body) disordered(l *level) {
	s.tell(&tree.Event{}, "the text of this object is too long to be held: its tagged members stand behind the others (--max-memory)")
}

// tell adds an issue about the text, at the innermost object that is open.
func (s *body) tell(e *tree.Event, text string) {
	s.issues = appendIssue(s.issues, &tree.Issue{
		Severity: tree.Warning, Code: tree.CodeLimit, Span: e.Span, Path: string(s.appendPath(nil)), Text: text,
	}, s.issueSide, true)
	s.limited = true
}

// quoted writes a long p as a string.
func (s *body) quoted(e *tree.Event, p []byte) {
	if s.long == nil {
		s.buf = appendQuoted(s.buf, p)
		return
	}
	s.inPieces(e, p, runePiece, appendUnquoted)
}

// base64 writes p as a string of base64.
func (s *body) base64(e *tree.Event, p []byte) {
	if s.long == nil || len(p) <= longValue {
		s.buf = appendBase64(s.buf, p)
		return
	}
	s.inPieces(e, p, base64Piece, base64.StdEncoding.AppendEncode)
}

// hex writes p as a string of hex digits.
func (s *body) hex(e *tree.Event, p []byte) {
	if s.long == nil || len(p) <= longValue {
		s.buf = appendHex(s.buf, p)
		return
	}
	s.inPieces(e, p, base64Piece, hex.AppendEncode)
}

// inPieces writes p as a string, in pieces of which cut gives the lengths, as far as there is room.
func (s *body) inPieces(e *tree.Event, p []byte, cut func([]byte) int, write func(b, p []byte) []byte) {
	s.buf = append(s.buf, '"')
	for len(p) > 0 && s.room() {
		n := cut(p)
		s.buf = write(s.buf, p[:n])
		p = p[n:]
	}
	s.buf = append(s.buf, '"')
	if len(p) > 0 {
		s.cutShort(e)
	}
}

// runePiece returns the length of a piece of p that ends with a character.
func runePiece(p []byte) int {
	if len(p) <= longValue {
		return len(p)
	}
	for n := longValue; n > longValue-utf8.UTFMax; n-- {
		if utf8.RuneStart(p[n]) {
			return n
		}
	}
	return longValue
}

// base64Piece returns the length of a piece of p that is padded only at the end of p.
func base64Piece(p []byte) int { return min(len(p), longValue/3*3) }
