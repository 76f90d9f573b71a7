package records

import "errors"

// ErrLimit is the error of Inflate where more would come out than the limits allow.
var ErrLimit = errLimit

// ErrCodec is the error of Inflate for a codec that is not known.
var ErrCodec = errors.ErrUnsupported

// Inflate decompresses bytes that stand outside of a batch, within the limits of the frame. What
// came out before an error is returned with it. The result dies with the next call of Inflate or
// Walk.
func (d *Decoder) Inflate(c Codec, data []byte) ([]byte, error) {
	if d.limits == (Limits{}) {
		d.limits = d.limits.withDefaults()
	}
	in := d.inflate(c, data)
	return in.data, in.err
}
