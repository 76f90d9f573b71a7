package cli

import (
	"encoding/hex"
	"strconv"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
)

// appendFrame appends the JSON line of a frame, which appendBatch answers, too.
func (d *decoder) appendFrame(b []byte, kind string, fr *dissect.Frame) []byte {
	b = append(b, `{"kind":"`...)
	b = append(b, kind...)
	b = append(b, `","api_key":`...)
	b = strconv.AppendInt(b, int64(fr.APIKey), 10)
	b = append(b, `,"version":`...)
	b = strconv.AppendInt(b, int64(fr.Version), 10)
	if fr.Plan != nil && fr.Plan.Older != "" {
		b = append(b, `,"layout":`...)
		b = strconv.AppendQuote(b, fr.Plan.Older)
	}
	d.json.Reset(fr.APIKey)
	d.canon.Reset(fr.Bytes, fr.Plan)
	for i := range fr.Issues {
		d.json.Issue(fr.Issues[i])
	}
	fr.Walk(d.walk, &d.canon)
	return d.appendParts(b, true, schema.HoldsSecrets(fr.APIKey))
}

// appendBody appends the JSON line of a body without a header, or of data.
func (d *decoder) appendBody(b, buf []byte, off int, p *schema.Plan) ([]byte, walk.Result) {
	if p.Direction == schema.Data {
		b = append(b, `{"name":"`...)
		b = append(b, p.Name...)
		b = append(b, `","version":`...)
	} else {
		b = append(b, `{"kind":"`...)
		b = append(b, p.Direction.String()...)
		b = append(b, `","api_key":`...)
		b = strconv.AppendInt(b, int64(p.API.Key), 10)
		b = append(b, `,"version":`...)
	}
	b = strconv.AppendInt(b, int64(p.Version), 10)
	if p.Older != "" {
		b = append(b, `,"layout":`...)
		b = strconv.AppendQuote(b, p.Older)
	}
	d.json.Reset(-1)
	d.canon.Reset(buf, p)
	r := d.walk.Body(buf, off, p, &d.canon)
	if !r.Failed && r.End < len(buf) {
		d.canon.Trailing(buf[r.End:])
	}
	return d.appendParts(b, false, p.Root.HoldsSecrets()), r
}

// appendParts appends the members that follow what names a frame, a body or data. Bytes as they
// were sent are left out of what may hold secrets, unless these are shown.
func (d *decoder) appendParts(b []byte, header, secrets bool) []byte {
	part := func(key string, v []byte) {
		b = append(b, key...)
		if len(v) == 0 {
			v = []byte("null")
		}
		b = append(b, v...)
	}
	if header {
		part(`,"header":`, d.json.Header())
	}
	part(`,"body":`, d.json.Body())
	b = append(b, `,"unknownTags":`...)
	b = d.json.AppendUnknownTags(b)
	if header {
		b = append(b, `,"headerUnknownTags":`...)
		b = d.json.AppendHeaderUnknownTags(b)
	}
	if found := d.canon.Deviations(); len(found) > 0 && (!secrets || d.f.batch || d.f.showSecrets) {
		b = append(b, `,"wire":[`...)
		for i, x := range found {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, `{"path":`...)
			b = strconv.AppendQuote(b, x.Path) // member names: letters, digits, dots and brackets
			b = append(b, `,"hex":"`...)
			b = hex.AppendEncode(b, x.Data)
			b = append(b, `"}`...)
		}
		b = append(b, ']')
	}
	b = append(b, `,"issues":`...)
	b = d.json.AppendIssues(b)
	return append(b, '}', '\n')
}
