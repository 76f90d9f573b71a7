package dissect

// Facts are what one connection shows of others. They come with packets: a fact is known from
// the packet on that completed it. The zero value knows nothing.
type Facts struct {
	topics map[[16]byte]string
	ports  map[uint16]bool
	owners map[string]string // principals by the ids of their delegation tokens
}

// metadataTopicID is the id that the metadata log has in every cluster (KIP-595).
var metadataTopicID = [16]byte{15: 1}

// TopicName returns the name of a topic id.
func (f *Facts) TopicName(id [16]byte) (string, bool) {
	if id == metadataTopicID {
		return "__cluster_metadata", true
	}
	if f == nil {
		return "", false
	}
	name, ok := f.topics[id]
	return name, ok
}

// BrokerPort reports whether a broker was seen to listen on port.
func (f *Facts) BrokerPort(port uint16) bool { return f.ports[port] }

func (f *Facts) learnPort(port uint16) {
	if f.ports == nil {
		f.ports = make(map[uint16]bool)
	}
	f.ports[port] = true
}

// learnTopic notes a name; with most names known, no further ones are taken.
func (f *Facts) learnTopic(id [16]byte, name []byte, most int) {
	if id == ([16]byte{}) || len(name) == 0 {
		return
	}
	if known, ok := f.topics[id]; ok && known == string(name) {
		return
	}
	if f.topics == nil {
		f.topics = make(map[[16]byte]string)
	}
	if len(f.topics) < most {
		f.topics[id] = string(name)
	}
}

// learnOwner notes whom a delegation token stands for; with most known, no further ones are taken.
func (f *Facts) learnOwner(id, principal string, most int) {
	if f.owners == nil {
		f.owners = make(map[string]string)
	}
	if len(f.owners) < most {
		f.owners[id] = principal
	}
}
