package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
)

// Keys of APIs that outputs treat in a way of their own.
const (
	keyProduce          = 0
	keyFetch            = 1
	keyMetadata         = 3
	keyUpdateMetadata   = 6
	keyLeaveGroup       = 13
	keySaslAuthenticate = 36
	keyFetchSnapshot    = 59
	keyDescribeCluster  = 60
	keyShareFetch       = 78
)

// apiOf returns the API of a request, also where its version is unknown; nil for unknown keys.
func apiOf(o *Options, f *dissect.Frame) *schema.API {
	if f.Plan != nil && f.Plan.API != nil {
		return f.Plan.API
	}
	if f.APIKey < 0 { // not known; it is the key of an API without one, too
		return nil
	}
	return o.catalogue().API(f.APIKey)
}

// topicName returns the name that the capture has shown for a topic id, or "".
func topicName(x *dissect.Exchange, id [16]byte) string {
	name, _ := x.TopicName(id)
	return name
}
