// Package corpus finds and reads the captures and vectors that tests hold the decoder against.
// They lie outside of the project, in the folder that KDISSECT_SHARED names, by default shared
// beside the checkout. What the vectors are compared with stays with the tests.
package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

// Skipped is what a test that misses the corpus says.
const Skipped = "corpus not found: set KDISSECT_SHARED"

// Dir returns the corpus folder, or skips the test.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("KDISSECT_SHARED")
	if dir == "" {
		dir = filepath.Join(moduleRoot(t), "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "captures")); err != nil {
		t.Skip(Skipped)
	}
	return dir
}

// Path returns a file of the corpus, or skips the test where there is no corpus.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	return filepath.Join(append([]string{Dir(t)}, elem...)...)
}

// Files returns the files of the corpus that match a pattern of filepath.Glob, of which there
// must be some, or skips the test where there is no corpus.
func Files(t testing.TB, pattern ...string) []string {
	t.Helper()
	path := Path(t, pattern...)
	files, err := filepath.Glob(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file is %s", path)
	}
	return files
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}
