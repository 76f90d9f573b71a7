package schema

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// groupOf returns the catalogue file of a definition that is no API.
func groupOf(m *Message) string {
	switch {
	case m.Type == TypeHeader:
		return "headers"
	case m.Type == TypeMetadata && strings.HasPrefix(m.Name, "Remote"):
		return "remote-log-metadata"
	case m.Type == TypeMetadata:
		return "cluster-metadata"
	}
	for _, g := range dataGroups {
		if strings.HasPrefix(m.Name, g.prefix) {
			return g.file
		}
	}
	return "data"
}

// dataGroups sorts definitions by the start of their names; the first that fits holds.
var dataGroups = []struct{ prefix, file string }{
	{"Remote", "remote-log-metadata"},
	{"TransactionLog", "transaction-state"},
	{"ShareSnapshot", "share-group-state"},
	{"ShareUpdate", "share-group-state"},
	{"ShareGroup", "consumer-offsets"},
	{"StreamsGroup", "consumer-offsets"},
	{"ConsumerGroup", "consumer-offsets"},
	{"Group", "consumer-offsets"},
	{"Offset", "consumer-offsets"},
	{"LegacyOffset", "consumer-offsets"},
	{"ConsumerProtocol", "protocols"},
	{"SubscriptionInfo", "protocols"},
	{"DefaultPrincipal", "protocols"},
	{"LeaderChange", "control-records"},
	{"Snapshot", "control-records"},
	{"Voters", "control-records"},
	{"KRaftVersion", "control-records"},
	{"EndTxnMarker", "control-records"},
	{"ControlRecord", "control-records"},
	{"AbortedTxn", "broker-files"},
	{"ProducerSnapshot", "broker-files"},
	{"QuorumState", "broker-files"},
}

// Files returns the catalogue's files by name, the same bytes for the same catalogue.
func (c *Catalogue) Files() (map[string][]byte, error) {
	files := make(map[string][]byte)
	var b bytes.Buffer
	for _, a := range c.apis {
		b.Reset()
		if err := WriteAPI(&b, a, c.releases); err != nil {
			return nil, err
		}
		files[fmt.Sprintf("%02d-%s.txt", a.Key, a.Name)] = bytes.Clone(b.Bytes())
	}
	groups := make(map[string][]*Message)
	for _, m := range c.data {
		groups[m.Group] = append(groups[m.Group], m)
	}
	for name, group := range groups {
		b.Reset()
		if err := WriteData(&b, group); err != nil {
			return nil, err
		}
		files[name+".txt"] = bytes.Clone(b.Bytes())
	}
	files[releasesFile] = []byte("# Releases of Kafka, in order.\n" + strings.Join(c.releases, "\n") + "\n")
	return files, nil
}

// apiFile is the form of the names of APIs' files.
var apiFile = regexp.MustCompile(`^\d{2,}-[A-Z][A-Za-z]*\.txt$`)

// WriteFolder writes the catalogue's files into a folder, which is made where it does not
// exist. Files of APIs that the catalogue does not name so (any more) are removed.
func (c *Catalogue) WriteFolder(dir string) error {
	files, err := c.Files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if apiFile.MatchString(e.Name()) && files[e.Name()] == nil && !e.IsDir() {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
