package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadme runs the command lines that README.md shows in its console blocks, and compares
// what they print with what stands there. With -update it puts it there.
func TestReadme(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := 0
	got := regexp.MustCompile("(?s)```console\n\\$ ([^\n]*)\n(.*?)```").ReplaceAllStringFunc(string(text), func(block string) string {
		blocks++
		line, _, _ := strings.Cut(strings.TrimPrefix(block, "```console\n$ "), "\n")
		return "```console\n$ " + line + "\n" + runLine(t, line) + "```"
	})
	require.NotZero(t, blocks)
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(got), 0o666))
		return
	}
	assert.Equal(t, string(text), got)
}

// runLine runs a command line of kdissect, which may have single quotes and end in "| head -n N".
func runLine(t *testing.T, line string) string {
	t.Helper()
	line, lines, cut := strings.Cut(line, " | head -n ")
	args := shellWords(t, line)
	require.Equal(t, "kdissect", args[0])
	stdout, stderr, status := runMain(t, args[1:]...)
	require.Equal(t, exitDone, status, stderr)
	require.NotEmpty(t, stdout, line)
	if !cut {
		return stdout
	}
	n, err := strconv.Atoi(lines)
	require.NoError(t, err)
	all := strings.SplitAfter(stdout, "\n")
	return strings.Join(all[:min(n, len(all))], "")
}

// shellWords parts a line at spaces outside of single quotes.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part) // only whole words are quoted
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	require.Zero(t, strings.Count(line, "'")%2, line)
	return words
}

// TestReadmeNamesEveryCommand makes sure that no command is left out.
func TestReadmeNamesEveryCommand(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	flat := strings.Join(strings.Fields(string(text)), " ")
	for _, v := range verbs() {
		assert.True(t, strings.Contains(flat, "kdissect "+v.name), "README.md shows no example of kdissect %s", v.name)
	}
}
