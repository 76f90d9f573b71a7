package schema

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// sharedReleases reads which versions each release accepts.
func sharedReleases(t *testing.T) []ReleaseVersions {
	var list []ReleaseVersions
	for _, row := range corpus.Table(t, corpus.Path(t, "vectors", "releases.tsv")) {
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

// release makes a source of one release from definitions in Kafka's JSON.
func release(t *testing.T, name string, definitions ...string) *Source {
	t.Helper()
	s := &Source{Name: name, Release: name}
	for _, src := range definitions {
		m, err := ParseDefinition(name, src)
		require.NoError(t, err)
		s.Messages = append(s.Messages, m)
	}
	return s
}

// Three releases of an API: 1.0 has 0-1, 2.0 has 0-2 and another layout of 0, 3.0 has 1-3, a
// new name for a field from 1 on, the struct shared, and without the tagged field T.
var (
	release1 = `{"apiKey": 3, "type": "request", "name": "ThingRequest", "validVersions": "0-1", "flexibleVersions": "1+",
		"listeners": ["zkBroker"], "fields": [
		{"name": "Old", "type": "int64", "versions": "0"},
		{"name": "A", "type": "int32", "versions": "0+"}]}`
	release2 = `{"apiKey": 3, "type": "request", "name": "ThingRequest", "validVersions": "0-2", "flexibleVersions": "1+",
		"latestVersionUnstable": true, "listeners": ["zkBroker", "broker"], "fields": [
		{"name": "A", "type": "int32", "versions": "0+"},
		{"name": "T", "type": "S", "versions": "1+", "taggedVersions": "1+", "tag": 5, "fields": [
			{"name": "X", "type": "int8", "versions": "1+"}]},
		{"name": "B", "type": "string", "versions": "1+", "nullableVersions": "1+"}]}`
	release3 = `{"apiKey": 3, "type": "request", "name": "ThingyRequest", "validVersions": "1-3", "flexibleVersions": "1+",
		"listeners": ["broker"], "fields": [
		{"name": "A", "type": "int32", "versions": "0+"},
		{"name": "C", "type": "string", "versions": "1+", "nullableVersions": "1+"},
		{"name": "D", "type": "[]P", "versions": "3+"},
		{"name": "E", "type": "P", "versions": "3+"}],
		"commonStructs": [{"name": "P", "versions": "0+", "fields": [{"name": "Y", "type": "bool", "versions": "0+"}]}]}`
)

func TestImportTakesTheNewestOfEachVersion(t *testing.T) {
	two, one, three := release(t, "2.0", release2), release(t, "1.0", release1), release(t, "3.0", release3)
	c, report, err := Import(ImportOptions{}, two, one, three)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"ThingyRequest version 1: tagged field T is kept from 2.0",
		"ThingyRequest version 2: tagged field T is kept from 2.0",
		"ThingyRequest version 0: the layout of 1.0 is kept beside the newer one",
		"ThingyRequest version 1: the layout of 1.0 is kept beside the newer one",
	}, report)
	files, err := c.Files()
	require.NoError(t, err)
	assert.Equal(t, `api 3 Thingy
listeners broker zkBroker
accepted 1.0 0-1
accepted 2.0 0-2 unstable
accepted 3.0 1-3
request 0-3 flexible 1+ headers 0=1 1+=2
  A int32 0+
  C string? 1+
  D []P 3+
  E P 3+
  T S 1-2 tag 5
    X int8 1-2
struct P 3+
  Y bool 3+
older 1.0 request 0 headers 0+=1
  Old int64 0
  A int32 0+
older 1.0 request 1 flexible 1+ headers 0=1 1+=2
  A int32 1+
`, string(files["03-Thingy.txt"]))
	assert.Equal(t, "# Releases of Kafka, in order.\n1.0\n2.0\n3.0\n", string(files["releases.txt"]))
}

