package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/dissect/wire"
	"github.com/kdissect/kdissect/tree"
)

// layouts answers whether bytes fit what the catalogue says.
type layouts struct {
	catalogue *schema.Catalogue
	decoder   walk.Decoder
	oddities  oddities
}

// minRequest is the smallest size of a request: key, version and correlation id.
const minRequest = 8

// request judges bytes that may begin a request, by its size, its key and version, which must
// be known, and its client id.
func (l *layouts) request(b []byte) frame.Verdict {
	if len(b) < keyOff {
		return frame.More
	}
	size := int32At(b, 0)
	if size < minRequest {
		return frame.No
	}
	if len(b) < corrOff {
		if len(b) >= versionOff && l.catalogue.API(int16At(b, keyOff)) == nil {
			return frame.No
		}
		return frame.More
	}
	key, version := int16At(b, keyOff), int16At(b, versionOff)
	p := l.catalogue.Plan(key, version, schema.Request)
	if p == nil {
		return frame.No
	}
	if p.HeaderVersion == 0 {
		return frame.Strong
	}
	return clientID(b, size)
}

// loose judges like request, but lets unknown versions and keys pass when the client says its name.
func (l *layouts) loose(b []byte) frame.Verdict {
	if v := l.request(b); v != frame.No {
		return v
	}
	if len(b) < corrOff {
		return frame.No
	}
	size := int32At(b, 0)
	key, version := int16At(b, keyOff), int16At(b, versionOff)
	if size < minRequest+2 || size > 1<<20 || key < 0 || version < 0 || version > 1000 {
		return frame.No
	}
	if len(b) < clientOff+2 {
		return frame.More
	}
	if int16At(b, clientOff) <= 0 {
		return frame.No
	}
	return clientID(b, size)
}

// clientID judges the client id of a request of the given size.
func clientID(b []byte, size int32) frame.Verdict {
	if size < minRequest+2 {
		return frame.No
	}
	if len(b) < clientOff+2 {
		return frame.More
	}
	n := int(int16At(b, clientOff))
	if n < -1 || n > maxClientID || n > int(size)-minRequest-2 {
		return frame.No
	}
	have := b[clientOff+2 : min(len(b), clientOff+2+max(n, 0))]
	cut := len(have) < n
	switch {
	case !saneClientID(have, cut):
		return frame.No
	case cut:
		return frame.More
	}
	return frame.Strong
}

// wholeRequest judges a whole request whose header passed: strong where its body decodes
// exactly, weak where bytes are left over, as some clients have it, or the layout is unknown.
func (l *layouts) wholeRequest(b []byte) frame.Verdict {
	h := parseHeader(l.catalogue, b)
	if !h.clientFits {
		return frame.No
	}
	if h.plan == nil {
		return frame.Weak
	}
	if h.body == 0 {
		return frame.No
	}
	v := l.fit(b, h.body, h.plan)
	if v == frame.Weak && len(h.client) == 0 {
		return frame.No
	}
	return v
}

// wholeResponse judges a whole response to a request of the given key and version: strong where
// its body decodes exactly, weak where the layout is unknown. Brokers leave no bytes over.
func (l *layouts) wholeResponse(b []byte, key, version int16) frame.Verdict {
	p := l.responsePlan(b, key, version)
	if p == nil {
		return frame.Weak
	}
	off := responseBody(b, p)
	if off < 0 || l.fit(b, off, p) != frame.Strong {
		return frame.No
	}
	return frame.Strong
}

// beginsRequest reports whether b, of which more is missing, begins a request: the client says its
// name, which zeros do not, and what is there of the body fits.
func (l *layouts) beginsRequest(b []byte) bool {
	if l.request(b) != frame.Strong || len(b) <= clientOff+2 || int16At(b, clientOff) <= 0 {
		return false
	}
	key, version := int16At(b, keyOff), int16At(b, versionOff)
	p := l.catalogue.Plan(key, version, schema.Request)
	return l.fitsSoFar(b, l.catalogue.Header(schema.Request, p.HeaderVersion), p)
}

// beginsResponse reports the same of a response to a request of the given key and version, by its
// body alone.
func (l *layouts) beginsResponse(b []byte, key, version int16) bool {
	p := l.responsePlan(b, key, version)
	return p != nil && !thin(b) && l.fitsSoFar(b, l.catalogue.Header(schema.Response, p.HeaderVersion), p)
}

// fitsSoFar reports whether nothing that is there of a frame speaks against its layout.
func (l *layouts) fitsSoFar(b []byte, header, p *schema.Plan) bool {
	l.oddities.n = 0
	r := l.decoder.Frame(b, int32At(b, 0), header, p, &l.oddities)
	return l.oddities.n == 0 && (!r.Failed || r.Err.Class == wire.Truncated)
}

