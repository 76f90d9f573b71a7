package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/layout"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// capturedPage writes the page of exchange f.frame of capture files.
func (f *layoutFlags) capturedPage(e *env, m *layout.Maker, files []string) error {
	t := &taker{number: f.frame, maker: m, decoder: newDecoder(m.Catalogue, f.source.limits.records(true))}
	p := &pipeline{env: e, source: &f.source, files: files, handler: t, stopped: func() bool { return t.page != nil }}
	if err := p.run(); err != nil {
		return err
	}
	if t.page == nil {
		return fmt.Errorf("no exchange %d: %s", f.frame, plural(t.seen, "exchange"))
	}
	return f.write(e, t.page)
}

// taker makes the page of one exchange. It is a dissect.Handler.
type taker struct {
	number  int64
	maker   *layout.Maker
	decoder *walk.Decoder
	seen    int64
	page    *layout.Page
}

// Exchange implements dissect.Handler.
func (t *taker) Exchange(x *dissect.Exchange) {
	t.seen = x.Number
	if t.page != nil || x.Number != t.number {
		return
	}
	first := frameOf(x)
	s := layout.Subject{Version: first.Version}
	title := fmt.Sprintf("Exchange %d: ", x.Number)
	if first.Kind == dissect.TokenFrame {
		title += "SASL token"
	} else if s.API = t.maker.Catalogue.API(first.APIKey); s.API != nil {
		title += fmt.Sprintf("%s v%d", s.API.Name, s.Version)
	} else {
		title += fmt.Sprintf("unknown API %d v%d", first.APIKey, s.Version)
	}
	var sides []layout.FrameSide
	var facts []layout.Fact
	add := func(label, text string) { facts = append(facts, layout.Fact{Label: label, Text: text}) }
	add("Captured", time.Unix(0, first.FirstTime).UTC().Format("2006-01-02T15:04:05.000000Z"))
	toBroker := x.Conn.TCP.Flow
	if x.Conn.Broker == reassembly.Forward { // the broker opened the connection, as far as was captured
		toBroker = toBroker.Reverse()
	}
	add("Client, broker", toBroker.Src.AddrPort().String()+", "+toBroker.Dst.AddrPort().String())
	state := x.State.String()
	if x.Latency > 0 {
		state += fmt.Sprintf(", %.3f ms", float64(x.Latency)/1e6)
	}
	add("State", state)
	var issues []string
	note := func(list []tree.Issue) {
		for _, i := range list {
			issues = append(issues, string(i.Code)+": "+i.Text)
		}
	}
	note(x.Issues)
	for d, frame := range []*dissect.Frame{schema.Request: x.Request, schema.Response: x.Response} {
		if frame == nil {
			continue
		}
		note(frame.Issues)
		kept := *frame
		kept.Bytes = append([]byte(nil), frame.Bytes...) // the frame's die with this call
		sides = append(sides, layout.FrameSide{
			Direction: schema.Direction(d), Bytes: kept.Bytes, Header: kept.Header, Plan: kept.Plan,
			Walk: func(sink tree.Sink) { output.Walk(t.decoder, x, &kept, sink) },
		})
	}
	if len(issues) > 0 {
		add("Issues", strings.Join(issues, "; "))
	}
	t.page = t.maker.FramePage(s, title, facts, sides...)
}

// limited implements limiter.
func (t *taker) limited(n *limitCount) {
	if t.page == nil {
		return
	}
	for _, side := range t.page.Sides {
		for _, i := range side.Tree.Issues {
			if i.Code == tree.CodeLimit {
				n.decoded++
				return
			}
		}
	}
}

// Closed implements dissect.Handler.
func (t *taker) Closed(*dissect.Connection, reassembly.End) {}
