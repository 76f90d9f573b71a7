package output

import (
	"io"
	"strconv"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// JSON writes exchanges as the broker's request log does (KIP-673), one line each.
//
// Beside what the log has, unless Options.Plain, a line holds `capture` (where and when the
// exchange was captured), `issues`, and record sets as arrays of batches. Paths of issues begin
// with request or response, so that they are paths in the line. A half that was not captured is
// null; with Plain so is one whose bytes are not all there, because the log has nothing
// incomplete. A body of unknown layout is {"raw":"base64"}, with Plain {}. totalTimeMs is null
// where a half is missing.
type JSON struct {
	opt     Options
	out     lines
	body    body
	clock   clock
	limited int64
	// walk decodes a frame; tests put hand-made events in its place.
	walk func(*dissect.Frame, tree.Sink)
}

// NewJSON returns a writer of JSON lines.
func NewJSON(w io.Writer, opt Options) *JSON {
	j := &JSON{opt: opt, out: lines{w: w, live: opt.Live}}
	j.body.plain, j.body.bytes, j.body.showSecrets, j.body.values = opt.Plain, opt.Bytes, opt.ShowSecrets, opt.Values
	if j.body.long, j.body.held = opt.Long, opt.Held; opt.Long == nil && w != nil {
		j.body.long = &j.out
	}
	if j.body.held <= 0 {
		j.body.held = defaultHeld
	}
	d := j.opt.decoder()
	j.walk = func(f *dissect.Frame, s tree.Sink) { f.Walk(d, s) }
	return j
}

// Exchange writes a line. It returns the writer's first error.
func (j *JSON) Exchange(x *dissect.Exchange) error {
	return j.out.done(j.Append(j.out.buf, x))
}

// Flush sends on what was gathered.
func (j *JSON) Flush() error { return j.out.Flush() }

// Append appends the line of x, its newline included.
func (j *JSON) Append(b []byte, x *dissect.Exchange) []byte {
	s := &j.body
	s.begin()
	b = append(b, `{"requestHeader":`...)
	b = j.appendHeader(b, x.Request)
	b = append(b, `,"request":`...)
	b = j.appendHalf(b, x.Request, "request", false)
	b = append(b, `,"response":`...)
	b = j.appendHalf(b, x.Response, "response", x.Request == nil)
	b = append(b, `,"connection":"`...)
	b = appendConnection(b, x.Conn)
	b = append(b, `","totalTimeMs":`...)
	if x.Request != nil && x.Response != nil {
		b = appendMillis(b, int64(x.Latency))
	} else {
		b = append(b, "null"...)
	}
	b = appendClient(b, x.Conn)
	if !j.opt.Plain {
		b = j.appendCapture(b, x)
		b = append(b, `,"issues":[`...)
		b = j.appendIssues(b, x)
		b = append(b, ']')
	}
	if s.limited {
		j.limited++
	}
	return append(b, '}', '\n')
}

// Limited returns of how many exchanges not all was decoded or written, because of limits of ours.
func (j *JSON) Limited() int64 { return j.limited }

// appendHeader appends the request's header, or null where there is none or it is cut.
func (j *JSON) appendHeader(b []byte, f *dissect.Frame) []byte {
	if f == nil || f.Kind != dissect.KafkaFrame || f.APIKey < 0 && f.Version < 0 {
		return append(b, "null"...)
	}
	b = append(b, `{"requestApiKey":`...)
	b = strconv.AppendInt(b, int64(f.APIKey), 10)
	b = append(b, `,"requestApiVersion":`...)
	b = strconv.AppendInt(b, int64(f.Version), 10)
	b = append(b, `,"correlationId":`...)
	b = strconv.AppendInt(b, int64(f.CorrelationID), 10)
	b = append(b, `,"clientId":`...)
	if f.ClientID == nil {
		b = append(b, "null"...)
	} else {
		b = appendQuoted(b, f.ClientID)
	}
	b = append(b, `,"requestApiKeyName":`...)
	if api := apiOf(&j.opt, f); api != nil {
		b = appendString(b, api.LogName)
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}')
}

// appendHalf appends the body of a frame.
func (j *JSON) appendHalf(b []byte, f *dissect.Frame, side string, orphan bool) []byte {
	switch {
	case f == nil, j.opt.Plain && f.Cut():
		return append(b, "null"...)
	case j.opt.Plain && f.Kind == dissect.TokenFrame: // the log has no tokens
		return append(b, "{}"...)
	}
	s := &j.body
	s.reset(b)
	s.issueSide, s.hideRest = side, orphan || schema.HoldsSecrets(f.APIKey)
	j.walk(f, s)
	b = s.finish()
	if !s.hasRoot { // cut before the body
		b = append(b, "{}"...)
	}
	return b
}

// appendClient appends what the connection has shown of its client.
func appendClient(b []byte, c *dissect.Connection) []byte {
	if c.Software != "" || c.SoftwareVersion != "" {
		b = append(b, `,"clientInformation":{"softwareName":`...)
		b = appendString(b, c.Software)
		b = append(b, `,"softwareVersion":`...)
		b = appendString(b, c.SoftwareVersion)
		b = append(b, '}')
	}
	if c.Principal != "" {
		b = append(b, `,"principal":`...)
		b = appendString(b, c.Principal)
	}
	return b
}

// appendCapture appends where and when the halves were captured.
func (j *JSON) appendCapture(b []byte, x *dissect.Exchange) []byte {
	b = append(b, `,"capture":{"exchange":`...)
	b = j.opt.appendNumber(b, ExchangeNumber, x.Number)
	b = append(b, `,"connection":`...)
	b = j.opt.appendNumber(b, ConnectionNumber, x.Conn.TCP.ID)
	b = append(b, `,"state":"`...)
	b = append(b, x.State.String()...)
	b = append(b, '"')
	if x.Overtook {
		b = append(b, `,"overtook":true`...)
	}
	if x.Conn.TCP.TLS != nil { // offsets and sizes are of the plaintext
		b = append(b, `,"decrypted":true`...)
	}
	b = j.appendCaptured(b, `,"request`, x.Request)
	b = j.appendCaptured(b, `,"response`, x.Response)
	return append(b, '}')
}

// appendCaptured appends a half's time, packets and size; prefix begins each member's name.
func (j *JSON) appendCaptured(b []byte, prefix string, f *dissect.Frame) []byte {
	if f == nil {
		return b
	}
	b = append(b, prefix...)
	b = append(b, `Time":"`...)
	b = j.clock.appendRFC3339(b, f.FirstTime)
	b = append(b, '"')
	b = append(b, prefix...)
	b = append(b, `Packets":[`...)
	b = strconv.AppendInt(b, f.FirstPacket, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, f.LastPacket, 10)
	b = append(b, ']')
	b = append(b, prefix...)
	b = append(b, `Bytes":`...)
	b = strconv.AppendInt(b, 4+int64(f.Size), 10)
	if f.Cut() {
		b = append(b, prefix...)
		b = append(b, `MissingBytes":`...)
		b = strconv.AppendInt(b, 4+int64(f.Size)-int64(len(f.Bytes)), 10)
	}
	return b
}

// appendIssues appends the issues of decoding and those that were known before.
func (j *JSON) appendIssues(to []byte, x *dissect.Exchange) []byte {
	j.body.moreIssues()
	b := j.body.issues
	for i := range x.Issues {
		b = appendIssue(b, &x.Issues[i], "", false)
	}
	late := len(b)
	if x.Request != nil {
		for i := range x.Request.Issues {
			b = appendIssue(b, &x.Request.Issues[i], "request", true)
		}
	}
	if x.Response != nil {
		for i := range x.Response.Issues {
			b = appendIssue(b, &x.Response.Issues[i], "response", true)
		}
	}
	j.body.issues = b
	if j.opt.Late != nil {
		*j.opt.Late = append(*j.opt.Late, Slot{
			At: len(to) + max(late-1, 0), Kind: JSONIssues, Before: late > 0, Behind: len(b) > late,
		})
	}
	return appendList(to, b)
}

// appendList appends elements that each have a comma before them.
func appendList(b, list []byte) []byte {
	if len(list) > 0 {
		b = append(b, list[1:]...)
	}
	return b
}
