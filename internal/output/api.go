package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
)

// Keys of APIs that outputs treat in a way of their own.
const (
	keyProduce                 = 0
	keyFetch                   = 1
	keyMetadata                = 3
	keyUpdateMetadata          = 6
	keyLeaveGroup              = 13
	keySaslAuthenticate        = 36
	keyCreateDelegationToken   = 38
	keyDescribeDelegationToken = 41
	keyAlterUserScram          = 51
	keyEnvelope                = 58
	keyFetchSnapshot           = 59
	keyDescribeCluster         = 60
	keyShareFetch              = 78
)

// apiOf returns the API of a request, also where its version is unknown; nil for unknown keys.
func apiOf(o *Options, f *dissect.Frame) *schema.API {
	if f.Plan != nil && f.Plan.API != nil {
		return f.Plan.API
	}
	return o.catalogue().API(f.APIKey)
}

// holdsSecrets reports whether bodies of an API can hold passwords or tokens, so that their bytes
// are not shown where the layout is unknown. Where the key is not known (-1), they may.
func holdsSecrets(key int16) bool {
	switch key {
	case -1, keySaslAuthenticate, keyAlterUserScram, keyEnvelope:
		return true
	}
	return key >= keyCreateDelegationToken && key <= keyDescribeDelegationToken
}

// topicName returns the name that the capture has shown for a topic id, or "".
func topicName(x *dissect.Exchange, id [16]byte) string {
	name, _ := x.TopicName(id)
	return name
}
