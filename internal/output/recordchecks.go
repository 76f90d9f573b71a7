package output

import (
	"math"
	"strconv"

	"github.com/kdissect/kdissect/tree"
)

// maxProducers bounds the producers and partitions that are remembered; more are not checked.
const maxProducers = 100_000

// RecordChecks holds batches against those before them: sequence numbers of a producer in a
// partition, its epochs, and the offsets of a fetch (KIP-98).
type RecordChecks struct {
	sent    map[sentKey]sent
	epochs  map[int64]epochSeen
	fetched place // of the batch before in the set
	last    int64 // its last offset
}

// sentKey is a partition that a producer writes to.
type sentKey struct {
	producer  int64
	topic     string
	id        [16]byte
	partition int32
}

// sent is the last batch of a producer in a partition.
type sent struct {
	epoch       int16
	first, last int32
	at          place
}

type epochSeen struct {
	epoch int16
	at    place
}

// place is where a batch was.
type place struct {
	exchange, packet int64
	batch            int32
}

func (p place) String() string {
	return "exchange " + strconv.FormatInt(p.exchange, 10) + ", packet " + strconv.FormatInt(p.packet, 10) +
		", batch " + strconv.Itoa(int(p.batch))
}

// Batch returns what is out of line with a batch, if anything is. Batches are given in the order
// of the capture.
func (c *RecordChecks) Batch(set *RecordSet, b *RecordBatch) (tree.Issue, bool) {
	at := place{set.Exchange.Number, set.Frame.FirstPacket, b.Index}
	if set.Fetched {
		return c.offsets(b, at)
	}
	if b.ProducerID < 0 || b.BaseSequence < 0 || len(set.Topic) > maxName {
		return tree.Issue{}, false
	}
	return c.sequence(set, b, at)
}

// offsets checks that offsets rise within a record set that was fetched.
func (c *RecordChecks) offsets(b *RecordBatch, at place) (tree.Issue, bool) {
	before, last := c.fetched, c.last
	c.fetched, c.last = at, b.LastOffset
	if b.Index == 0 || b.BaseOffset > last || before.exchange != at.exchange {
		return tree.Issue{}, false
	}
	return sequenceIssue("offset " + strconv.FormatInt(b.BaseOffset, 10) + " in " + at.String() +
		", behind offset " + strconv.FormatInt(last, 10) + " in " + before.String()), true
}

func sequenceIssue(text string) tree.Issue {
	return tree.Issue{Severity: tree.Warning, Code: tree.CodeSequence, Text: text}
}

// sequence checks what a producer sends.
func (c *RecordChecks) sequence(set *RecordSet, b *RecordBatch, at place) (tree.Issue, bool) {
	if c.sent == nil {
		c.sent, c.epochs = map[sentKey]sent{}, map[int64]epochSeen{}
	}
	who := "producer " + strconv.FormatInt(b.ProducerID, 10)
	if e, known := c.epochs[b.ProducerID]; known && b.ProducerEpoch < e.epoch {
		return sequenceIssue(who + ": epoch " + strconv.Itoa(int(b.ProducerEpoch)) + " in " + at.String() +
			", behind epoch " + strconv.Itoa(int(e.epoch)) + " in " + e.at.String()), true
	}
	if len(c.epochs) < maxProducers {
		c.epochs[b.ProducerID] = epochSeen{b.ProducerEpoch, at}
	}
	key := sentKey{b.ProducerID, set.Topic, set.TopicID, set.Partition}
	before, known := c.sent[key]
	now := sent{b.ProducerEpoch, b.BaseSequence, b.LastSequence, at}
	switch {
	case !known && len(c.sent) >= maxProducers:
		return tree.Issue{}, false
	case !known || before.epoch != b.ProducerEpoch:
		// Where the capture began amid a producer's life, any sequence is right.
		c.sent[key] = now
		return tree.Issue{}, false
	}
	expected := int32((int64(before.last) + 1) & math.MaxInt32)
	if b.BaseSequence == expected {
		c.sent[key] = now
		return tree.Issue{}, false
	}
	text := who + ": sequence " + span(b.BaseSequence, b.LastSequence) + " in " + at.String()
	if ahead := (int64(b.BaseSequence) - int64(expected)) & math.MaxInt32; ahead < math.MaxInt32/2 {
		c.sent[key] = now
		return sequenceIssue(text + ", " + strconv.FormatInt(ahead, 10) + " missing behind " + span(before.first, before.last) +
			" in " + before.at.String()), true
	}
	return sequenceIssue(text + ", sent before: " + span(before.first, before.last) + " was in " + before.at.String()), true
}

func span(first, last int32) string {
	if first == last {
		return strconv.Itoa(int(first))
	}
	return strconv.Itoa(int(first)) + "-" + strconv.Itoa(int(last))
}
