package schema

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Source is a set of definitions that one release of Kafka brings, or a user.
type Source struct {
	Name     string // the path it was read from
	Release  string // such as "4.4.0"; empty where the path does not tell
	Messages []*Message
}

// maxDefinition bounds the size of one definition; the largest of Kafka's has 20 KiB.
const maxDefinition = 8 << 20

// releaseInName finds the release in the name of a jar or folder, "kafka-clients-4.4.0.jar".
var releaseInName = regexp.MustCompile(`-(\d+(?:\.\d+)+)(?:\.jar)?$`)

// ReadSource reads the definitions in a JSON file, a jar or a folder with everything below it.
// In a jar or folder, JSON files that are no definitions are passed over; a file that is one
// but cannot be read is an error of type *PosError.
func ReadSource(path string) (*Source, error) {
	s := &Source{Name: path}
	if m := releaseInName.FindStringSubmatch(filepath.Base(path)); m != nil {
		s.Release = m[1]
	}
	err := eachDefinition(path, func(file, src string) error {
		m, err := ParseDefinition(file, src)
		if err == nil {
			s.Messages = append(s.Messages, m)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.Messages, func(a, b *Message) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// ReadDrafts reads the texts with definitions in a file, a jar or a folder with everything below
// it, as ReadDraft does. In a jar or folder, those are the JSON files that have definitions.
func ReadDrafts(path string) ([]*Draft, error) {
	var drafts []*Draft
	err := eachDefinition(path, func(file, src string) error {
		drafts = append(drafts, ReadDraft(file, src))
		return nil
	})
	return drafts, err
}

// eachDefinition calls fn for a file, or for each file with a definition in a jar or folder, in the
// order of their names.
func eachDefinition(path string, fn func(file, src string) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return definitionsIn(path, os.DirFS(path), path+string(filepath.Separator), fn)
	case strings.EqualFold(filepath.Ext(path), ".jar"), strings.EqualFold(filepath.Ext(path), ".zip"):
		z, err := zip.OpenReader(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer z.Close()
		return definitionsIn(path, z, path+"!", fn)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	src, err := readLimited(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fn(path, src)
}

// definitionsIn calls fn for the files of fsys that have definitions; their names in messages
// begin with prefix.
func definitionsIn(path string, fsys fs.FS, prefix string, fn func(file, src string) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if d.IsDir() || !strings.EqualFold(filepath.Ext(name), ".json") {
			return nil
		}
		f, err := fsys.Open(name)
		if err != nil {
			return fmt.Errorf("%s%s: %w", prefix, name, err)
		}
		defer f.Close()
		src, err := readLimited(f)
		if err != nil {
			return fmt.Errorf("%s%s: %w", prefix, name, err)
		}
		if !strings.Contains(src, "validVersions") {
			return nil
		}
		return fn(prefix+name, src)
	})
}

func readLimited(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxDefinition+1))
	if err == nil && len(b) > maxDefinition {
		err = fmt.Errorf("larger than %d bytes", maxDefinition)
	}
	return string(b), err
}
