package schema

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// fieldKeys returns every key under which the tables of meanings may name a field.
func fieldKeys(c *Catalogue) map[string]bool {
	keys := map[string]bool{}
	c.eachField(func(m *Message, structName string, f *FieldDef) {
		for _, place := range []string{m.Name + "." + structName + ".", m.Name + ".", m.apiName() + ".", ""} {
			keys[place+f.Name] = true
		}
	})
	return keys
}

func TestTablesOfMeaningsNameFieldsThatExist(t *testing.T) {
	known := fieldKeys(Default())
	for _, table := range [][]string{
		slices.Sorted(maps.Keys(enumerations)), slices.Sorted(maps.Keys(roles)), slices.Sorted(maps.Keys(times)),
	} {
		for _, key := range table {
			assert.True(t, known[key], key)
		}
	}
}

func TestTimesAreAllFound(t *testing.T) {
	Default().eachField(func(m *Message, _ string, f *FieldDef) {
		if f.Type == "int64" && strings.Contains(strings.ToLower(f.Name), "timestamp") {
			assert.True(t, times[f.Name], "%s.%s", m.Name, f.Name)
		}
	})
}

func TestMeanings(t *testing.T) {
	c := Default()
	type meaning struct {
		role  Role
		names string // of the value 1
		time  bool
	}
	for _, test := range []struct {
		api  string
		v    int16
		d    Direction
		path string
		want meaning
	}{
		{"Produce", 8, Request, "TopicData.Name", meaning{role: RoleTopicName}},
		{"Produce", 8, Request, "TopicData.PartitionData.Index", meaning{role: RolePartition}},
		{"Produce", 8, Request, "TopicData.PartitionData.Records", meaning{role: RoleRecords}},
		{"Produce", 8, Response, "Responses.PartitionResponses.LogAppendTimeMs", meaning{time: true}},
		{"Produce", 8, Response, "Responses.PartitionResponses.ErrorCode", meaning{role: RoleErrorCode, names: "OFFSET_OUT_OF_RANGE"}},
		{"Metadata", 5, Response, "Topics.Name", meaning{role: RoleTopicName}},
		{"Metadata", 5, Response, "Brokers.NodeId", meaning{role: RoleNodeID}},
		{"Metadata", 5, Response, "Topics.Partitions", meaning{}},
		{"StreamsGroupHeartbeat", 0, Request, "Topology.Subtopologies.StateChangelogTopics.Partitions", meaning{}},
		{"DescribeGroups", 0, Request, "Groups", meaning{role: RoleGroupID}},
		{"FindCoordinator", 4, Request, "CoordinatorKeys", meaning{role: RoleCoordinatorKey}},
		{"FindCoordinator", 4, Request, "KeyType", meaning{names: "TRANSACTION"}},
		{"ApiVersions", 0, Response, "ApiKeys.ApiKey", meaning{role: RoleAPIKey, names: "Fetch"}},
		{"DescribeConfigs", 1, Request, "Resources.ResourceType", meaning{role: RoleResourceType}},
		{"DescribeAcls", 1, Response, "Resources.ResourceType", meaning{role: RoleResourceType, names: "ANY"}},
		{"OffsetCommit", 2, Request, "RetentionTimeMs", meaning{}},
		{"ListOffsets", 1, Request, "Topics.Partitions.Timestamp", meaning{role: RoleTimestamp, time: true}},
		{"SaslHandshake", 1, Request, "Mechanism", meaning{role: RoleMechanism}},
	} {
		s := c.Plan(c.APIByName(test.api).Key, test.v, test.d).Root
		var f *Field
		for _, name := range strings.Split(test.path, ".") {
			i := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Desc.Name == name })
			if !assert.GreaterOrEqual(t, i, 0, "%v: %s", test, name) {
				break
			}
			f = &s.Fields[i]
			if f.Elem != nil {
				f = f.Elem
			}
			s = f.Struct
		}
		got := meaning{role: Role(f.Desc.Role), time: f.Desc.Time}
		if f.Desc.Names != nil {
			got.names = f.Desc.Names.Name(1)
		}
		assert.Equal(t, test.want, got, "%s %s", test.api, test.path)
	}
}

func TestErrorNames(t *testing.T) {
	assert.Equal(t, "UNKNOWN_SERVER_ERROR", ErrorName(-1))
	assert.Empty(t, ErrorName(0))
	assert.Equal(t, "UNSUPPORTED_VERSION", ErrorName(35))
	assert.Equal(t, "CONTROLLER_ID_NOT_REGISTERED", ErrorName(136))
	assert.Empty(t, ErrorName(137))
	assert.Empty(t, ErrorName(-32768))
	assert.Equal(t, "LEADER_CHANGE", controlTypes.Name(2))
	assert.Equal(t, "GROUP", configResourceTypes.Name(32))
	assert.Empty(t, configResourceTypes.Name(3))
}

func TestAuthorizedOperations(t *testing.T) {
	for v, want := range map[int64]string{
		-2147483648: "not asked for", 0: "", 1 << 3: "READ", 1<<3 | 1<<8: "READ, DESCRIBE", 1 << 30: "bit 30",
	} {
		assert.Equal(t, want, authorizedOperations{}.Name(v), v)
	}
	p := Default().Plan(15, 5, Response)
	groups := p.Root.Fields[1].Elem.Struct.Fields
	assert.Equal(t, "READ", groups[len(groups)-1].Desc.Names.Name(8))
}
