package records

import (
	"errors"
	"strconv"

	"github.com/kdissect/kdissect/tree"
)

// inflated is the outcome of decompressing a batch.
type inflated struct {
	data []byte
	err  error
}

// inflate decompresses src into the decoder's buffer, within what the limits leave.
func (d *Decoder) inflate(c Codec, src []byte) inflated {
	if !c.Known() {
		return inflated{err: errors.ErrUnsupported}
	}
	limit := d.limits.of(len(src), d.limits.Total-d.spent)
	if limit <= 0 {
		return inflated{err: errLimit}
	}
	out, err := d.inflater.inflate(c, src, d.buf, limit)
	if cap(out) > cap(d.buf) {
		d.buf = out[:0]
	}
	d.spent += len(out)
	return inflated{out, err}
}

// derive announces what the codec made of the bytes at [off, end), reports these as a leaf and
// tells what went wrong. It returns the source to enter; its buffer is empty where there is none.
// cut is set where the compressed bytes were not captured whole.
func (d *Decoder) derive(c Codec, in inflated, magic int8, off, end int, cut bool) source {
	origin := d.span(off, end-off)
	src := source{buf: in.data, cut: cut || in.err != nil}
	if len(in.data) > 0 {
		src.id = d.NextSource()
		d.sink.Source(src.id, in.data, origin, c.String())
	}
	desc := descCompressed
	if src.id == 0 && in.err != nil {
		desc = descUnknown
	}
	if off < end {
		d.sink.Leaf(tree.Event{
			Desc: desc, Span: origin,
			Value: tree.Value{Bytes: d.src.buf[off:end:end]}, Flags: tree.FlagStructural,
		})
	}
	d.inflateIssue(c, in, off, end-off, cut)
	if c == LZ4 {
		d.lz4Issues(magic, off, end-off)
	}
	return src
}

func (d *Decoder) inflateIssue(c Codec, in inflated, off, n int, cut bool) {
	switch {
	case in.err == nil:
	case errors.Is(in.err, errLimit):
		d.issue(tree.Warning, tree.CodeLimit, off, n,
			c.String()+": "+strconv.Itoa(n)+" bytes become more than "+strconv.Itoa(len(in.data))+" bytes, the cap")
	case errors.Is(in.err, errors.ErrUnsupported):
		d.issue(tree.Warning, tree.CodeUnsupported, off, n, "codec "+strconv.Itoa(int(c)))
	case cut: // a cut stream may look corrupt to its codec
		d.issue(tree.Warning, tree.CodeTruncated, off, n, c.String()+": "+in.err.Error())
	default:
		d.issue(tree.Warning, tree.CodeMalformed, off, n, c.String()+": "+in.err.Error())
	}
}

func (d *Decoder) lz4Issues(magic int8, off, n int) {
	notes := d.inflater.lz4
	switch {
	case notes.header == lz4HeaderOld && magic == 0:
		d.issue(tree.Info, tree.CodeChecksum, off, n, "lz4 header checksum covers the frame's magic, as usual in magic 0")
	case notes.header != lz4HeaderGood:
		d.issue(tree.Warning, tree.CodeChecksum, off, n, "lz4 header checksum does not fit")
	}
	if notes.block {
		d.issue(tree.Warning, tree.CodeChecksum, off, n, "lz4 block checksum does not fit")
	}
	if notes.content {
		d.issue(tree.Warning, tree.CodeChecksum, off, n, "lz4 content checksum does not fit")
	}
	if notes.size {
		d.issue(tree.Warning, tree.CodeCount, off, n, "lz4 content size does not fit")
	}
}
