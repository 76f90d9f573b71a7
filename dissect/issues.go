package dissect

import (
	"fmt"

	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// missingIssue says which bytes of f are not there, and why.
func missingIssue(f *frame.Frame) tree.Issue {
	m := f.Missing
	i := tree.Issue{Severity: tree.Error, Code: tree.CodeTruncated, Span: tree.Span{Off: int32(m.Off), Len: int32(m.Len)}}
	total := 4 + int64(f.Size)
	switch m.Why {
	case frame.OverLimit:
		i.Code = tree.CodeLimit
		i.Text = fmt.Sprintf("frame of %d bytes is over our limit: %d bytes kept", total, m.Off)
	case frame.AtEnd:
		i.Text = fmt.Sprintf("the stream ended after %d of %d bytes", m.Off, total)
	default:
		i.Text = fmt.Sprintf("bytes %d to %d of %d are missing: %v (known from packet %d)", m.Off, m.Off+m.Len-1, total, reassembly.Reason(m.Reason), m.Packet)
		if m.Off+m.Len < total {
			i.Text += fmt.Sprintf("; the %d bytes behind them are not decoded", total-m.Off-m.Len)
		}
	}
	return i
}

// limitIssue says that only a part of a frame was held until its response came.
func limitIssue(kept, had int) tree.Issue {
	return tree.Issue{
		Severity: tree.Error, Code: tree.CodeLimit, Span: tree.Span{Off: int32(kept), Len: int32(had - kept)},
		Text: fmt.Sprintf("too many bytes in flight: %d of %d kept", kept, had),
	}
}

// unsupportedIssue says what of the request's key and version is not known.
func unsupportedIssue(c *schema.Catalogue, key, version int16) tree.Issue {
	i := tree.Issue{Severity: tree.Warning, Code: tree.CodeUnsupported, Span: tree.Span{Off: keyOff, Len: 4}}
	a := c.API(key)
	if a == nil {
		i.Text = fmt.Sprintf("api key %d is not known", key)
		return i
	}
	lo, hi := int16(-1), int16(-1)
	for v := range int16(64) {
		if c.Plan(key, v, schema.Request) != nil {
			if lo < 0 {
				lo = v
			}
			hi = v
		}
	}
	i.Text = fmt.Sprintf("%s version %d is not known: versions are %d to %d", a.Name, version, lo, hi)
	return i
}

// malformedHeader says that a request's header contradicts its layout.
func malformedHeader() tree.Issue {
	return tree.Issue{Severity: tree.Error, Code: tree.CodeMalformed, Span: tree.Span{Off: keyOff}, Text: "this is no request header"}
}

func olderIssue(p *schema.Plan) tree.Issue {
	return tree.Issue{Severity: tree.Info, Code: tree.CodeOlder, Text: fmt.Sprintf("has the layout that version %d had up to release %s", p.Version, p.Older)}
}

func fallbackIssue(asked int16) tree.Issue {
	return tree.Issue{
		Severity: tree.Info, Code: tree.CodeFallback, Span: tree.Span{Off: 8, Len: 2},
		Text: fmt.Sprintf("answered at version 0 (UNSUPPORTED_VERSION fallback): version %d was asked", asked),
	}
}

func orphanIssue(fr *Frame) tree.Issue {
	return tree.Issue{
		Severity: tree.Warning, Code: tree.CodeOrphan,
		Text: fmt.Sprintf("no request with correlation id %d was captured (packets %d-%d, size %d)", fr.CorrelationID, fr.FirstPacket, fr.LastPacket, fr.Size),
	}
}

func orphanTokenIssue(fr *Frame) tree.Issue {
	return tree.Issue{
		Severity: tree.Warning, Code: tree.CodeOrphan,
		Text: fmt.Sprintf("no SASL token of the client was captured before this one (packets %d-%d, size %d)", fr.FirstPacket, fr.LastPacket, fr.Size),
	}
}

func headlessIssue(fr *Frame) tree.Issue {
	return tree.Issue{
		Severity: tree.Warning, Code: tree.CodeOrphan,
		Text: fmt.Sprintf("the correlation id is not captured (packets %d-%d, size %d)", fr.FirstPacket, fr.LastPacket, fr.Size),
	}
}

func outOfOrderIssue() tree.Issue {
	return tree.Issue{Severity: tree.Info, Code: tree.CodeOutOfOrder, Text: "answered before an earlier request"}
}

// describe names a request, such as "Fetch v12".
func (d *Dissector) describe(fr *Frame) string {
	switch a := d.catalogue.API(fr.APIKey); {
	case fr.Kind == TokenFrame:
		return "SASL token"
	case fr.APIKey < 0:
		return "request"
	case a != nil:
		return fmt.Sprintf("%s v%d", a.Name, fr.Version)
	}
	return fmt.Sprintf("api key %d v%d", fr.APIKey, fr.Version)
}

// unansweredIssue says that the connection's end left a request open.
func (c *conn) unansweredIssue(fr *Frame) tree.Issue {
	i := tree.Issue{Severity: tree.Warning, Code: tree.CodeUnanswered}
	what := fmt.Sprintf("%s, correlation id %d (packets %d-%d)", c.d.describe(fr), fr.CorrelationID, fr.FirstPacket, fr.LastPacket)
	if c.why != reassembly.EndFIN && c.why != reassembly.EndRST {
		i.Text = fmt.Sprintf("no response was captured to %s: %v", what, c.why)
		return i
	}
	i.Code = tree.CodeClosed
	who := ""
	switch broker, client := &c.TCP.Dirs[c.Broker], &c.TCP.Dirs[c.Broker.Other()]; {
	case c.why == reassembly.EndRST && broker.SawRST != client.SawRST:
		who = side(broker.SawRST)
	case c.why == reassembly.EndFIN && broker.SawFIN != client.SawFIN:
		who = side(broker.SawFIN)
	case c.finished[0] > 0 && c.finished[1] > 0:
		who = side(c.finished[c.Broker] < c.finished[c.Broker.Other()])
	}
	i.Text = fmt.Sprintf("connection %v%s (packet %d) with %s outstanding", c.why, who, c.d.packet, what)
	return i
}

func side(broker bool) string {
	if broker {
		return " by the broker"
	}
	return " by the client"
}
