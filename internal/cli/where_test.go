package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const fetchLine = `{"requestHeader":{"requestApiKey":1,"requestApiVersion":18,"correlationId":12,"clientId":"c1","requestApiKeyName":"FETCH"},
"request":{"maxWaitMs":500,"topics":[{"topic":"a","n":9007199254740993}]},"response":null,"connection":"10.0.0.1:9092-10.0.0.2:4000","totalTimeMs":120.5,"issues":[]}`

func TestWhereMatches(t *testing.T) {
	tests := map[string]struct {
		src  string
		want bool
	}{
		"short names":            {`api == "FETCH" && latencyMs > 100`, true},
		"members":                {`requestHeader.requestApiKeyName == "FETCH" && totalTimeMs > 100`, true},
		"version is a number":    {`version >= 18 && version < 19`, true},
		"client id":              {`clientId startsWith "c"`, true},
		"no error":               {`error != ""`, false},
		"into arrays":            {`any(request.topics, .topic == "a")`, true},
		"large integers stay":    {`request.topics[0].n == 9007199254740993`, true},
		"large integers differ":  {`request.topics[0].n == 9007199254740992`, false},
		"a missing side is null": {`response == nil`, true},
		"an absent member":       {`request.nothing == 1`, false},
		"no issues":              {`len(issues) == 0`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, err := compileWhere(tt.src)
			require.NoError(t, err)
			got, err := w.match([]byte(fetchLine), "")
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Zero(t, w.failed, "%v", w.failure)
		})
	}
}

func TestWhereCountsWhatItCannotEvaluate(t *testing.T) {
	w, err := compileWhere(`response.throttleTimeMs > 0`)
	require.NoError(t, err)
	got, err := w.match([]byte(fetchLine), "")
	require.NoError(t, err)
	assert.False(t, got)
	assert.EqualValues(t, 1, w.failed)
	assert.Error(t, w.failure)
}

func TestWhereErrorsShowThePlace(t *testing.T) {
	tests := map[string]struct{ src, want string }{
		"unknown name": {`api == "FETCH" && latency > 100`, "unknown name latency at column 19\n  api == \"FETCH\" && latency > 100\n                    ^"},
		"wrong type":   {`api > 5`, "at column"},
		"syntax":       {`api ==`, "at column"},
		"not a bool":   {`version + 1`, "bool"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := compileWhere(tt.src)
			require.ErrorAs(t, err, new(usageError))
			assert.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, tt.src)
		})
	}
}
