package output

import (
	"io"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/tree"
)

// Widths of the columns of a summary line. Longer texts push what follows to the right.
const (
	connWidth    = 34
	apiWidth     = 24
	corrWidth    = 8
	clientWidth  = 24
	latencyWidth = 12
	detailWidth  = 120
)

// Summary writes one line an exchange: time, client > broker, API and version, correlation id,
// client id, latency, state or first error, then what that API is about.
type Summary struct {
	opt   Options
	out   lines
	clock clock
	facts *Facts

	columns columns
}

// NewSummary returns a writer of summary lines.
func NewSummary(w io.Writer, opt Options) *Summary {
	if opt.Width <= 0 {
		opt.Width = detailWidth
	}
	s := &Summary{opt: opt, out: lines{w: w, live: opt.Live}, facts: NewFacts(opt)}
	s.columns.opt = &s.opt
	return s
}

// Exchange writes a line. It returns the writer's first error.
func (s *Summary) Exchange(x *dissect.Exchange) error {
	return s.out.done(s.Append(s.out.buf, x))
}

// Flush sends on what was gathered.
func (s *Summary) Flush() error { return s.out.Flush() }

// Append appends the line of x, its newline included.
func (s *Summary) Append(b []byte, x *dissect.Exchange) []byte {
	s.facts.Collect(x)
	return s.AppendFacts(b, x, s.facts)
}

// appendHeading appends the date and then the line of x as far as it fits any exchange, with
// single spaces between.
func (s *Summary) appendHeading(b []byte, x *dissect.Exchange) []byte {
	first := x.Request
	if first == nil {
		first = x.Response
	}
	b = s.color(b, bold)
	b = append(s.clock.appendDate(b, first.FirstTime), ' ')
	s.facts.Collect(x)
	from := len(b)
	b = s.appendColumns(b, x)
	b = squeeze(b, from)
	b = append(b, ' ', ' ')
	b = s.appendState(b, x, s.facts)
	d := details{b: b, f: s.facts, x: x}
	d.halves()
	if t := x.Conn.TCP.TLS; t != nil {
		d.b = append(d.b, "  decrypted from "...)
		d.b = append(d.b, t.Version...)
	}
	b = s.color(d.b, plainColor)
	return append(b, '\n')
}

// squeeze makes each run of spaces behind from two.
func squeeze(b []byte, from int) []byte {
	out := b[:from]
	run := 0
	for _, c := range b[from:] {
		if c != ' ' {
			run = 0
		} else if run++; run > 2 {
			continue
		}
		out = append(out, c)
	}
	return out
}

// AppendFacts is Append with facts that were collected from x before.
func (s *Summary) AppendFacts(b []byte, x *dissect.Exchange, f *Facts) []byte {
	b = s.appendColumns(b, x)
	b = append(b, ' ', ' ')
	b = s.appendState(b, x, f)
	var d details
	d.b, d.from, d.width, d.wide = b, len(b), s.opt.Width, s.opt.Wide
	d.f, d.x = f, x
	d.write()
	return append(d.b, '\n')
}

// appendColumns appends the columns up to the latency.
func (s *Summary) appendColumns(b []byte, x *dissect.Exchange) []byte {
	first := x.Request
	if first == nil {
		first = x.Response
	}
	b = s.color(b, dim)
	b = s.clock.appendTime(b, first.FirstTime, 6)
	b = s.color(b, plainColor)
	b = append(b, ' ', ' ')

	b = s.columns.appendPeers(b, x.Conn)
	b = append(b, ' ', ' ')

	b = s.color(b, bold)
	b = s.columns.appendAPI(b, x)
	b = s.color(b, plainColor)
	b = append(b, ' ')

	from := len(b)
	if first.Kind == dissect.KafkaFrame {
		b = append(b, '#')
		b = appendInt(b, int64(first.CorrelationID))
	}
	b = appendSpaces(b, corrWidth-(len(b)-from))
	b = append(b, ' ')

	b = s.columns.appendClient(b, x)
	b = append(b, ' ')
	return appendLatency(b, x)
}

// appendLatency appends the latency, its unit in a column.
func appendLatency(b []byte, x *dissect.Exchange) []byte {
	if x.Request == nil || x.Response == nil {
		return append(appendSpaces(b, latencyWidth-1), '-')
	}
	var scratch [32]byte
	text := appendMillis(scratch[:0], int64(x.Latency))
	text = append(text, " ms"...)
	b = appendSpaces(b, latencyWidth-len(text))
	return append(b, text...)
}

// appendState appends one word or more on how the exchange went: what is incomplete, the first
// error code, the worst issue, or ok.
func (s *Summary) appendState(b []byte, x *dissect.Exchange, f *Facts) []byte {
	issue := f.WorstIssue()
	switch {
	case incomplete(x):
		b = s.color(b, red)
		b = append(b, x.State.String()...)
	case len(f.Errors()) > 0:
		b = s.color(b, red)
		b = appendError(b, f, f.Errors()[0].Code)
	case issue != nil && issue.Severity == tree.Error:
		b = s.color(b, red)
		b = append(b, issue.Code...)
	case x.State == dissect.NoResponse:
		return append(b, "sent"...)
	default:
		return append(b, "ok"...)
	}
	return s.color(b, plainColor)
}

// incomplete reports whether the exchange lacks a half or a part of one.
func incomplete(x *dissect.Exchange) bool {
	return x.State != dissect.Paired && x.State != dissect.NoResponse
}

// appendError appends the word for an error code, or its number.
func appendError(b []byte, f *Facts, code int16) []byte {
	if name := f.ErrorName(code); name != "" {
		return append(b, name...)
	}
	b = append(b, "error "...)
	return appendInt(b, int64(code))
}

// colour is a terminal's escape sequence (ECMA-48 SGR).
type colour string

const (
	plainColor colour = "\x1b[0m"
	bold       colour = "\x1b[1m"
	dim        colour = "\x1b[2m"
	red        colour = "\x1b[31m"
)

func (s *Summary) color(b []byte, c colour) []byte {
	if s.opt.Color {
		b = append(b, c...)
	}
	return b
}
