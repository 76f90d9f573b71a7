package scrub

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/kdissect/kdissect/dissect/schema"
)

// values replaces values by their class, as the options ask.
type values struct {
	*standIns
	opt       Options
	addresses addresses
}

// byRole are classes of fields that are listed nowhere, by what their schema says of them.
var byRole = map[schema.Role]class{
	schema.RoleTopicName: topic, schema.RoleTopicID: topicUUID, schema.RoleGroupID: group,
	schema.RoleTransactionalID: group, schema.RoleMemberID: client, schema.RoleGroupInstanceID: client,
	schema.RoleHost: host, schema.RolePrincipal: user, schema.RoleClientID: client, schema.RoleClusterID: host,
}

// replace replaces b, of a class that has names.
func (v *values) replace(c class, b []byte) {
	switch c {
	case user:
		v.principal(b)
	case client:
		v.when(v.opt.ClientIDs, b)
	case topic:
		if !internalTopics[string(b)] {
			v.when(v.opt.Topics, b)
		}
	case group:
		v.when(v.opt.Groups, b)
	case host:
		v.when(v.opt.Hosts || v.opt.Addresses && isAddress(b), b)
	case resource:
		if !internalTopics[string(b)] && string(b) != "kafka-cluster" && !(number(b) && len(b) < 6) {
			v.when(v.opt.ClientIDs || v.opt.Topics || v.opt.Groups, b)
		}
	case address:
		if v.opt.Addresses || v.opt.Hosts {
			v.addresses.bytes(b)
		}
	}
}

// when replaces the name in b; a wildcard is not one.
func (v *values) when(asked bool, b []byte) {
	if asked && string(b) != "*" {
		v.name(b)
	}
}

// principal replaces a user, behind the type where one is given.
func (v *values) principal(b []byte) {
	if i := bytes.IndexByte(b, ':'); i >= 0 {
		b = b[i+1:]
	}
	if string(b) != "ANONYMOUS" {
		v.when(true, b)
	}
}

// isAddress reports whether text holds an IP address, as brokers write those of clients too.
func isAddress(b []byte) bool {
	s := strings.TrimPrefix(string(b), "/")
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(s)
	return err == nil
}

func number(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// configName are the fields that name the configuration whose value follows.
var configName = map[string]bool{
	"AlterableConfig.Name": true, "CreatableTopicConfig.Name": true, "CreatableTopicConfigs.Name": true,
	"DescribeConfigsResourceResult.Name": true, "DescribeConfigsSynonym.Name": true, "ConfigRecord.Name": true,
	"LastAssignmentConfig.Key": true, "TopicConfig.key": true, "KeyValue.Key": true,
}

// plainConfig reports whether the value of a configuration tells nothing that has to be replaced.
func plainConfig(name string, value []byte) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"password", "secret", "key", "token", "credential", "jaas", "user"} {
		if strings.Contains(name, word) {
			return false
		}
	}
	if configWords[string(value)] {
		return true
	}
	return number(bytes.TrimPrefix(bytes.Replace(value, []byte("."), nil, 1), []byte("-")))
}
