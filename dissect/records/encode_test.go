package records_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/tree"
)

func parse(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

// TestEncodeDefaults: what is not given fits what is.
func TestEncodeDefaults(t *testing.T) {
	set, err := records.Encoder{}.Encode(nil, parse(t, `[
		{"baseOffset": 5, "baseTimestamp": 1000, "maxTimestamp": 1002, "records": [{"key": "k", "value": null, "timestamp": 1002,
			"headers": [{"key": "h", "value": {"base64": "/w=="}}]}, {"value": "v"}]},
		{"magic": 1, "rawOffset": 7, "records": [{"key": null, "value": "old", "timestamp": 3}]},
		{"magic": 0, "records": [{"offset": 8, "value": ""}]}]`))
	require.NoError(t, err)
	var d records.Decoder
	var issues issueList
	sum := d.Walk(set, tree.Span{Len: int32(len(set))}, &issues, records.Options{})
	assert.Empty(t, issues.texts)
	assert.Equal(t, 3, sum.Batches)
	assert.EqualValues(t, 4, sum.Records)
	assert.EqualValues(t, 5, sum.FirstOffset)
	assert.EqualValues(t, 8, sum.LastOffset)
}

// issueList descends everything and keeps the issues.
type issueList struct {
	tree.Discard
	texts []string
}

func (*issueList) Begin(tree.Event) bool { return true }
func (l *issueList) Issue(i tree.Issue)  { l.texts = append(l.texts, i.Text) }

func TestEncodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                 "want an array of batches",
		`[1]`:                                "batch 0: want an object",
		`[{"magic": 3}]`:                     "magic 3 is not known",
		`[{"attributes": 1, "records": []}]`: "compressed batches cannot be encoded",
		`[{"baseOffset": "x"}]`:              "baseOffset: want an integer",
		`[{"crc": 4294967296}]`:              "crc: want an integer from 0 to 4294967295",
		`[{"records": 1}]`:                   "records: want an array",
		`[{"records": [1]}]`:                 "records[0]: want an object",
		`[{"records": [{"key": 1}]}]`:        `key: want a string, {"base64":".."} or null`,
		`[{"records": [{"value": {"base64": "?"}}]}]`:    "value: illegal base64",
		`[{"records": [{"headers": [{"value": "x"}]}]}]`: "headers: want keys that are strings",
		`[{"magic": 1, "records": []}]`:                  "holds one record, found 0",
		`[{"magic": 0, "records": [{}, {}]}]`:            "holds one record, found 2",
	} {
		_, err := records.Encoder{}.Encode(nil, parse(t, text))
		assert.ErrorContains(t, err, want, text)
	}
}
