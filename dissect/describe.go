package dissect

import (
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/schema"
)

// describeRequest sets the layout of a request's header, and says what is wrong with it.
func (l *layouts) describeRequest(fr *Frame, h *header, whole bool) {
	layout := h.layout
	switch {
	case layout >= 0 && (h.clientFits || !whole):
		fr.Header = l.catalogue.Header(schema.Request, layout)
	case layout < 0 && h.clientFits && saneClientID(h.client, false):
		fr.Header = l.catalogue.Header(schema.Request, 1)
	case whole:
		fr.Plan = nil
		fr.Issues = append(fr.Issues, malformedHeader())
		return
	}
	if fr.Plan == nil {
		fr.Issues = append(fr.Issues, unsupportedIssue(l.catalogue, h.key, h.version))
	}
}

// useOlder replaces the plan of fr by an older layout of the same version where only that fits.
func (l *layouts) useOlder(fr *Frame, body int) {
	p := fr.Plan
	if len(l.catalogue.Older(p.API.Key, p.Version, p.Direction)) == 0 || l.fits(fr.Bytes, body, p) != frame.No {
		return
	}
	if o := l.older(fr.Bytes, body, p); o != nil {
		fr.Plan = o
		fr.Issues = append(fr.Issues, olderIssue(o))
	}
}

// describeResponse sets the layouts of the response to a request of a key and version, and says
// where they are not what was asked for.
func (l *layouts) describeResponse(fr *Frame, key, version int16) {
	fr.APIKey, fr.Version = key, version
	fr.Plan = l.responsePlan(fr.Bytes, key, version)
	layout := int16(0)
	if fr.Plan != nil {
		layout = fr.Plan.HeaderVersion
	}
	fr.Header = l.catalogue.Header(schema.Response, layout)
	switch {
	case fr.Plan == nil:
		i := unsupportedIssue(l.catalogue, key, version)
		i.Span.Off, i.Span.Len = respCorrOff+4, 0
		fr.Issues = append(fr.Issues, i)
	case fr.Plan.Version != version:
		fr.Issues = append(fr.Issues, fallbackIssue(version))
	}
}

// Frames describes frames that did not come from a capture. It serves one goroutine.
type Frames struct{ layouts }

// NewFrames returns a Frames for the layouts of c.
func NewFrames(c *schema.Catalogue) *Frames { return &Frames{layouts{catalogue: c}} }

// Request describes the request that b holds whole or in part, size prefix included.
func (s *Frames) Request(b []byte) *Frame {
	fr := loneFrame(b)
	h := parseHeader(s.catalogue, b)
	fr.APIKey, fr.Version, fr.CorrelationID, fr.ClientID = h.key, h.version, h.corr, h.client
	if !h.hasKey {
		return fr
	}
	fr.Plan = h.plan
	s.describeRequest(fr, &h, !fr.Cut())
	if fr.Plan != nil && h.body > 0 && !fr.Cut() {
		s.useOlder(fr, h.body)
	}
	return fr
}

// Response describes the response, to a request of the given key and version, that b holds
// whole or in part, size prefix included.
func (s *Frames) Response(b []byte, key, version int16) *Frame {
	fr := loneFrame(b)
	if len(b) >= respCorrOff+4 {
		fr.CorrelationID = int32At(b, respCorrOff)
	}
	s.describeResponse(fr, key, version)
	if fr.Plan != nil && !fr.Cut() {
		if body := responseBody(b, fr.Plan); body >= 0 {
			s.useOlder(fr, body)
		}
	}
	return fr
}

// IsRequest reports whether b is a whole request of a known key and version that its layout
// fits exactly.
func (s *Frames) IsRequest(b []byte) bool {
	return s.request(b) == frame.Strong && s.wholeRequest(b) == frame.Strong
}

// loneFrame returns a frame of b, cut behind its size.
func loneFrame(b []byte) *Frame {
	fr := &Frame{Bytes: b, Size: int32(len(b) - 4)}
	if len(b) >= 4 {
		fr.Size = int32At(b, 0)
	}
	if n := int(fr.Size); n >= 0 && len(b) > 4+n {
		fr.Bytes = b[:4+n]
	}
	return fr
}
