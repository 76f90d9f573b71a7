package output

import (
	"bytes"
	"math"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

var _ walk.Visitor = (*Facts)(nil)

// isFact reports whether Facts looks at fields with a role.
func isFact(r schema.Role, d schema.Direction) bool {
	switch r {
	case schema.RoleErrorCode, schema.RoleHighWatermark:
		return d == schema.Response
	case schema.RoleTimestamp, schema.RoleMechanism, schema.RoleSessionEpoch:
		return d == schema.Request
	case schema.RoleTopicName, schema.RoleTopicID, schema.RolePartition, schema.RoleOffset,
		schema.RoleGroupID, schema.RoleMemberID, schema.RoleGroupInstanceID, schema.RoleGenerationID,
		schema.RoleMemberEpoch, schema.RoleBrokerID, schema.RoleAPIKey, schema.RoleTransactionalID,
		schema.RoleResourceName, schema.RoleResourceType, schema.RoleCoordinatorKey, schema.RoleHost,
		schema.RolePort, schema.RoleNodeID, schema.RoleProducerID, schema.RoleClientSoftwareName,
		schema.RoleClientSoftwareVersion, schema.RolePrincipal, schema.RoleAcks, schema.RoleThrottle,
		schema.RoleSessionID:
		return true
	}
	return false
}

// Enter implements walk.Visitor.
func (f *Facts) Enter() {
	n := len(f.levels)
	if n == cap(f.levels) {
		f.levels = append(f.levels, factLevel{topic: -1})
		return
	}
	// What a level's partition holds is told by its flags, so that it need not be cleared.
	f.levels = f.levels[:n+1]
	l := &f.levels[n]
	l.topic, l.partition, l.resource, l.p.has = -1, false, 0, 0
}

// Records implements walk.Visitor.
func (f *Facts) Records(b []byte, size int) {
	if l := f.level(); l != nil {
		s, r := &f.recordSet, &l.p.Records
		s.Read(b, size-len(b))
		r.FirstOffset, r.Records, r.Bytes = s.FirstOffset, s.Records, s.Bytes
		r.Batches, r.Wrapped = s.Batches > 0, s.Wrapped > 0
		l.p.has |= hasRecords
	}
}

func (f *Facts) level() *factLevel {
	if len(f.levels) == 0 {
		return nil
	}
	return &f.levels[len(f.levels)-1]
}

// Leave implements walk.Visitor.
func (f *Facts) Leave() {
	if len(f.levels) == 0 {
		return
	}
	l := &f.levels[len(f.levels)-1]
	f.levels = f.levels[:len(f.levels)-1]
	topic := l.topic
	for i := len(f.levels) - 1; topic < 0 && i >= 0; i-- {
		topic = f.levels[i].topic
	}
	switch {
	case l.partition:
		l.p.Topic = topic
		f.addPartition(&l.p)
	case l.topic >= 0 && int(l.topic) < len(f.topic) && l.p.has&hasError != 0:
		f.topic[l.topic].Error = l.p.Error
	}
}

// Number implements walk.Visitor.
func (f *Facts) Number(d *tree.Desc, n int64, element bool) {
	l := f.level()
	if l == nil {
		return
	}
	switch schema.Role(d.Role) {
	case schema.RoleErrorCode:
		f.addError(d, int16(n), l)
	case schema.RolePartition:
		if element {
			f.listed(l.topic, int32(n))
			return
		}
		l.partition, l.p.Index = true, int32(n)
	case schema.RoleOffset:
		if f.answering {
			l.p.Offset = n
			l.p.has |= hasOffset
		} else {
			l.p.Asked = n
			l.p.has |= hasAsked
		}
	case schema.RoleHighWatermark:
		l.p.HighWatermark = n
		l.p.has |= hasHighWatermark
	case schema.RoleTimestamp:
		if !f.answering {
			l.p.Target = n
			l.p.has |= hasTarget
			f.targetNames = d.Names
		}
	default:
		f.single(d, n, nil)
	}
}

// listed adds a partition of which there is no more than its index.
func (f *Facts) listed(topic, index int32) {
	p := &f.alone
	p.Topic, p.Index, p.has = topic, index, 0
	f.addPartition(p)
}

// Bytes implements walk.Visitor.
func (f *Facts) Bytes(d *tree.Desc, b []byte, element bool) {
	l := f.level()
	if l == nil {
		return
	}
	switch schema.Role(d.Role) {
	case schema.RoleTopicName:
		f.topicLeaf(l, element, b, [16]byte{})
	case schema.RoleTopicID:
		var id [16]byte
		if copy(id[:], b) == 16 && id != ([16]byte{}) {
			f.topicLeaf(l, element, nil, id)
		}
	default:
		f.single(d, 0, b)
	}
}

// single notes a fact that is not a topic's or a partition's. Numbers of members and producers
// that a list describes are not of whom the exchange is about.
func (f *Facts) single(d *tree.Desc, n int64, b []byte) {
	outer := len(f.levels) == 1
	switch schema.Role(d.Role) {
	case schema.RoleGroupID:
		f.groups.add(b)
	case schema.RoleMemberID:
		if len(b) > 0 && (outer || f.leaving()) {
			f.members.add(b)
		}
	case schema.RoleGroupInstanceID:
		if len(b) > 0 && (outer || f.leaving()) {
			f.instances.add(b)
		}
	case schema.RoleGenerationID:
		if outer && n >= 0 {
			f.first(setGeneration, &f.generation, n)
		}
	case schema.RoleMemberEpoch:
		if outer {
			f.first(setMemberEpoch, &f.memberEpoch, n)
		}
	case schema.RoleBrokerID:
		if outer {
			f.first(setBroker, &f.broker, n)
		}
	case schema.RoleAPIKey:
		f.apis++
	case schema.RoleTransactionalID:
		f.transactions.add(b)
	case schema.RoleResourceName:
		f.resources.add(b)
		if n := len(f.resources.list); n > len(f.resourceType) {
			f.resourceType = append(f.resourceType, f.levels[len(f.levels)-1].resource)
		}
	case schema.RoleResourceType:
		f.levels[len(f.levels)-1].resource = n
		f.resourceTypes = d.Names
	case schema.RoleCoordinatorKey:
		f.coordinators.add(b)
	case schema.RoleHost:
		f.hosts.add(b)
	case schema.RolePort:
		f.first(setPort, &f.port, n)
	case schema.RoleNodeID:
		f.first(setNode, &f.node, n)
	case schema.RoleProducerID:
		if outer && n >= 0 {
			f.first(setProducerID, &f.producerID, n)
		}
	case schema.RoleMechanism:
		if !f.answering {
			f.mechanism = b
		}
	case schema.RoleClientSoftwareName:
		f.software = b
	case schema.RoleClientSoftwareVersion:
		f.softwareVersion = b
	case schema.RolePrincipal:
		if f.principal == nil {
			f.principal = b
		}
	case schema.RoleAcks:
		f.acks = int16(n)
		f.set |= setAcks
	case schema.RoleThrottle:
		f.throttle = n
	case schema.RoleSessionID:
		if f.answering {
			f.newSessionID = int32(n)
			f.set |= setNewSession
		} else {
			f.sessionID = int32(n)
			f.set |= setSession
		}
	case schema.RoleSessionEpoch:
		if !f.answering {
			f.sessionEpoch = int32(n)
			f.set |= setSessionEpoch
		}
	}
}

// leaving reports whether a LeaveGroup request is read, which lists whom it is about.
func (f *Facts) leaving() bool { return !f.answering && f.x.Request.APIKey == keyLeaveGroup }

// first keeps the first of several numbers.
func (f *Facts) first(bit uint16, to *int64, n int64) {
	if f.set&bit == 0 {
		*to = n
		f.set |= bit
	}
}

func (f *Facts) addError(d *tree.Desc, code int16, l *factLevel) {
	if !f.answering || code == 0 {
		return
	}
	if l.p.has&hasError == 0 {
		l.p.Error = code
		l.p.has |= hasError
	}
	if f.errorNames == nil {
		f.errorNames = d.Names
	}
	for i := range f.errors {
		if f.errors[i].Code == code {
			f.errors[i].Count++
			return
		}
	}
	if len(f.errors) < maxErrors {
		f.errors = append(f.errors, ErrorCode{code, 1})
	}
}

// topicLeaf notes the name or the id of a topic: of the struct it stands in, or an element of a
// list of topics.
func (f *Facts) topicLeaf(l *factLevel, element bool, name []byte, id [16]byte) {
	if !element && l.topic >= 0 { // the other of the two
		t := &f.topic[l.topic]
		if name != nil {
			t.Name = name
		} else {
			t.ID = id
		}
		if last := int32(len(f.topic) - 1); l.topic == last && int(last) >= f.askedTopics && t.Partitions() == 0 {
			f.rejoin(l, *t, name, id)
		}
		return
	}
	at := f.findTopic(name, id)
	if !element {
		l.topic = at
	}
}

// rejoin brings the topic added last to the one that was asked for by the other of its name
// and its id, if there is one.
func (f *Facts) rejoin(l *factLevel, t Topic, name []byte, id [16]byte) {
	f.topic = f.topic[:len(f.topic)-1]
	if at := f.askedTopic(name, id); at >= 0 {
		f.topic[at].Name, f.topic[at].ID = t.Name, t.ID
		l.topic = at
		return
	}
	f.topic = append(f.topic, t)
}

// findTopic returns the place of a topic, which is added unless the frame spoke of it last or,
// in a response, the request had it; -1 at the cap.
func (f *Facts) findTopic(name []byte, id [16]byte) int32 {
	if n := len(f.topic); n > f.askedTopics && f.topic[n-1].is(name, id) {
		return int32(n - 1)
	}
	if at := f.askedTopic(name, id); at >= 0 {
		return at
	}
	if len(f.topic) >= maxTopics {
		f.moreTopics++
		return -1
	}
	f.topic = append(f.topic, Topic{})
	at := len(f.topic) - 1
	t := &f.topic[at]
	t.Name, t.ID, t.first = name, id, int32(len(f.partitions))
	return int32(at)
}

// askedTopic returns the place of a topic among those of the request, once the response is read;
// -1 if it is not there. Answers mostly come in the order of what was asked.
func (f *Facts) askedTopic(name []byte, id [16]byte) int32 {
	if !f.answering {
		return -1
	}
	for i := 0; i < f.askedTopics && f.budget > 0; i++ {
		at := f.cursor + i
		if at >= f.askedTopics {
			at -= f.askedTopics
		}
		f.budget--
		if f.topic[at].is(name, id) {
			f.cursor = at
			return int32(at)
		}
	}
	return -1
}

// is reports whether t has that name or, where that is nil, that id.
func (t *Topic) is(name []byte, id [16]byte) bool {
	if name != nil {
		return t.Name != nil && bytes.Equal(t.Name, name)
	}
	return t.ID == id
}

// addPartition adds an entry, or brings an answer to the one that was asked for. Partitions
// without a topic are those of something else.
func (f *Facts) addPartition(p *Partition) {
	if p.Topic < 0 || int(p.Topic) >= len(f.topic) {
		return
	}
	p.has |= inRequest
	if f.answering {
		p.has ^= inEither
	}
	t := &f.topic[p.Topic]
	if f.answering {
		t.answered++
		if f.answer(t, p) {
			return
		}
	} else {
		t.asked++
		if int(t.first+t.kept) == len(f.partitions) && len(f.partitions) < maxPartitions {
			t.kept++
		}
	}
	if f.partitionCount < math.MaxInt32 {
		f.partitionCount++
	}
	n := len(f.partitions)
	if n >= maxPartitions {
		return
	}
	if n == cap(f.partitions) {
		f.partitions = append(f.partitions, Partition{})
	}
	f.partitions = f.partitions[:n+1]
	f.partitions[n].set(p)
}

// set is an assignment by fields: a whole Partition would be copied in words longer than those just
// stored, for which the processor has to wait.
func (p *Partition) set(q *Partition) {
	p.Topic, p.Index, p.Error, p.has = q.Topic, q.Index, q.Error, q.has
	p.Asked, p.Offset, p.HighWatermark, p.Target = q.Asked, q.Offset, q.HighWatermark, q.Target
	p.Records.set(&q.Records)
}

func (r *recordFacts) set(q *recordFacts) {
	r.FirstOffset, r.Records, r.Bytes, r.Batches, r.Wrapped = q.FirstOffset, q.Records, q.Bytes, q.Batches, q.Wrapped
}

// answer brings the answer p to the entry of topic t that asked for it, if there is one.
func (f *Facts) answer(t *Topic, p *Partition) bool {
	for i := int32(0); i < t.kept && f.budget > 0; i++ {
		at := t.answered - 1 + i
		if at >= t.kept {
			at %= t.kept
		}
		f.budget--
		have := &f.partitions[t.first+at]
		if have.Index != p.Index || have.Topic != p.Topic || have.has&inResponse != 0 {
			continue
		}
		if p.has&hasRecords != 0 {
			have.Records.set(&p.Records)
		}
		have.Offset, have.HighWatermark, have.Error = p.Offset, p.HighWatermark, p.Error
		have.has |= p.has
		return true
	}
	return false
}

// Issue implements walk.Visitor.
func (f *Facts) Issue(i tree.Issue) {
	if f.issues == 0 || i.Severity > f.issue.Severity {
		f.issue = i
	}
	f.issues++
}