// producesNothing reports whether a Produce request has no topics.
func (l *layouts) producesNothing(b []byte) bool {
	h := parseHeader(l.catalogue, b)
	if h.body == 0 || h.plan == nil {
		return false
	}
	var topics firstArray
	l.decoder.Body(b, h.body, h.plan, &topics)
	return topics.found && topics.count <= 0
}

// firstArray looks at how many elements the first array of a body has.
type firstArray struct {
	tree.Discard
	found bool
	count int32
}

// Begin implements tree.Sink.
func (a *firstArray) Begin(e tree.Event) bool {
	if e.Desc.Kind != tree.KindArray {
		return true
	}
	if !a.found {
		a.found, a.count = true, e.Count
	}
	return false
}

// foundRequest judges a whole request that a search came upon. Numbers and zeros in records look
// like small requests too: one that has little to it must begin a packet.
func (l *layouts) foundRequest(b []byte, aligned bool) frame.Verdict {
	v := l.wholeRequest(b)
	if v != frame.Strong {
		return v
	}
	if !aligned && thin(b) {
		return frame.No
	}
	h := parseHeader(l.catalogue, b)
	if l.odd(b, h.body, h.plan) {
		return frame.Weak
	}
	return frame.Strong
}

// foundResponse judges a whole response that a search came upon, like foundRequest.
func (l *layouts) foundResponse(b []byte, key, version int16, aligned bool) frame.Verdict {
	v := l.wholeResponse(b, key, version)
	if v != frame.Strong {
		return v
	}
	p := l.responsePlan(b, key, version)
	if !aligned && thin(b) || l.odd(b, responseBody(b, p), p) {
		return frame.No
	}
	return frame.Strong
}

// thin reports whether a frame has so few bytes other than zero that it may be anything.
func thin(b []byte) bool {
	const most = 6
	n := 0
	for _, v := range b[4:] {
		if v != 0 {
			if n++; n > most {
				return false
			}
		}
	}
	return true
}

// odd reports whether the body at off, which fits p or an older layout of its version, breaks a
// rule of the protocol, as with a null where none is allowed.
func (l *layouts) odd(b []byte, off int, p *schema.Plan) bool {
	if l.fits(b, off, p) != frame.Strong {
		p = l.older(b, off, p)
	}
	l.oddities.n = 0
	l.decoder.Body(b, off, p, &l.oddities)
	return l.oddities.n > 0
}

// oddities counts warnings and errors that more bytes would not mend.
type oddities struct {
	tree.Discard
	n int
}

// Begin implements tree.Sink.
func (*oddities) Begin(tree.Event) bool { return true }

// Issue implements tree.Sink.
func (o *oddities) Issue(i tree.Issue) {
	if i.Severity >= tree.Warning && i.Code != tree.CodeTruncated {
		o.n++
	}
}

// responsePlan returns the layout of the response b to a request, or nil. An ApiVersions
// response with error 35 is of version 0, whatever was asked (KIP-511).
func (l *layouts) responsePlan(b []byte, key, version int16) *schema.Plan {
	if key == apiVersionsKey && version > 0 && len(b) >= 10 && int16At(b, 8) == unsupportedVersion {
		return l.catalogue.Plan(key, 0, schema.Response)
	}
	return l.catalogue.Plan(key, version, schema.Response)
}

// responseBody returns the offset of the body of response b, or -1.
func responseBody(b []byte, p *schema.Plan) int {
	off := respCorrOff + 4
	if len(b) < off {
		return -1
	}
	if p.HeaderVersion >= 1 {
		off = skipTags(b, off)
	}
	return off
}

// fit says how the body at off fits a layout, or an older one of the same version.
func (l *layouts) fit(b []byte, off int, p *schema.Plan) frame.Verdict {
	switch v := l.fits(b, off, p); {
	case v == frame.Strong || p.API == nil:
		return v
	case l.older(b, off, p) != nil:
		return frame.Strong
	default:
		return v
	}
}

func (l *layouts) fits(b []byte, off int, p *schema.Plan) frame.Verdict {
	switch r := l.decoder.Body(b, off, p, nil); {
	case r.Failed:
		return frame.No
	case r.Contained || r.End < len(b):
		return frame.Weak
	}
	return frame.Strong
}

// older returns the older layout of p's version that the body at off fits exactly, or nil.
func (l *layouts) older(b []byte, off int, p *schema.Plan) *schema.Plan {
	for _, o := range l.catalogue.Older(p.API.Key, p.Version, p.Direction) {
		if l.fits(b, off, o) == frame.Strong {
			return o
		}
	}
	return nil
}
