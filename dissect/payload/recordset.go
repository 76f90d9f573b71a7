package payload

import (
	"encoding/binary"
	"strconv"
	"unsafe"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// keyProduce is the API whose requests may not hold a batch that is cut short.
const keyProduce = 0

// recordSet is the record set under way.
type recordSet struct {
	topic *topicRecords // nil for a user's
	path  string
}

// Walk implements walk.Records.
func (d *Decoder) Walk(data []byte, base tree.Span, path string, sink tree.Sink) {
	if d.unaligned(data, base, path, sink) {
		return
	}
	opt := records.Options{Path: path, Missing: int(base.Len) - len(data)}
	if p := d.plan; p != nil && p.API != nil {
		opt.Whole = p.API.Key == keyProduce && p.Direction == schema.Request
	}
	d.walkRecords(data, base, sink, opt, d.topic())
}

// Records gives the events of the record set data, which lies at base, as those of the records
// of a topic; its name may be empty.
func (d *Decoder) Records(data []byte, base tree.Span, topic string, sink tree.Sink, opt records.Options) records.Summary {
	return d.walkRecords(data, base, sink, opt, d.index.topics[topic])
}

func (d *Decoder) walkRecords(data []byte, base tree.Span, sink tree.Sink, opt records.Options, t *topicRecords) records.Summary {
	d.set = recordSet{topic: t, path: opt.Path}
	opt.Payload = (*recordPayload)(d)
	if t != nil {
		opt.Secret = d.secretParts
		d.late = lateIssue{Sink: sink}
		sink = &d.late
	}
	sum := d.records.Walk(data, base, sink, opt)
	d.late.Sink = nil
	return sum
}

// unaligned gives bytes of a snapshot's middle that do not begin with a batch as they are.
func (d *Decoder) unaligned(data []byte, base tree.Span, path string, sink tree.Sink) bool {
	if d.now.position == 0 {
		return false
	}
	base.Len = int32(len(data))
	if s := records.Summarize(data, 0); s.Batches > 0 && s.Unknown == 0 && s.Undecoded == 0 {
		return false
	}
	sink.Leaf(tree.Event{Desc: unalignedDesc, Span: base, Value: tree.Value{Bytes: data}, Flags: tree.FlagStructural})
	sink.Issue(tree.Issue{Severity: tree.Info, Code: tree.CodePayload, Span: base, Path: path,
		Text: "bytes from within a batch, at " + strconv.FormatInt(d.now.position, 10) + " of the snapshot"})
	return true
}

var unalignedDesc = &tree.Desc{Name: "undecoded", Type: "bytes", Kind: tree.KindRest, Secret: true, Data: true,
	About: "a part of a snapshot that does not begin with a batch"}

// recordPayload is a Decoder as the records.Payload of its records.
type recordPayload Decoder

// Claim implements records.Payload.
func (p *recordPayload) Claim(rec *records.Record, part records.Part) bool {
	d := (*Decoder)(p)
	d.form = form{holder: valueHolder}
	d.data = rec.Value
	if part == records.Key {
		d.form.holder = keyHolder
		d.data = rec.Key
	}
	var v verdict
	switch t := d.set.topic; {
	case rec.Control != records.NoControl:
		if part == records.Key {
			return false
		}
		v = d.controlValue(rec)
	case t == nil || d.Closed:
		return false
	case t.kind == logTopic:
		if part == records.Key {
			return false
		}
		v = d.logValue(t, d.data)
	case part == records.Key:
		v = d.coordinatorKey(t, d.data)
	default:
		v = d.coordinatorValue(t, rec.Key, d.data)
	}
	if v.unread != "" && d.late.Sink != nil {
		d.late.text = v.unread
		d.late.path = recordPath(d.set.path, rec, part)
	}
	return v.open
}

// Walk implements records.Payload.
func (p *recordPayload) Walk(rec *records.Record, part records.Part, data []byte, at tree.Span, sink tree.Sink) {
	d := (*Decoder)(p)
	d.data = data
	path := ""
	if d.late.Sink != nil {
		path = recordPath(d.set.path, rec, part)
	}
	if d.form.bare {
		d.nested(d.form.body, controlHolder.Key, data, 0, at, path, sink)
		f := d.form
		d.trailing(&f, data, at, path, sink)
		return
	}
	d.emit(at, nil, path, sink)
}

func recordPath(set string, rec *records.Record, part records.Part) string {
	name := ".value"
	if part == records.Key {
		name = ".key"
	}
	return set + "[" + strconv.Itoa(int(rec.Batch)) + "].records[" + strconv.Itoa(int(rec.Index)) + "]" + name
}

// controlMessages are the bodies of control records by type; those of COMMIT and ABORT are no
// business of this package.
var controlMessages = map[records.ControlType]string{
	records.LeaderChange: "LeaderChangeMessage", records.SnapshotHeader: "SnapshotHeaderRecord",
	records.SnapshotFooter: "SnapshotFooterRecord", records.KRaftVersion: "KRaftVersionRecord",
	records.KRaftVoters: "VotersRecord",
}

// controlValue reads the value of a control record: a body whose first field is its version.
func (d *Decoder) controlValue(rec *records.Record) verdict {
	name := controlMessages[rec.Control]
	if name == "" {
		return verdict{}
	}
	if len(rec.Value) < 2 {
		return verdict{unread: tooShort(name)}
	}
	d.form.bare = true
	return d.result(d.layout(name, int16be(rec.Value), rec.Value, 0))
}

func unknownType(v int64) string { return "record type " + strconv.FormatInt(v, 10) + " is not known" }

// coordinatorKey reads a key: its type, and a body that is always of version 0.
func (d *Decoder) coordinatorKey(t *topicRecords, key []byte) verdict {
	if len(key) < 2 {
		return verdict{unread: "too short for a record type"}
	}
	typ := int16be(key)
	name := t.keys[typ]
	if name == "" {
		return verdict{unread: unknownType(int64(typ))}
	}
	d.form.lead(typeDesc, 2, int64(typ))
	return d.result(d.layout(name, 0, key, 2))
}

// coordinatorValue reads a value, whose type is in the key.
func (d *Decoder) coordinatorValue(t *topicRecords, key, value []byte) verdict {
	if len(key) < 2 {
		return verdict{}
	}
	name := t.values[int16be(key)]
	if name == "" {
		return verdict{} // the key's issue tells
	}
	return d.versioned(name, value)
}

// logFrame is what stands in front of a record of the metadata log.
type logFrame struct {
	num  [3]uint64 // frame version, type, version
	size [3]int
	n    int // bytes; 0 where they cannot be read
}

func readLogFrame(value []byte) logFrame {
	var f logFrame
	for i := range f.num {
		v, n := binary.Uvarint(value[f.n:])
		if n <= 0 || v > 1<<15-1 {
			return logFrame{}
		}
		f.num[i], f.size[i] = v, n
		f.n += n
	}
	return f
}

// logValue reads a record of the metadata log or of the remote log's.
func (d *Decoder) logValue(t *topicRecords, value []byte) verdict {
	f := readLogFrame(value)
	switch {
	case f.n == 0:
		return verdict{unread: "no frame version, type and version in front of the record"}
	case f.num[0] != 1:
		return verdict{unread: "frame version " + strconv.FormatUint(f.num[0], 10) + " is not known"}
	}
	name := t.values[int16(f.num[1])]
	if name == "" {
		return verdict{unread: unknownType(int64(f.num[1]))}
	}
	for i, desc := range [...]*tree.Desc{frameVersionDesc, frameTypeDesc, frameRecordDesc} {
		d.form.lead(desc, f.size[i], int64(f.num[i]))
	}
	return d.result(d.layout(name, int16(f.num[2]), value, f.n))
}

// secretParts says which parts of an internal topic's record hold secrets. It goes by the type
// alone, so that a version that is not known is no leak.
func (d *Decoder) secretParts(rec *records.Record) (key, value bool) {
	t := d.set.topic
	if rec.Control != records.NoControl {
		return false, false
	}
	if t.kind == coordinatorTopic {
		return false, false // none of them does
	}
	f := readLogFrame(rec.Value)
	if f.n == 0 {
		return false, len(rec.Value) > 0
	}
	name := t.values[int16(f.num[1])]
	m := d.catalogue.DataMessage(name)
	if m == nil {
		return false, true
	}
	p := d.catalogue.Data(name, m.Versions.Max)
	return false, p == nil || d.descs.holdsSecret(p)
}

// lateIssue is a sink that tells behind a leaf why it is no more than that.
type lateIssue struct {
	tree.Sink
	text, path string
}

// Leaf passes e on.
func (s *lateIssue) Leaf(e tree.Event) {
	s.Sink.Leaf(e)
	if s.text == "" {
		return
	}
	s.Sink.Issue(tree.Issue{Severity: tree.Info, Code: tree.CodePayload, Span: e.Span, Path: s.path, Text: s.text})
	s.text = ""
}

// bytesOf returns the bytes of s, which may not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
