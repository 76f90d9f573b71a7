package cli

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/internal/corpus"
)

// pair is one version of a request or response.
type pair struct {
	key     int16
	kind    string
	version int16
}

// TestAPIsHoldThePairsOfKafka compares the JSON of apis with what Kafka's own definitions say.
func TestAPIsHoldThePairsOfKafka(t *testing.T) {
	want, names := map[pair]bool{}, map[int16]string{}
	for _, file := range []string{"catalog-3.9.x.tsv", "catalog-4.4.0.tsv"} {
		for _, f := range corpus.Table(t, corpus.Path(t, "vectors", file)) {
			key, err := strconv.ParseInt(f[0], 10, 16)
			require.NoError(t, err, f)
			names[int16(key)] = f[1]
			addPairs(t, want, int16(key), f[2], f[3])
		}
	}
	require.NotEmpty(t, want)

	stdout, stderr, status := runMain(t, "apis", "--format", "json")
	require.Equal(t, exitDone, status, stderr)
	var apis []apiJSON
	require.NoError(t, json.Unmarshal([]byte(stdout), &apis))
	got := map[pair]bool{}
	for _, a := range apis {
		assert.Equal(t, names[a.APIKey], a.Name, "name of key %d", a.APIKey)
		addPairs(t, got, a.APIKey, "request", a.RequestVersions)
		addPairs(t, got, a.APIKey, "response", a.ResponseVersions)
	}
	assert.Equal(t, want, got)
}

func addPairs(t *testing.T, set map[pair]bool, key int16, kind, versions string) {
	t.Helper()
	v, err := schema.ParseVersions(versions)
	require.NoError(t, err)
	for n := v.Min; n <= v.Max; n++ {
		set[pair{key, kind, n}] = true
	}
}

// TestAPIsNameTheReleases compares the releases of each version with a list made from the jars.
func TestAPIsNameTheReleases(t *testing.T) {
	type accepts struct {
		key               int16
		release, versions string
	}
	want, got := map[accepts]bool{}, map[accepts]bool{}
	for _, f := range corpus.Table(t, corpus.Path(t, "vectors", "releases.tsv")) {
		key, err := strconv.ParseInt(f[1], 10, 16)
		require.NoError(t, err, f)
		v, err := schema.ParseVersions(f[3] + "-" + f[4])
		if err != nil {
			continue // definitions kept without a version, such as keys 4 to 7 in 4.x
		}
		want[accepts{int16(key), f[0], v.String()}] = true
	}
	stdout, stderr, status := runMain(t, "apis", "--format", "json")
	require.Equal(t, exitDone, status, stderr)
	var apis []apiJSON
	require.NoError(t, json.Unmarshal([]byte(stdout), &apis))
	for _, a := range apis {
		for _, r := range a.Releases {
			got[accepts{a.APIKey, r.Release, r.Versions}] = true
		}
	}
	assert.Equal(t, want, got)
}
