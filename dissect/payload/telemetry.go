package payload

import (
	"errors"
	"strconv"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/tree"
)

// metrics reads what a client pushes: OpenTelemetry metrics (KIP-714), compressed or not. They
// are decompressed once their inside is asked for.
func (d *Decoder) metrics() verdict {
	d.form.name, d.form.version = "MetricsData", -1
	return verdict{open: true}
}

var metricsDesc = &tree.Desc{Name: "compressed metrics", Type: "bytes", Kind: tree.KindBytes, About: "the metrics as the codec left them"}

// walkMetrics gives the events of metrics.
func (d *Decoder) walkMetrics(data []byte, at tree.Span, path string, sink tree.Sink) {
	codec := records.Codec(min(max(d.now.compression, 0), 255)) // others are unknown, too
	if d.now.compression == int64(records.None) {
		walkOTLP(data, at, path+".body", sink)
		return
	}
	leaf := tree.Event{Desc: metricsDesc, Span: at, Value: tree.Value{Bytes: data}, Flags: tree.FlagStructural}
	issue := tree.Issue{Severity: tree.Info, Code: tree.CodePayload, Span: at, Path: path}
	plain, err := d.records.Inflate(codec, data)
	if err != nil {
		sink.Leaf(leaf)
		issue.Text = codec.String() + ": " + err.Error()
		switch {
		case errors.Is(err, records.ErrLimit):
			issue.Severity, issue.Code = tree.Warning, tree.CodeLimit
		case errors.Is(err, records.ErrCodec):
			issue.Code, issue.Text = tree.CodeUnsupported, "codec "+strconv.FormatInt(d.now.compression, 10)
		}
		sink.Issue(issue)
		return
	}
	id := d.records.NextSource()
	sink.Source(id, plain, at, codec.String())
	sink.Leaf(leaf)
	walkOTLP(plain, tree.Span{Source: id, Len: int32(len(plain))}, path+".body", sink)
}