func TestImportOnTopOfACatalogue(t *testing.T) {
	sources := []*Source{release(t, "1.0", release1), release(t, "2.0", release2), release(t, "3.0", release3)}
	atOnce, _, err := Import(ImportOptions{}, sources...)
	require.NoError(t, err)
	want, err := atOnce.Files()
	require.NoError(t, err)

	var c *Catalogue
	for _, s := range sources {
		c, _, err = Import(ImportOptions{Base: c}, s)
		require.NoError(t, err)
	}
	got, err := c.Files()
	require.NoError(t, err)
	assert.Equal(t, stringsOf(want), stringsOf(got))

	// The same release once more changes nothing.
	c, _, err = Import(ImportOptions{Base: c}, sources[2])
	require.NoError(t, err)
	got, err = c.Files()
	require.NoError(t, err)
	assert.Equal(t, stringsOf(want), stringsOf(got))
}

func stringsOf(files map[string][]byte) map[string]string {
	texts := make(map[string]string)
	for name, text := range files {
		texts[name] = string(text)
	}
	return texts
}

func TestImportOfNothingNewKeepsTheCatalogue(t *testing.T) {
	c, report, err := Import(ImportOptions{Base: Default()})
	require.NoError(t, err)
	want, err := Default().Files()
	require.NoError(t, err)
	got, err := c.Files()
	require.NoError(t, err)
	assert.Equal(t, stringsOf(want), stringsOf(got))
	assert.Len(t, report, 7, "the older layouts")
}

func TestImportReportsAHole(t *testing.T) {
	_, _, err := Import(ImportOptions{},
		release(t, "1.0", `{"name": "D", "type": "data", "validVersions": "0", "fields": []}`),
		release(t, "2.0", `{"name": "D", "type": "data", "validVersions": "2", "fields": []}`))
	assert.EqualError(t, err, "D: no release has version 1")
}

func TestWriteFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, os.MkdirAll(dir, 0o777))
	for _, name := range []string{"99-Gone.txt", "notes.txt", "README.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	c, _, err := Import(ImportOptions{}, release(t, "3.0", release3))
	require.NoError(t, err)
	require.NoError(t, c.WriteFolder(dir))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"03-Thingy.txt", "README.md", "notes.txt", "releases.txt"}, names)
}

func TestCompareReleases(t *testing.T) {
	ordered := []string{"0.9.0.1", "0.10.0.1", "0.10.2.2", "2.2.2", "2.10.0", "3.9", "3.9.1", "4.0.0", ""}
	for i, a := range ordered {
		for j, b := range ordered {
			assert.Equal(t, i < j, compareReleases(a, b) < 0, "%q %q", a, b)
			assert.Equal(t, i == j, compareReleases(a, b) == 0, "%q %q", a, b)
		}
	}
}

// oracle reads Kafka's definitions with encoding/json and projects a version, independently
// of everything above.
type oracle struct {
	Name    string         `json:"name"`
	Type    string         `json:"type"`
	APIKey  *int16         `json:"apiKey"`
	Valid   string         `json:"validVersions"`
	Flex    string         `json:"flexibleVersions"`
	Fields  []oracleField  `json:"fields"`
	Structs []oracleStruct `json:"commonStructs"`
}

type oracleStruct struct {
	Name   string        `json:"name"`
	Fields []oracleField `json:"fields"`
}

type oracleField struct {
	Name     string        `json:"name"`
	Type     string        `json:"type"`
	Versions string        `json:"versions"`
	Nullable string        `json:"nullableVersions"`
	Tagged   string        `json:"taggedVersions"`
	Tag      any           `json:"tag"`
	Fields   []oracleField `json:"fields"`
}

var oracleComments = regexp.MustCompile(`(?m)("(?:[^"\\]|\\.)*")|//.*$|(?s:/\*.*?\*/)`)

func oracleHas(versions string, v int) bool {
	var low, high int
	switch {
	case versions == "" || versions == "none":
		return false
	case strings.HasSuffix(versions, "+"):
		_, _ = fmt.Sscanf(versions, "%d+", &low)
		return v >= low
	case strings.Contains(versions, "-"):
		_, _ = fmt.Sscanf(versions, "%d-%d", &low, &high)
		return low <= v && v <= high
	}
	_, _ = fmt.Sscanf(versions, "%d", &low)
	return v == low
}

