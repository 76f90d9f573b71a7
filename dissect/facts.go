package dissect

import (
	"math"
	"sync"
	"sync/atomic"
)

// Facts are what one connection shows of others: the names of topic ids, ports that brokers
// listen on, and whom delegation tokens stand for. Whoever tells a name first is believed. The zero value knows nothing.
//
// Facts may be shared by several Dissectors that each take some of a capture's connections, on
// goroutines of their own. Then each says with Dissector.At where in the capture it stands, and
// a fact is known from a place on, whichever of them learned it and when.
type Facts struct {
	mu     sync.Mutex
	moved  *sync.Cond // a view has gone on, while somebody waits
	topics map[[16]byte]topicFact
	ports  map[uint16]int64 // the place where each was learned
	owners map[string]ownerFact
	last   int64 // an upper bound on the places of topics
	full   bool  // something was not remembered
	views  []*view
	wait   atomic.Int32
}

type topicFact struct {
	name  string
	place int64
}

// ownerFact is the principal of a delegation token.
type ownerFact struct {
	principal string
	place     int64
}

// metadataTopicID is the id that the metadata log has in every cluster (KIP-595).
var metadataTopicID = [16]byte{15: 1}

const metadataTopic = "__cluster_metadata"

// TopicName returns the name of a topic id.
func (f *Facts) TopicName(id [16]byte) (string, bool) {
	if id == metadataTopicID {
		return metadataTopic, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.topics[id]
	return t.name, ok
}

// Full reports whether names of topic ids, or principals of delegation tokens, were not remembered
// because there were too many.
func (f *Facts) Full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.full
}

// join returns a view of f. What is known by now is known at any place.
func (f *Facts) join() *view {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, t := range f.topics {
		f.topics[id] = topicFact{t.name, beforehand}
	}
	for port := range f.ports {
		f.ports[port] = beforehand
	}
	for id, o := range f.owners {
		f.owners[id] = ownerFact{o.principal, beforehand}
	}
	if f.moved == nil {
		f.moved = sync.NewCond(&f.mu)
		f.topics, f.ports, f.owners = make(map[[16]byte]topicFact), make(map[uint16]int64), make(map[string]ownerFact)
	}
	v := &view{facts: f, horizon: math.MaxInt64, topics: make(map[[16]byte]string), ports: make(map[uint16]bool)}
	v.passed.Store(math.MaxInt64)
	f.views = append(f.views, v)
	return v
}

// beforehand is the place of what is known from the start.
const beforehand = math.MinInt64

// learnTopic takes a name in. With most names known, those that were learned first stay.
func (f *Facts) learnTopic(id [16]byte, name string, place int64, most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, known := f.topics[id]
	switch {
	case known && (t.place < place || t.place == place && t.name <= name):
		return
	case !known && len(f.topics) >= most:
		f.full = true
		if place >= f.last {
			return
		}
		f.dropLast()
	}
	f.topics[id] = topicFact{name, place}
	f.last = max(f.last, place)
}

// dropLast forgets the name that was learned last.
func (f *Facts) dropLast() {
	var last [16]byte
	at, before := int64(math.MinInt64), int64(math.MinInt64)
	for id, t := range f.topics {
		if t.place >= at {
			last, at, before = id, t.place, at
		} else {
			before = max(before, t.place)
		}
	}
	delete(f.topics, last)
	f.last = before
}

func (f *Facts) learnPort(port uint16, place int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, known := f.ports[port]; !known || place < p {
		f.ports[port] = place
	}
}

// learnOwner takes in whom a delegation token stands for; with most known, no further ones are
// taken.
func (f *Facts) learnOwner(id, principal string, place int64, most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, known := f.owners[id]
	if !known && len(f.owners) >= most {
		f.full = true
		return
	}
	if known && o.place <= place {
		return
	}
	f.owners[id] = ownerFact{principal, place}
}

