package output

import (
	"unsafe"

	"github.com/kdissect/kdissect/dissect"
)

// topics shows topics and partitions with what was asked and answered about them.
func (d *details) topics() {
	if d.key() == keyMetadata {
		d.topicCounts()
		return
	}
	f := d.f
	// An answer to an incremental fetch names only what has changed.
	answersOnly := d.key() == keyFetch && d.x.State == dissect.Paired
	shown, total, failed := 0, int64(f.partitionCount), 0
	for i := range f.partitions {
		p := &f.partitions[i]
		if answersOnly && p.has&inResponse == 0 {
			total--
			continue
		}
		if d.full() {
			if p.has&hasError != 0 {
				failed++
			}
			continue
		}
		d.partition(p)
		shown++
	}
	if answersOnly && total == 0 && len(f.errors) == 0 {
		d.word("no news")
	}
	d.more(total-int64(shown), "")
	if failed > 0 {
		d.text(", ")
		d.num(int64(failed))
		d.text(" of them with errors")
	}
	d.bareTopics()
}

// bareTopics shows the topics that have no entries for partitions.
func (d *details) bareTopics() {
	f := d.f
	more := int64(f.moreTopics)
	for i := range f.topic {
		t := &f.topic[i]
		if t.Partitions() > 0 {
			continue
		}
		if d.full() {
			more++
			continue
		}
		d.word("")
		d.topicName(t)
		d.topicError(t)
	}
	d.more(more, " topics")
}

// topicCounts shows topics with the number of their partitions.
func (d *details) topicCounts() {
	f := d.f
	more := int64(f.moreTopics)
	for i := range f.topic {
		if d.full() {
			more++
			continue
		}
		t := &f.topic[i]
		d.word("")
		d.topicName(t)
		if n := t.Partitions(); n > 0 {
			d.text(" (")
			d.count(int64(n), " partition")
			d.text(")")
		}
		d.topicError(t)
	}
	if len(f.topic) == 0 {
		d.word("no topics")
	}
	d.more(more, " topics")
}

func (d *details) topicError(t *Topic) {
	if t.Error != 0 {
		d.text(" ")
		d.b = appendError(d.b, d.f, t.Error)
	}
}

// topicName shows a topic's name, or its id where the capture has no name for it.
func (d *details) topicName(t *Topic) {
	switch {
	case len(t.Name) > 0:
		d.b = appendVisible(d.b, t.Name)
		return
	case t.ID == [16]byte{}:
		d.text(`""`)
		return
	}
	if name := d.f.resolve(d.x, t.ID); name != "" {
		d.b = appendVisible(d.b, unsafe.Slice(unsafe.StringData(name), len(name)))
		return
	}
	d.b = appendUUID(d.b, t.ID[:])
}

// partition shows an entry: topic[index], offset, records and bytes, high watermark, error. The
// topic is left out where it is that of the entry before.
func (d *details) partition(p *Partition) {
	bare := p.has&^inEither == 0
	if p.Topic == d.topic && d.listed && bare {
		d.b[len(d.b)-1] = ','
		d.num(int64(p.Index))
		d.text("]")
		return
	}
	if p.Topic != d.topic {
		d.word("")
		d.topicName(&d.f.topic[p.Topic])
	} else {
		d.text(" ")
	}
	d.topic, d.listed = p.Topic, bare
	b := append(d.b, '[')
	b = appendInt(b, int64(p.Index))
	b = append(b, ']')
	if p.has&hasError != 0 && p.Error != 0 {
		b = append(b, ' ')
		b = appendError(b, d.f, p.Error)
	}
	d.b = d.appendOffsets(b, p)
}

// appendOffsets appends what was asked and answered about a partition.
func (d *details) appendOffsets(b []byte, p *Partition) []byte {
	failed := p.has&hasError != 0 && p.Error != 0
	r := &p.Records
	if p.has&hasTarget != 0 {
		b = d.appendTarget(b, p.Target)
	}
	switch {
	case failed && p.has&hasAsked != 0:
		b = appendAt(b, p.Asked)
	case failed:
	case p.has&hasRecords != 0 && p.has&inResponse != 0 && d.key() != keyProduce && r.Batches:
		b = appendAt(b, r.FirstOffset)
	case p.has&hasOffset != 0 && (p.Offset >= 0 || p.has&hasAsked == 0):
		b = appendAt(b, p.Offset)
	case p.has&hasAsked != 0:
		b = appendAt(b, p.Asked)
	}
	if p.has&hasRecords != 0 {
		b = append(b, " +"...)
		b = appendInt(b, r.Records)
		if r.Wrapped { // their records are counted inside
			b = append(b, " or more"...)
		}
		if r.Bytes > 0 {
			b = append(b, ' ')
			b = appendSize(b, int64(r.Bytes))
		}
	}
	if p.has&hasHighWatermark != 0 && !failed {
		b = append(b, " hw "...)
		b = appendInt(b, p.HighWatermark)
	}
	return b
}

// appendTarget appends what a ListOffsets request looks for: a word such as latest, or a time.
func (d *details) appendTarget(b []byte, t int64) []byte {
	b = append(b, ' ')
	if d.f.targetNames != nil {
		if name := d.f.targetNames.Name(t); name != "" {
			return append(b, name...)
		}
	}
	return appendInt(b, t)
}

func appendAt(b []byte, offset int64) []byte {
	b = append(b, " @"...)
	return appendInt(b, offset)
}