func (o *oracle) layout(fields []oracleField, v int) string {
	type entry struct {
		tag  float64
		text string
	}
	var plain []string
	var tagged []entry
	for _, f := range fields {
		if f.Versions == "" {
			f.Versions = f.Tagged
		}
		if !oracleHas(f.Versions, v) {
			continue
		}
		base := strings.TrimPrefix(f.Type, "[]")
		text := f.Name + ":" + f.Type
		inner := f.Fields
		for _, s := range o.Structs {
			if s.Name == base {
				inner = s.Fields
			}
		}
		isStruct := base[0] >= 'A' && base[0] <= 'Z'
		if isStruct {
			text = f.Name + ":" + strings.Repeat("[]", strings.Count(f.Type, "[]")) + "struct"
		}
		if oracleHas(f.Nullable, v) {
			text += "?"
		}
		tag := -1.0
		if oracleHas(f.Tagged, v) {
			tag = toFloat(f.Tag)
			text += fmt.Sprintf("@%v", tag)
		}
		if isStruct {
			text += "{" + o.layout(inner, v) + "}"
		}
		if tag >= 0 {
			tagged = append(tagged, entry{tag, text})
		} else {
			plain = append(plain, text)
		}
	}
	slices.SortFunc(tagged, func(a, b entry) int { return int(a.tag - b.tag) })
	for _, e := range tagged {
		plain = append(plain, e.text)
	}
	return strings.Join(plain, " ")
}

func toFloat(v any) float64 {
	if s, ok := v.(string); ok {
		n, _ := strconv.Atoi(s)
		return float64(n)
	}
	return v.(float64)
}

func TestPlansAreThoseOfTheJars(t *testing.T) {
	dir := os.Getenv("KDISSECT_JARS")
	if dir == "" {
		t.Skip("KDISSECT_JARS names no folder with Kafka's jars")
	}
	c := Default()
	type place struct {
		name    string
		version int
	}
	seen := map[place]bool{}
	for _, rel := range []string{"4.4.0", "3.9.2"} { // the newest first
		files, err := filepath.Glob(filepath.Join(dir, "*-"+rel+".jar"))
		require.NoError(t, err)
		for _, file := range files {
			z, err := zip.OpenReader(file)
			require.NoError(t, err)
			defer z.Close()
			for _, f := range z.File {
				if !strings.HasSuffix(f.Name, ".json") {
					continue
				}
				r, err := f.Open()
				require.NoError(t, err)
				src, err := io.ReadAll(r)
				require.NoError(t, err)
				if !bytes.Contains(src, []byte(`"validVersions"`)) {
					continue
				}
				var o oracle
				require.NoError(t, json.Unmarshal(oracleComments.ReplaceAll(src, []byte("$1")), &o), f.Name)
				if strings.HasSuffix(o.Name, "Key") && o.Type == "data" {
					continue // numbered otherwise since 4.1
				}
				for v := 0; v < 40; v++ {
					key := o.Name
					if o.Type == "request" || o.Type == "response" {
						key = fmt.Sprint(o.Type, *o.APIKey)
					}
					if !oracleHas(o.Valid, v) || seen[place{key, v}] {
						continue
					}
					seen[place{key, v}] = true
					p := c.Data(o.Name, int16(v))
					switch o.Type {
					case "request":
						p = c.Plan(*o.APIKey, int16(v), Request)
					case "response":
						p = c.Plan(*o.APIKey, int16(v), Response)
					case "header":
						continue // their names are in another case
					}
					require.NotNil(t, p, "%s v%d", o.Name, v)
					want := o.layout(o.Fields, v)
					if oracleHas(o.Flex, v) {
						want = "F " + want
					}
					assert.Equal(t, want, wireLayout(p, false), "%s v%d", o.Name, v)
				}
			}
		}
	}
	t.Logf("%d layouts compared", len(seen))
	assert.Greater(t, len(seen), 736+100)
}
