package schema

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharedReleases reads which versions each release accepts.
func sharedReleases(t *testing.T) []ReleaseVersions {
	var list []ReleaseVersions
	for _, row := range tsv(t, "vectors", "releases.tsv") {
		list = append(list, ReleaseVersions{
			Release: row[0], Key: atoi16(t, row[1]),
			Versions: Versions{atoi16(t, row[3]), atoi16(t, row[4])}, Unstable: row[5] == "true",
		})
	}
	return list
}

func TestEmbeddedCatalogueIsWhatImportGives(t *testing.T) {
	c, report, err := Import(ImportOptions{Releases: sharedReleases(t)}, jars(t)...)
	require.NoError(t, err)
	for _, line := range report {
		t.Log(line)
	}
	if *update {
		require.NoError(t, c.WriteFolder("catalog"))
		return
	}
	want, err := c.Files()
	require.NoError(t, err)
	have, err := filepath.Glob("catalog/*.txt")
	require.NoError(t, err)
	assert.Len(t, have, len(want))
	for name, text := range want {
		file, err := os.ReadFile(filepath.Join("catalog", name))
		if assert.NoError(t, err) {
			assert.Equal(t, string(text), string(file), name)
		}
	}
}
