package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// logins returns what connections tells of the logins in a capture.
func logins(t *testing.T, file string) (all []connection) {
	t.Helper()
	stdout, stderr, status := runMain(t, "connections", "--format", "json", file)
	require.Equal(t, exitDone, status, stderr)
	for line := range strings.Lines(stdout) {
		var c connection
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		if c.SASL != nil {
			all = append(all, c)
		}
	}
	return all
}

// TestLoginsOfTheCorpus holds mechanism, user and outcome of each capture with logins against
// what its notes say was done.
func TestLoginsOfTheCorpus(t *testing.T) {
	files := corpus.Files(t, "captures", "lab", "clients", "*sasl*.pcapng")
	require.Len(t, files, 19)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pcapng")
		t.Run(name, func(t *testing.T) {
			mechanism, users := "PLAIN", "alice bob admin"
			switch {
			case strings.Contains(name, "scram256"):
				mechanism, users = "SCRAM-SHA-256", "scramuser"
			case strings.Contains(name, "scram512"):
				mechanism, users = "SCRAM-SHA-512", "scramuser"
			case strings.Contains(name, "oauth"):
				mechanism, users = "OAUTHBEARER", "admin"
			}
			all := logins(t, file)
			require.NotEmpty(t, all)
			for _, c := range all {
				assert.Equal(t, mechanism, c.SASL.Mechanism)
				assert.Contains(t, strings.Fields(users), c.SASL.User)
				if strings.Contains(name, "badpw") {
					assert.Equal(t, "failed", c.SASL.Outcome)
					assert.Empty(t, c.Principal)
					continue
				}
				assert.Equal(t, "authenticated", c.SASL.Outcome)
				assert.Equal(t, "User:"+c.SASL.User, c.Principal)
			}
		})
	}
}

// TestPrincipalsOfTheCorpus holds the principal of each exchange against the broker's own log.
func TestPrincipalsOfTheCorpus(t *testing.T) {
	files := corpus.Files(t, "captures", "lab", "clients", "*sasl*.pcapng")
	files = append(files, corpus.Path(t, "captures", "lab", "broker", "h-sasl.pcap.gz"))
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if name == "franz-sasl-badpw" { // refused logins are not logged
			continue
		}
		t.Run(name, func(t *testing.T) {
			principalsOf(t, file, filepath.Join(filepath.Dir(file), name+".requests.ndjson.gz"))
		})
	}
}

func principalsOf(t *testing.T, file, log string) {
	type line struct {
		Header struct {
			Key  int   `json:"requestApiKey"`
			Corr int64 `json:"correlationId"`
		} `json:"requestHeader"`
		Connection string
		Principal  string
	}
	key := func(l line) string {
		parts := strings.Split(l.Connection, "-")
		return fmt.Sprint(parts[1], " ", l.Header.Key, " ", l.Header.Corr)
	}
	stdout, stderr, status := runMain(t, "read", "-j", file)
	require.Equal(t, exitDone, status, stderr)
	ours := map[string]string{}
	for text := range strings.Lines(stdout) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		ours[key(l)] = l.Principal
	}
	n := 0
	corpus.Lines(t, log, func(_ int, l line) {
		n++
		assert.Equal(t, l.Principal, ours[key(l)], key(l))
	})
	require.Positive(t, n)
}
