package cli

import (
	"fmt"
	"io"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// writer is a form of output.
type writer interface {
	Append([]byte, *dissect.Exchange) []byte
	Exchange(*dissect.Exchange) error
	Flush() error
}

// reader shows the exchanges that were selected. It is the dissect.Handler of read.
type reader struct {
	selection *selection
	first     func() int64 // time of the first packet
	limit     int64        // exchanges to show; 0: all
	strict    bool

	out   writer
	facts *output.Facts
	json  *output.JSON // the form that --where looks at
	line  []byte
	begin beginning // of a line that is long
	cut   int64     // lines of which --where did not see all

	whole   interface{ Limited() int64 } // out, where it shows exchanges whole
	decoded int64                        // exchanges of which a limit kept something back
	walk    *walk.Decoder                // for strict
	// batches finds what checker holds against what was before; nil finds nothing.
	batches *output.BatchFinder
	checker output.BatchChecker
	// another returns a reader like this one for a worker, which leaves out what is known late.
	another func(*output.Slots, output.Long) (*reader, error)
	room    *textRoom // of these
	text    io.Writer // for what workers have written, gathered in merged
	merged  []byte

	shown  int64
	issues issueCount
	err    error // the first of writing
}

// issueCount counts issues that --strict minds.
type issueCount struct{ warnings, errors int64 }

func (n *issueCount) add(s tree.Severity) {
	switch s {
	case tree.Warning:
		n.warnings++
	case tree.Error:
		n.errors++
	}
}

// connection counts what is wrong with a connection as a whole; each gap is a warning.
func (n *issueCount) connection(c *dissect.Connection) {
	for _, i := range c.Issues {
		n.add(i.Severity)
	}
	n.warnings += c.TCP.Odd[reassembly.Forward].Gaps + c.TCP.Odd[reassembly.Backward].Gaps
}

// err returns errIssues with the counts where there are any.
func (n *issueCount) err() error {
	if n.warnings+n.errors == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s, %s", errIssues, plural(n.warnings, "warning"), plural(n.errors, "error"))
}

// done reports whether nothing more is wanted.
func (r *reader) done() bool {
	return r.err != nil || r.limit > 0 && r.shown >= r.limit
}

// Exchange implements dissect.Handler.
func (r *reader) Exchange(x *dissect.Exchange) {
	if r.done() {
		return
	}
	hits := r.hits()
	if r.batches != nil { // also of exchanges that are not shown, lest there be gaps
		sent := r.batches.Find(x)
		x.Issues = append(x.Issues, r.checker.Check(x.Number, sent)...)
	}
	ok, err := r.selected(x)
	if err == nil && ok {
		r.shown++
		err = r.out.Exchange(x)
		if r.strict {
			r.count(x)
		}
	}
	r.hit(hits)
	if err != nil {
		r.err = err
	}
}

// selected reports whether x is to be shown; what costs least is asked first.
func (r *reader) selected(x *dissect.Exchange) (bool, error) {
	s := r.selection
	if !s.head(x, r.first()) {
		return false, nil
	}
	if s.needsFacts() {
		r.facts.Collect(x)
		if !s.body(r.facts) {
			return false, nil
		}
	}
	if s.where == nil {
		return true, nil
	}
	return s.where.match(r.judged(x), firstError(r.facts))
}

// judged returns the line that --where looks at.
func (r *reader) judged(x *dissect.Exchange) []byte {
	r.begin.text = r.begin.text[:0]
	r.line = r.json.Append(r.line[:0], x)
	if len(r.begin.text) == 0 {
		return r.line
	}
	if r.begin.full() {
		r.cut++
	}
	r.begin.text = append(r.begin.text, r.line...)
	return r.begin.text
}

// limited implements limiter.
func (r *reader) limited(n *limitCount) {
	n.decoded += r.decoded
	n.cut += r.cut
}

// hits returns how often a limit was hit so far.
func (r *reader) hits() (n int64) {
	if r.whole != nil {
		n = r.whole.Limited()
	}
	if r.batches != nil {
		n += r.batches.Limited()
	}
	return n
}

// hit counts the exchange if a limit was hit since there were so many hits.
func (r *reader) hit(before int64) {
	if r.hits() > before {
		r.decoded++
	}
}

// firstError returns the name of the response's first error code, or its number; "" for none.
func firstError(f *output.Facts) string {
	codes := f.Errors()
	if len(codes) == 0 {
		return ""
	}
	if name := f.ErrorName(codes[0].Code); name != "" {
		return name
	}
	return fmt.Sprint(codes[0].Code)
}

// Closed implements dissect.Handler.
func (r *reader) Closed(c *dissect.Connection, _ reassembly.End) {
	if !r.done() && r.selection.onConnection(c) {
		r.issues.connection(c)
	}
}

// count counts the issues of an exchange, decoding it whole.
func (r *reader) count(x *dissect.Exchange) {
	for _, i := range x.Issues {
		r.issues.add(i.Severity)
	}
	for _, f := range []*dissect.Frame{x.Request, x.Response} {
		if f == nil {
			continue
		}
		for _, i := range f.Issues {
			r.issues.add(i.Severity)
		}
		f.Walk(r.walk, issueSink{n: &r.issues})
	}
}

// issueSink looks at everything and counts the issues.
type issueSink struct {
	tree.Discard
	n *issueCount
}

// Begin implements tree.Sink.
func (issueSink) Begin(tree.Event) bool { return true }

// Issue implements tree.Sink.
func (s issueSink) Issue(i tree.Issue) { s.n.add(i.Severity) }
