package payload_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/tree"
)

func TestLayoutsAreDescribed(t *testing.T) {
	c := payload.Layouts()
	assert.Empty(t, c.Missing())
	assert.Empty(t, c.Unused())
	for _, m := range c.DataMessages() {
		for v := m.Versions.Min; v <= m.Versions.Max; v++ {
			assert.NotNil(t, c.Data(m.Name, v), "%s v%d", m.Name, v)
		}
	}
}

// TestAssignmentInfo holds the layout against what Kafka Streams writes.
func TestAssignmentInfo(t *testing.T) {
	type vector struct {
		Name, Hex string
		Version   int16
		Body      json.RawMessage
	}
	type info struct {
		CommonlySupportedVersion, ErrCode        int64
		NextRebalanceMs                          json.Number
		ActiveTasks                              []string
		StandbyTasks                             string
		PartitionsByHost, StandbyPartitionByHost string
	}
	seen := 0
	corpus.Lines(t, corpus.Path(t, "vectors", "payloads-4.4.0.ndjson.gz"), func(line int, v vector) {
		if v.Name != "AssignmentInfo" {
			return
		}
		seen++
		var body info
		require.NoError(t, json.Unmarshal(v.Body, &body))
		b, err := hex.DecodeString(v.Hex)
		require.NoError(t, err)
		p := payload.Layouts().Data(v.Name, v.Version)
		var w walk.Decoder
		var build tree.Builder
		build.Reset(b)
		r := w.Body(b, 0, p, &build)
		require.True(t, r.Fits() && r.End == len(b), "line %d", line)
		s := summary{t: build.Tree()}
		s.read(0, "")
		assert.Equal(t, strings.Join(body.ActiveTasks, ","), strings.Join(s.active, ","), "line %d", line)
		assert.Equal(t, body.StandbyTasks, "{"+strings.Join(s.standby, ", ")+"}", "line %d", line)
		assert.Equal(t, body.PartitionsByHost, "{"+strings.Join(s.hosts["partitionsByHost"], ", ")+"}", "line %d", line)
		assert.Equal(t, body.StandbyPartitionByHost, "{"+strings.Join(s.hosts["standbyPartitionsByHost"], ", ")+"}", "line %d", line)
		if v.Version >= 3 {
			assert.Equal(t, body.CommonlySupportedVersion, s.numbers["commonlySupportedVersion"])
		}
		if v.Version >= 4 {
			assert.Equal(t, body.ErrCode, s.numbers["errCode"])
		}
		if v.Version >= 7 {
			assert.Equal(t, body.NextRebalanceMs.String(), fmt.Sprint(s.numbers["nextRebalanceMs"]))
		}
	})
	assert.Equal(t, 22, seen)
}

// summary turns the tree of an AssignmentInfo into the words that Kafka Streams has for it.
type summary struct {
	t               *tree.Tree
	active, standby []string
	hosts           map[string][]string
	numbers         map[string]int64
	topics          map[int64]string
}

// value returns the number or the text of the child of node i that has a name.
func (s *summary) value(i int32, name string) (num int64, text string) {
	nodes := s.t.Nodes
	for j := i + 1; j < nodes[i].Next; j = nodes[j].Next {
		if nodes[j].Desc.Name == name {
			return nodes[j].Num, string(s.t.Bytes(&nodes[j]))
		}
	}
	return 0, ""
}

// elements returns the elements of the child array of node i that has a name.
func (s *summary) elements(i int32, name string) (list []int32) {
	nodes := s.t.Nodes
	for j := i + 1; j < nodes[i].Next; j = nodes[j].Next {
		if nodes[j].Desc.Name != name || nodes[j].Desc.Kind != tree.KindArray {
			continue
		}
		for k := j + 1; k < nodes[j].Next; k = nodes[k].Next {
			if nodes[k].Flags&tree.FlagElement != 0 {
				list = append(list, k)
			}
		}
	}
	return list
}

func (s *summary) task(i int32) string {
	group, _ := s.value(i, "topicGroupId")
	partition, _ := s.value(i, "partition")
	return fmt.Sprintf("%d_%d", group, partition)
}

func (s *summary) read(root int32, _ string) {
	s.hosts, s.numbers, s.topics = map[string][]string{}, map[string]int64{}, map[int64]string{}
	for _, name := range []string{"commonlySupportedVersion", "errCode", "nextRebalanceMs"} {
		s.numbers[name], _ = s.value(root, name)
	}
	for _, i := range s.elements(root, "activeTasks") {
		s.active = append(s.active, s.task(i))
	}
	for _, i := range s.elements(root, "standbyTasks") {
		var parts []string
		for _, p := range s.elements(i, "partitions") {
			n, _ := s.value(p, "partition")
			_, topic := s.value(p, "topic")
			parts = append(parts, fmt.Sprintf("%s-%d", topic, n))
		}
		s.standby = append(s.standby, s.task(i)+"=["+strings.Join(parts, ", ")+"]")
	}
	for _, i := range s.elements(root, "topicNames") {
		n, _ := s.value(i, "index")
		_, s.topics[n] = s.value(i, "topic")
	}
	for _, name := range []string{"partitionsByHost", "standbyPartitionsByHost"} {
		for _, i := range s.elements(root, name) {
			_, host := s.value(i, "host")
			port, _ := s.value(i, "port")
			var parts []string
			for _, p := range s.elements(i, "partitions") {
				n, _ := s.value(p, "partition")
				_, topic := s.value(p, "topic")
				if topic == "" {
					index, _ := s.value(p, "topicIndex")
					topic = s.topics[index]
				}
				parts = append(parts, fmt.Sprintf("%s-%d", topic, n))
			}
			s.hosts[name] = append(s.hosts[name], fmt.Sprintf("HostInfo{host='%s', port=%d}=[%s]", host, port, strings.Join(parts, ", ")))
		}
	}
}
