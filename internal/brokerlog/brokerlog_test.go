package brokerlog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func value(t *testing.T, s string) *Value {
	t.Helper()
	v, err := ParseJSON([]byte(s))
	require.NoError(t, err)
	return &v
}

func TestDiff(t *testing.T) {
	for _, tc := range []struct {
		name      string
		want, got string
		byOrder   bool
		diffs     []string
	}{
		{"equal", `{"a":1,"b":[null,"x",true,{"c":1.5}]}`, `{"a":1,"b":[null,"x",true,{"c":1.5}]}`, false, nil},
		{"another number", `{"a":1}`, `{"a":2}`, false, []string{"r.a: want 1, got 2"}},
		{"a number that is a string", `{"a":1}`, `{"a":"1"}`, false, []string{`r.a: want 1, got "1"`}},
		{"large numbers", `[9007199254740993]`, `[9007199254740992]`, false, []string{"r[0]: want 9007199254740993, got 9007199254740992"}},
		{"fractions", `[2048,0.30000000000000004]`, `[2048.0,0.3]`, false, nil},
		{"missing", `{"a":1,"b":2}`, `{"a":1}`, false, []string{"r.b: want 2, got nothing"}},
		{"too many", `{"a":1}`, `{"a":1,"b":2}`, false, []string{"r.b: want nothing, got 2"}},
		{"null is not missing", `{"a":null}`, `{}`, false, []string{"r.a: want null, got nothing"}},
		{"elements", `[1,2]`, `[1]`, false, []string{"r: want an array of 2, got an array of 1"}},
		{"hidden", `{"a":"[hidden]"}`, `{"a":"secret"}`, false, nil},
		{"records that the log leaves out", `{"records":"","b":1}`, `{"recordsSizeInBytes":7,"b":1}`, false, nil},
		{"other sizes", `{"b":1}`, `{"recordsSizeInBytes":7,"b":1}`, false, []string{"r.recordsSizeInBytes: want nothing, got 7"}},
		{"names by order", `{"a":1,"b":2}`, `{"x":1,"y":3}`, true, []string{"r.b: want 2, got 3"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Differ{ByOrder: tc.byOrder}
			assert.Equal(t, tc.diffs, d.Diff("r", value(t, tc.want), value(t, tc.got)))
		})
	}
}

func TestTextDiff(t *testing.T) {
	want, err := parseStruct(`{group=g,id=,ids=[a,b],list=[{n=1,bytes=java.nio.HeapByteBuffer[pos=0 lim=3 cap=3]}],none=null}`)
	require.NoError(t, err)
	d := Differ{ByOrder: true, Text: true}
	assert.Empty(t, d.Diff("r", &want, value(t, `{"g":"g","i":"","t":[{"name":"a"},{"name":"b"}],"l":[{"n":1,"b":"AQID"}],"none":null}`)))
	assert.Len(t, d.Diff("r", &want, value(t, `{"g":"h","i":null,"t":[{"name":"a"},{"name":"c"}],"l":[{"n":2,"b":"AQI="}],"none":"x"}`)), 6)
	for _, bad := range []string{"{", "{a=1", "[1", "{a}", "{a=[}", "{a=1}x"} {
		_, err := parseStruct(bad)
		assert.Error(t, err, bad)
	}
}

func TestParseText(t *testing.T) {
	for _, tc := range []struct {
		name, line string
		want       string
	}{
		{"0.8", `[2020-01-01 00:00:00,000] TRACE Completed request:Name: TopicMetadataRequest; Version: 0; CorrelationId: 7; ClientId: c; Topics: t from client /127.0.0.1:1234;totalTime:75,x (kafka.request.logger)`,
			`key 3 v0 #7 of 127.0.0.1:1234 (client id "c")`},
		{"0.8, of the controller", `[2020-01-01 00:00:00,000] TRACE Completed request:Name:LeaderAndIsrRequest;Version:0;Controller:1;ControllerEpoch:1;CorrelationId:7;ClientId:;Leaders:x from client /127.0.0.1:1;totalTime:1`,
			`key 4 v0 #7 of 127.0.0.1:1 (client id "")`},
		{"0.10", `[2020-01-01 00:00:00,000] TRACE Completed request:{api_key=10,api_version=1,correlation_id=2,client_id=a-b} -- {group_id=g} from connection 127.0.0.1:9092-127.0.0.1:99;totalTime:1`,
			`key 10 v1 #2 of 127.0.0.1:99 (client id "a-b")`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseText(tc.line)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got.String())
		})
	}
	_, err := parseText("something else")
	assert.Error(t, err)
}
