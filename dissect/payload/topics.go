package payload

import (
	"github.com/kdissect/kdissect/dissect/schema"
)

// Names of the topics that Kafka keeps its own records in.
const (
	offsetsTopic     = "__consumer_offsets"
	transactionTopic = "__transaction_state"
	shareTopic       = "__share_group_state"
	metadataTopic    = "__cluster_metadata"
	remoteTopic      = "__remote_log_metadata"
)

// metadataTopicID is the fixed id of the metadata log (KIP-595).
var metadataTopicID = [16]byte{15: 1}

// topicKind says how the records of a topic are framed.
type topicKind uint8

const (
	userTopic        topicKind = iota
	coordinatorTopic           // keys: int16 type, body; values: int16 version, body (KIP-98, KIP-848)
	logTopic                   // values: uvarint frame version, type and version, then the body (KIP-631)
)

// topicRecords are the types of record that an internal topic has.
type topicRecords struct {
	kind   topicKind
	keys   map[int16]string // names by type
	values map[int16]string
}

// index knows the record types of the internal topics.
type index struct{ topics map[string]*topicRecords }

// groups says which part of the catalogue an internal topic's records are in.
var groups = map[string]string{
	"consumer-offsets": offsetsTopic, "transaction-state": transactionTopic, "share-group-state": shareTopic,
	"cluster-metadata": metadataTopic, "remote-log-metadata": remoteTopic,
}

func newIndex(c *schema.Catalogue) *index {
	x := &index{topics: map[string]*topicRecords{}}
	for _, topic := range groups {
		x.topics[topic] = &topicRecords{kind: coordinatorTopic, keys: map[int16]string{}, values: map[int16]string{}}
	}
	x.topics[metadataTopic].kind, x.topics[remoteTopic].kind = logTopic, logTopic
	// Definitions that a user supplied are of no group.
	for _, from := range []*schema.Catalogue{schema.Default(), c} {
		for _, m := range from.DataMessages() {
			t := x.topics[groups[m.Group]]
			if t == nil || m.APIKey < 0 {
				continue
			}
			if m.Type == schema.TypeCoordinatorKey {
				t.keys[m.APIKey] = m.Name
			} else {
				t.values[m.APIKey] = m.Name
			}
		}
	}
	return x
}

// topic returns the record types of the topic that the fields so far named, nil for a user's.
func (d *Decoder) topic() *topicRecords {
	s := &d.now
	switch {
	case s.topic != nil:
		if len(s.topic) < 2 || s.topic[0] != '_' {
			return nil
		}
		return d.index.topics[string(s.topic)]
	case s.topicID == metadataTopicID:
		return d.index.topics[metadataTopic]
	case s.topicID == [16]byte{} || d.ctx.Topics == nil:
		return nil
	}
	name, _ := d.ctx.Topics.TopicName(s.topicID)
	return d.index.topics[name]
}
