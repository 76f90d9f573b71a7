package output

import (
	"bytes"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// Caps on what is kept of one exchange; what is beyond them is counted.
const (
	maxTopics     = 1 << 17
	maxPartitions = 1 << 14
	maxNames      = 1 << 10
	maxErrors     = 16
	shortList     = 8       // up to here names are compared with all before them
	matchBudget   = 1 << 16 // comparisons spent on bringing answers to what was asked
)

// Topic is a topic that an exchange speaks of.
type Topic struct {
	Name  []byte   // nil where only the id was sent
	ID    [16]byte // zero where only the name was sent
	Error int16

	asked       int32 // its entries for partitions in the request
	answered    int32 // and in the response
	first, kept int32 // the request's entries in Facts.partitions
}

// Partitions returns how many entries for partitions the topic has, in the half that has more.
func (t *Topic) Partitions() int { return int(max(t.asked, t.answered)) }

// Which members of a Partition hold.
const (
	hasAsked = 1 << iota
	hasOffset
	hasHighWatermark
	hasRecords
	hasTarget
	hasError
	inRequest
	inResponse

	inEither = inRequest | inResponse
)

// Partition is an entry for a partition, request and response together.
type Partition struct {
	Topic         int32 // in Topics, or -1
	Index         int32
	Asked         int64 // the offset in the request
	Offset        int64 // the offset in the response
	HighWatermark int64
	Target        int64 // of a ListOffsets request: a time or a word
	Records       recordFacts
	Error         int16
	has           uint8
}

// recordFacts is what a summary says of a partition's records.
type recordFacts struct {
	FirstOffset int64
	Records     int64
	Bytes       int
	// Batches is set where there is a whole one, Wrapped where one is a compressed message, whose
	// records are counted inside.
	Batches, Wrapped bool
}

// ErrorCode is an error code with how often it occurs.
type ErrorCode struct {
	Code  int16
	Count int32
}

// names is a list of names with those beyond its cap counted.
type names struct {
	list  [][]byte
	count int32
}

func (n *names) reset() { n.list, n.count = n.list[:0], 0 }

// add adds a name unless it is there already; in a long list only the last is looked at.
func (n *names) add(name []byte) {
	from := 0
	if len(n.list) > shortList {
		from = len(n.list) - 1
	}
	for _, have := range n.list[from:] {
		if bytes.Equal(have, name) {
			return
		}
	}
	n.count++
	if len(n.list) < maxNames {
		n.list = append(n.list, name)
	}
}

// Facts gathers what selections and summaries ask of an exchange, in one pass over its frames
// that skips what nobody asks for. It is reused; what it holds aliases the frames.
type Facts struct {
	opt Options
	// visit decodes a frame; tests put hand-made fields in its place.
	visit   func(*dissect.Frame, walk.Visitor)
	resolve func(*dissect.Exchange, [16]byte) string

	x          *dissect.Exchange
	answering  bool // the response is being read
	levels     []factLevel
	alone      Partition       // one of a list, on its way
	recordSet  records.Summary // the same
	selections selections
	budget     int

	askedTopics    int // topics of the request
	moreTopics     int // topics beyond the cap
	topic          []Topic
	partitions     []Partition
	partitionCount int32
	cursor         int // where to look first for the topic of an answer

	groups, members, instances, transactions, coordinators, hosts, resources names
	resourceType                                                             []int64 // of resources.list
	resourceTypes                                                            tree.Names
	node, port, broker                                                       int64
	generation, memberEpoch                                                  int64
	apis                                                                     int64 // in an ApiVersions response
	targetNames                                                              tree.Names
	mechanism, software, softwareVersion, principal                          []byte
	producerID                                                               int64
	acks                                                                     int16
	sessionID, newSessionID                                                  int32
	sessionEpoch                                                             int32
	throttle                                                                 int64
	set                                                                      uint16

	errors     []ErrorCode
	errorNames tree.Names
	issue      tree.Issue // the first of the worst
	issues     int
}

// Which single facts hold.
const (
	setAcks = 1 << iota
	setSession
	setSessionEpoch
	setNewSession
	setProducerID
	setNode
	setPort
	setBroker
	setGeneration
	setMemberEpoch
)

// factLevel is an open struct.
type factLevel struct {
	topic     int32 // of this struct, or -1
	partition bool  // the struct is a partition's
	resource  int64 // type of the resource that the struct names
	p         Partition
}

// NewFacts returns a collector.
func NewFacts(opt Options) *Facts {
	f := &Facts{opt: opt, resolve: topicName}
	f.selections.wanted = func(p *schema.Plan, d *tree.Desc) bool {
		return d.Kind == tree.KindRecords || p.API != nil && isFact(schema.Role(d.Role), p.Direction)
	}
	d := f.opt.decoder()
	f.visit = func(fr *dissect.Frame, v walk.Visitor) {
		fr.Visit(d, f.selections.of(fr.Header), f.selections.of(fr.Plan), v)
	}
	return f
}

// Collect reads an exchange. What f says is about it until the next call.
func (f *Facts) Collect(x *dissect.Exchange) {
	f.reset()
	f.x = x
	if x.Request != nil && x.Request.Kind == dissect.KafkaFrame {
		f.half(x.Request)
	}
	f.askedTopics = len(f.topic)
	f.answering = true
	if x.Response != nil && x.Response.Kind == dissect.KafkaFrame {
		f.half(x.Response)
	}
}

func (f *Facts) half(fr *dissect.Frame) {
	f.levels = f.levels[:0]
	f.visit(fr, f)
}

func (f *Facts) reset() {
	f.x, f.answering, f.budget = nil, false, matchBudget
	f.moreTopics, f.askedTopics, f.topic = 0, 0, f.topic[:0]
	f.partitions, f.partitionCount, f.cursor = f.partitions[:0], 0, 0
	f.groups.reset()
	f.members.reset()
	f.instances.reset()
	f.transactions.reset()
	f.resources.reset()
	f.coordinators.reset()
	f.hosts.reset()
	f.mechanism, f.software, f.softwareVersion, f.principal = nil, nil, nil, nil
	f.throttle, f.set, f.apis = 0, 0, 0
	f.resourceType = f.resourceType[:0]
	f.errors, f.errorNames = f.errors[:0], nil
	if f.issues > 0 {
		f.issue, f.issues = tree.Issue{}, 0
	}
}

// API returns the API of the exchange, or nil where it is unknown.
func (f *Facts) API() *schema.API {
	if f.x.Request == nil || f.x.Request.Kind != dissect.KafkaFrame {
		return nil
	}
	return apiOf(&f.opt, f.x.Request)
}

// Topics returns the topics in the order of their appearance, those asked for first.
func (f *Facts) Topics() []Topic { return f.topic }

// TopicName returns a topic's name; "" where only an id is known.
func (f *Facts) TopicName(t *Topic) string {
	if t.Name != nil {
		return string(t.Name)
	}
	return f.resolve(f.x, t.ID)
}

// Groups returns the groups that the exchange speaks of.
func (f *Facts) Groups() [][]byte { return f.groups.list }

// Errors returns the error codes of the response other than 0, the first of each; codes beyond
// the first few kinds are left out.
func (f *Facts) Errors() []ErrorCode { return f.errors }

// ErrorName returns the word for a code, or "" where there is none.
func (f *Facts) ErrorName(code int16) string {
	if f.errorNames == nil {
		return ""
	}
	return f.errorNames.Name(int64(code))
}

// WorstIssue returns the worst issue found in decoding, the first where several are; nil for none.
func (f *Facts) WorstIssue() *tree.Issue {
	if f.issues == 0 {
		return nil
	}
	return &f.issue
}

// Failed reports whether the response has an error code or the exchange could not be shown
// whole: what --errors selects.
func (f *Facts) Failed() bool {
	return len(f.errors) > 0 || f.issues > 0 && f.issue.Severity == tree.Error ||
		incomplete(f.x)
}
