package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// contents returns some keys, values and headers of the records in a capture that are text long
// enough to be found by chance nowhere else.
func contents(t *testing.T, file string) []string {
	t.Helper()
	stdout, stderr, status := runMain(t, "records", "-j", file)
	require.Equal(t, exitDone, status, stderr)
	seen := map[string]bool{}
	var all []string
	add := func(v any) {
		if s, ok := v.(string); ok && len(s) >= 20 && !seen[s] && len(all) < 8 {
			seen[s] = true
			all = append(all, s)
		}
	}
	for line := range strings.Lines(stdout) {
		var r struct {
			Key, Payload any
			Headers      []any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		add(r.Key)
		add(r.Payload)
		for _, h := range r.Headers {
			add(h)
		}
	}
	return all
}

// TestValuesStayHidden shows no contents of records with --values size or hash, in any form.
func TestValuesStayHidden(t *testing.T) {
	valuesStayHidden(t, filepath.Join("..", "..", "testdata", "pcaps", "produce-fetch.pcapng"))
}

// TestValuesStayHiddenInTheCorpus does the same with records in all codecs and layouts.
func TestValuesStayHiddenInTheCorpus(t *testing.T) {
	for _, name := range []string{
		"clients/franz-basic.pcapng", "broker/k-08.pcap.gz",
	} {
		valuesStayHidden(t, corpus.Path(t, "captures", "lab", filepath.FromSlash(name)))
	}
}

func valuesStayHidden(t *testing.T, file string) {
	t.Helper()
	t.Run(filepath.Base(file), func(t *testing.T) {
		hidden := contents(t, file)
		require.NotEmpty(t, hidden)
		lines := [][]string{{"records"}, {"records", "-j"}}
		for _, form := range formats {
			lines = append(lines, append([]string{"read"}, form...))
		}
		for _, values := range []string{"size", "hash"} {
			for _, line := range lines {
				stdout, stderr, status := runMain(t, append(append([]string{}, line...), "--values", values, file)...)
				require.Equal(t, exitDone, status, stderr)
				text := newShown(stdout + stderr)
				for _, s := range hidden {
					assert.Empty(t, text.whole(s), "%q in %v --values %s", s, line, values)
					for i := range len(s) - 9 { // of two rows of a grid, one has half of it
						assert.False(t, bytes.Contains(text.text, []byte(s[i:i+10])), "%q in %v --values %s", s[i:i+10], line, values)
					}
				}
			}
		}
	})
}

func TestValuesUsage(t *testing.T) {
	file := filepath.Join("..", "..", "testdata", "pcaps", "produce-fetch.pcapng")
	_, stderr, status := runMain(t, "records", "--format", "raw", "--values", "size", file)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "--values size")
	stdout, _, status := runMain(t, "read", "-j", "--values", "size", "--where", `api == "PRODUCE"`, file)
	assert.Equal(t, exitDone, status)
	assert.Contains(t, stdout, `"value":"<hidden, 22 bytes>"`)
}