// behind returns the place that all views but v have passed.
func (f *Facts) behind(v *view) int64 {
	least := int64(math.MaxInt64)
	for _, other := range f.views {
		if other != v {
			least = min(least, other.passed.Load())
		}
	}
	return least
}

// settle returns once all facts that v may know are there. f.mu is held.
func (f *Facts) settle(v *view) {
	if v.settled < v.horizon {
		f.await(v, v.horizon)
		v.settled = v.horizon
	}
}

// await returns once all views but v have passed place. f.mu is held.
func (f *Facts) await(v *view, place int64) {
	f.wait.Add(1)
	for f.behind(v) < place {
		f.moved.Wait()
	}
	f.wait.Add(-1)
}

// view is what one Dissector knows at its place.
type view struct {
	facts   *Facts
	place   int64
	horizon int64 // facts of places before it are known
	settled int64 // up to which all facts are there
	passed  atomic.Int64
	current map[[16]byte]string // learned from the exchange that is about to be shown
	topics  map[[16]byte]string // known for good
	ports   map[uint16]bool
}

// at moves v to a place.
func (v *view) at(place, horizon int64) {
	v.place, v.horizon = place, horizon
}

// shown says that the exchange is shown from which facts were learned last. It alone sees what
// itself has told, whoever else is looked at at its place.
func (v *view) shown() {
	if len(v.current) > 0 {
		clear(v.current)
	}
}

// pass says that v learns nothing more of places before place.
func (v *view) pass(place int64) {
	v.passed.Store(place)
	if f := v.facts; f.wait.Load() > 0 {
		f.mu.Lock()
		f.moved.Broadcast()
		f.mu.Unlock()
	}
}

// await returns once all other views have passed v's place. As v has passed what is before it, two
// that wait at the same time do not wait for each other.
func (v *view) await() {
	f := v.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	v.passed.Store(max(v.passed.Load(), v.place))
	if f.wait.Load() > 0 {
		f.moved.Broadcast()
	}
	f.await(v, v.place)
}

// TopicName returns the name of a topic id.
func (v *view) TopicName(id [16]byte) (string, bool) {
	if id == metadataTopicID {
		return metadataTopic, true
	}
	if name, ok := v.topics[id]; ok {
		return name, true
	}
	f := v.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.topics[id]
	if !ok || t.place >= v.horizon || f.behind(v) < t.place {
		f.settle(v)
		t, ok = f.topics[id]
	}
	if ok && t.place < v.horizon {
		v.topics[id] = t.name
		return t.name, true
	}
	name, ok := v.current[id]
	return name, ok
}

// brokerPort reports whether a broker was seen to listen on port.
func (v *view) brokerPort(port uint16) bool {
	if v.ports[port] {
		return true
	}
	f := v.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	place, ok := f.ports[port]
	if !ok || place >= v.horizon {
		f.settle(v)
		place, ok = f.ports[port]
	}
	if ok = ok && place < v.horizon; ok {
		v.ports[port] = true
	}
	return ok
}

// owner returns the principal of a delegation token, or "".
func (v *view) owner(id string) string {
	f := v.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle(v)
	if o := f.owners[id]; o.place < v.horizon {
		return o.principal
	}
	return ""
}

// maxTopicName is the length of the longest name that Kafka accepts.
const maxTopicName = 249

// learnTopic notes a name.
func (v *view) learnTopic(id [16]byte, name []byte, most int) {
	if id == ([16]byte{}) || len(name) == 0 || len(name) > maxTopicName {
		return
	}
	if _, known := v.topics[id]; known {
		return
	}
	if _, known := v.current[id]; known {
		return
	}
	text := string(name)
	v.facts.learnTopic(id, text, v.place, most)
	if v.horizon <= v.place && len(v.current) < most {
		if v.current == nil {
			v.current = make(map[[16]byte]string)
		}
		v.current[id] = text
	}
}
