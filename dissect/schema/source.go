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
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		err = s.readFS(os.DirFS(path))
	case strings.EqualFold(filepath.Ext(path), ".jar"), strings.EqualFold(filepath.Ext(path), ".zip"):
		err = s.readJar(path)
	default:
		err = s.readFile(path)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.Messages, func(a, b *Message) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

func (s *Source) readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	src, err := readLimited(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m, err := ParseDefinition(path, src)
	if err != nil {
		return err
	}
	s.Messages = append(s.Messages, m)
	return nil
}

func (s *Source) readJar(path string) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer z.Close()
	return s.readFS(z)
}

func (s *Source) readFS(fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if d.IsDir() || !strings.EqualFold(filepath.Ext(name), ".json") {
			return nil
		}
		full := s.Name + "!" + name
		f, err := fsys.Open(name)
		if err != nil {
			return fmt.Errorf("%s: %w", full, err)
		}
		defer f.Close()
		src, err := readLimited(f)
		if err != nil {
			return fmt.Errorf("%s: %w", full, err)
		}
		if !strings.Contains(src, `"validVersions"`) {
			return nil
		}
		m, err := ParseDefinition(full, src)
		if err != nil {
			return err
		}
		s.Messages = append(s.Messages, m)
		return nil
	})
}

func readLimited(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxDefinition+1))
	if err == nil && len(b) > maxDefinition {
		err = fmt.Errorf("larger than %d bytes", maxDefinition)
	}
	return string(b), err
}
