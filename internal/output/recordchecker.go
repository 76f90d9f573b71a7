package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// SentBatch is a batch that an exchange carries, by its head.
type SentBatch struct {
	Fetched   bool
	Topic     string
	TopicID   [16]byte
	Partition int32
	Packet    int64 // the first of its frame
	records.Head
}

// BatchFinder finds those batches of exchanges that have to be held against others. Nothing is
// decompressed. It serves one goroutine.
type BatchFinder struct {
	decoder    walk.Decoder
	selections selections
	names      map[string]string // of topics, so that each is made once
	found      []SentBatch
	heads      []records.Head
	limited    int64

	x         *dissect.Exchange
	over      bool // not all batches of x are looked at
	now       SentBatch
	topic     []byte
	topicSent bool
}

// NewBatchFinder returns a finder.
func NewBatchFinder() *BatchFinder {
	return &BatchFinder{selections: selections{wanted: isOfBatch}, names: map[string]string{}}
}

// What is looked at of an exchange. Batches that were fetched are only kept where they are out of
// order.
const (
	maxHeads   = 256 << 10 // batches of a partition
	maxBatches = 16 << 10  // batches that are kept
	maxName    = 249       // longer names are none that Kafka accepts, and not worth the memory
)

// Find returns what x carries, and adds an issue where that is too much. The list is void after the
// next call.
func (f *BatchFinder) Find(x *dissect.Exchange) []SentBatch {
	f.found, f.x, f.over = f.found[:0], x, false
	if r := x.Request; r != nil && r.APIKey == keyProduce {
		f.frame(r, false)
	} else if r := x.Response; r != nil && r.Plan != nil && r.Plan.API != nil && fetches(r.Plan.API.Key) {
		f.frame(r, true)
	}
	if f.x = nil; f.over {
		f.limited++
		x.Issues = append(x.Issues, tree.Issue{Severity: tree.Warning, Code: tree.CodeLimit,
			Text: "too many batches: not all are held against those before them"})
	}
	return f.found
}

// Limited returns of how many exchanges not all batches were looked at.
func (f *BatchFinder) Limited() int64 { return f.limited }

func (f *BatchFinder) frame(fr *dissect.Frame, fetched bool) {
	if fr.Plan == nil {
		return
	}
	f.now = SentBatch{Fetched: fetched, Packet: fr.FirstPacket}
	f.topic, f.topicSent = nil, false
	fr.Visit(&f.decoder, f.selections.of(fr.Header), f.selections.of(fr.Plan), f)
}

// isOfBatch reports whether a field says what batches there are, or of which partition.
func isOfBatch(p *schema.Plan, d *tree.Desc) bool {
	switch schema.Role(d.Role) {
	case schema.RoleTopicName, schema.RoleTopicID, schema.RolePartition:
		return p.API != nil
	}
	return d.Kind == tree.KindRecords
}

// Enter implements walk.Visitor.
func (f *BatchFinder) Enter() {}

// Leave implements walk.Visitor.
func (f *BatchFinder) Leave() {}

// Issue implements walk.Visitor.
func (f *BatchFinder) Issue(tree.Issue) {}

// Number implements walk.Visitor.
func (f *BatchFinder) Number(_ *tree.Desc, n int64, _ bool) { f.now.Partition = int32(n) }

// Bytes implements walk.Visitor.
func (f *BatchFinder) Bytes(d *tree.Desc, b []byte, _ bool) {
	if schema.Role(d.Role) == schema.RoleTopicName {
		f.topic, f.topicSent, f.now.TopicID = b, true, [16]byte{}
		return
	}
	f.topic, f.topicSent = nil, false
	copy(f.now.TopicID[:], b)
}

// Records implements walk.Visitor.
func (f *BatchFinder) Records(b []byte, size int) {
	f.heads = records.AppendHeads(f.heads[:0], b, size-len(b), maxHeads)
	f.over = f.over || len(f.heads) == maxHeads
	if f.now.Fetched && rising(f.heads) || len(f.topic) > maxName {
		return
	}
	for _, h := range f.heads {
		if !f.now.Fetched && (h.ProducerID < 0 || h.BaseSequence < 0) {
			continue
		}
		if len(f.found) == maxBatches {
			f.over = true
			return
		}
		f.now.Head = h
		f.now.Topic = f.name()
		f.found = append(f.found, f.now)
	}
}

// rising reports whether each batch begins behind the one before.
func rising(heads []records.Head) bool {
	for i := 1; i < len(heads); i++ {
		if heads[i].BaseOffset <= heads[i-1].LastOffset {
			return false
		}
	}
	return true
}

// maxTopicNames bounds the names that are kept.
const maxTopicNames = 4096

// name returns the topic's name, or "".
func (f *BatchFinder) name() string {
	switch name, ok := f.names[string(f.topic)]; {
	case !f.topicSent && f.now.TopicID != [16]byte{}:
		return topicName(f.x, f.now.TopicID)
	case ok:
		return name
	}
	if len(f.names) >= maxTopicNames {
		clear(f.names)
	}
	name := string(f.topic)
	f.names[name] = name
	return name
}

// BatchChecker holds batches against those of the exchanges before. It serves one goroutine.
type BatchChecker struct {
	checks   RecordChecks
	exchange dissect.Exchange
	frame    dissect.Frame
	found    []tree.Issue
}

// Check returns what is out of line with the batches of the exchange of that number. The list is
// void after the next call. Exchanges are given in the order of the capture, each of them, shown
// or not.
func (c *BatchChecker) Check(number int64, batches []SentBatch) []tree.Issue {
	c.found = c.found[:0]
	for i := range batches {
		b := &batches[i]
		c.exchange.Number, c.frame.FirstPacket = number, b.Packet
		set := RecordSet{Exchange: &c.exchange, Frame: &c.frame, Fetched: b.Fetched, Topic: b.Topic, TopicID: b.TopicID, Partition: b.Partition}
		head := RecordBatch{Index: b.Index, BaseOffset: b.BaseOffset, LastOffset: b.LastOffset, ProducerID: b.ProducerID,
			ProducerEpoch: b.ProducerEpoch, BaseSequence: b.BaseSequence, LastSequence: b.LastSequence}
		if issue, found := c.checks.Batch(&set, &head); found {
			issue.Text = string(appendTopicText(nil, &set)) + ": " + issue.Text
			c.found = append(c.found, issue)
		}
	}
	return c.found
}
