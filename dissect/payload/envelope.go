package payload

import (
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
)

// requestData reads a request that a broker forwards: header and body, without a size in front
// (KIP-590).
func (d *Decoder) requestData(data []byte) verdict {
	v := d.forwarded(data, data, schema.Request)
	v.hide = v.hide || !v.open // it may be anything
	return v
}

// responseData reads the answer to a forwarded request, which only that request tells how.
func (d *Decoder) responseData(data []byte) verdict {
	asked := d.ask().data
	if asked == nil {
		return verdict{hide: true, unread: "what was asked is not known"}
	}
	v := d.forwarded(asked, data, schema.Response)
	v.hide = v.hide || !v.open
	return v
}

// forwarded reads data as what belongs to the request that asked begins with.
func (d *Decoder) forwarded(asked, data []byte, dir schema.Direction) verdict {
	if len(asked) < 4 {
		return verdict{unread: "too short for a request header"}
	}
	key, version := int16be(asked), int16be(asked[2:])
	p := d.catalogue.Plan(key, version, dir)
	if p == nil {
		return verdict{unread: "API " + strconv.Itoa(int(key)) + " version " + strconv.Itoa(int(version)) + " is not known"}
	}
	header := d.catalogue.Header(dir, p.HeaderVersion)
	end, ok := d.fits(data, 0, header)
	f := &d.form
	f.name, f.version, f.header = p.Name, int64(version), header
	if !ok || !d.take(p, d.catalogue.Older(key, version, dir), data, end) {
		return verdict{unread: notRead(p.Name, version)}
	}
	return verdict{open: true}
}
