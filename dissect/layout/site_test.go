package layout

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/schema"
)

// sums returns the checksum of each file of a folder, and their size together.
func sums(t *testing.T, dir string) (map[string][32]byte, int64) {
	t.Helper()
	all, size := map[string][32]byte{}, int64(0)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		rel, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		all[filepath.ToSlash(rel)] = sha256.Sum256(b)
		size += int64(len(b))
		return nil
	}))
	return all, size
}

func TestSite(t *testing.T) {
	var files [2]map[string][32]byte
	for i := range files {
		dir := t.TempDir()
		start := time.Now()
		stats, err := newMaker().WriteSite(dir)
		require.NoError(t, err)
		assert.Less(t, time.Since(start), 20*time.Second)
		var size int64
		files[i], size = sums(t, dir)
		assert.Equal(t, stats.Bytes, size)
		assert.Less(t, size, int64(60<<20))
		assert.Len(t, files[i], stats.Pages+4, "the index, a style and two scripts")
	}
	assert.Equal(t, files[0], files[1], "the same each time")
	for _, s := range subjects(schema.Default()) {
		kind := "data"
		if s.API != nil {
			kind = "api"
		}
		assert.Contains(t, files[0], kind+"/"+s.Name()+"/v"+number(int64(s.Version)).String()+".html")
	}
}

// What comes from definitions and captures cannot become markup.
func TestHTMLEscapes(t *testing.T) {
	api := &schema.API{Key: 900, Name: "<b>Evil", Request: &schema.Message{
		Name: "<b>EvilRequest", Type: schema.TypeRequest, APIKey: 900, Versions: schema.Versions{Max: 0}, Flexible: schema.None,
		Headers: []schema.HeaderRange{{Versions: schema.All, Header: 1}},
		Fields: []*schema.FieldDef{{Name: "Field", Type: "string", Versions: schema.All, Nullable: schema.None, Tagged: schema.None, Tag: -1,
			About: `</script><script>alert(1)</script>`}},
	}}
	m := newMaker()
	m.Catalogue = schema.New([]*schema.API{api}, schema.Default().DataMessages(), nil)
	page, err := m.GivenPage(Subject{API: api}, Values{ClientID: "", Body: map[schema.Direction]any{schema.Request: map[string]any{"field": `"><img src=x>`}}})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, page.WriteHTML(&b))
	assert.NotContains(t, b.String(), "<b>Evil")
	assert.NotContains(t, b.String(), "<img")
	assert.NotContains(t, b.String(), "alert(1)</script>")
	assert.Equal(t, 1, strings.Count(b.String(), "</script>"))
	assert.NotContains(t, b.String(), "http://", "no other file is named")
	assert.NotContains(t, b.String(), "https://")
	// A page of one side only.
	assert.Len(t, page.Sides, 1)
	var md bytes.Buffer
	require.NoError(t, page.WriteMarkdown(&md))
	assert.Contains(t, md.String(), "## Request, ")
}
