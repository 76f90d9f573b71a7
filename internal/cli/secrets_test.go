package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// passwords are those of the test brokers.
var passwords = []string{"admin-secret", "alice-secret", "bob-secret", "scram-secret"}

// formats are the ways in which read shows bytes.
var formats = [][]string{
	{"--format", "summary"},
	{"--format", "summary", "--full", "--packets"},
	{"--format", "tree"},
	{"--format", "tree", "--full", "--packets"},
	{"--format", "tree", "-x"},
	{"--format", "tree", "-x", "--color", "always"},
	{"--format", "json"},
	{"--format", "json", "--bytes", "base64"},
	{"--format", "json", "--bytes", "hex"},
	{"--format", "json", "--plain"},
	{"--format", "json", "--plain", "--bytes", "base64"},
}

// shown is text that was printed, made ready for looking for secrets.
type shown struct{ text, lower []byte }

func newShown(text string) shown {
	plain := escapes.ReplaceAll([]byte(text), nil)
	return shown{plain, bytes.ToLower(plain)}
}

// form returns a form in which the text shows secret, or "".
func (s shown) form(secret string) string {
	if form := s.whole(secret); form != "" {
		return form
	}
	// The grid breaks its rows anywhere: look for pieces, those with the hyphen being rare enough.
	for i := 0; i+6 <= len(secret); i++ {
		piece := secret[i : i+6]
		if !strings.Contains(piece, "-") {
			continue
		}
		spaced := strings.TrimSpace(spacedHex(piece))
		if bytes.Contains(s.text, []byte(piece)) || bytes.Contains(s.lower, []byte(spaced)) {
			return "the piece " + piece
		}
	}
	return ""
}

// whole returns a form in which the text shows secret in one piece, or "".
func (s shown) whole(secret string) string {
	if bytes.Contains(s.text, []byte(secret)) {
		return "plain text"
	}
	if bytes.Contains(s.lower, []byte(hex.EncodeToString([]byte(secret)))) {
		return "hex"
	}
	// Base64 depends on where the secret begins, modulo three; the digits at its ends depend on
	// its neighbours.
	for pad := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", pad) + secret))
		inner := encoded[(pad*8+5)/6 : len(encoded)-1]
		if bytes.Contains(s.text, []byte(inner)) || bytes.Contains(s.text, []byte(base64URL.Replace(inner))) {
			return "base64"
		}
	}
	return ""
}

// escapes are the colours of a terminal, which part the digits.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

var base64URL = strings.NewReplacer("+", "-", "/", "_")

func spacedHex(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(hex.EncodeToString([]byte{s[i]}) + " ")
	}
	return b.String()
}

func TestShownFindsSecrets(t *testing.T) {
	const secret = "alice-secret"
	for name, text := range map[string]string{
		"plain":         "user alice-secret.",
		"hex":           "00616C6963652d736563726574ff",
		"base64":        base64.StdEncoding.EncodeToString([]byte("\x00alice\x00alice-secret")),
		"base64, by 1":  base64.StdEncoding.EncodeToString([]byte("\x00alice\x00" + "xalice-secretx")),
		"base64, by 2":  base64.StdEncoding.EncodeToString([]byte("\x00alice\x00" + "xxalice-secret")),
		"base64url":     base64.RawURLEncoding.EncodeToString([]byte("\xff\xfealice-secret")),
		"grid":          "0010  61 6c 69 63 65 2d 73 65  xx",
		"grid's letter": "|.alice-s|",
	} {
		assert.NotEmpty(t, newShown(text).form(secret), name)
	}
	assert.Empty(t, newShown("user alice, <hidden, 12 bytes>").form(secret))
}

// TestSecretsStayHidden runs captures with logins through all formats.
func TestSecretsStayHidden(t *testing.T) {
	for _, file := range captures(t) {
		t.Run(filepath.Base(file), func(t *testing.T) { secretsStayHidden(t, file) })
	}
}

// TestSecretsStayHiddenInTheCorpus does the same with the corpus.
func TestSecretsStayHiddenInTheCorpus(t *testing.T) {
	files := corpus.Files(t, "captures", "lab", "clients", "*sasl*.pcapng")
	files = append(files, corpus.Path(t, "captures", "lab", "broker", "h-sasl.pcap.gz"))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { secretsStayHidden(t, file) })
	}
}

func secretsStayHidden(t *testing.T, file string) {
	t.Helper()
	for _, format := range formats {
		stdout, stderr, status := runMain(t, append([]string{"read", file}, format...)...)
		require.Equal(t, exitDone, status, stderr)
		text := newShown(stdout + stderr)
		for _, secret := range passwords {
			assert.Empty(t, text.form(secret), "%s in %v", secret, format)
		}
	}
	for _, format := range [][]string{{"--control"}, {"-j"}, {"--format", "raw"}, {"-j", "--value-format", "hex"}} {
		stdout, stderr, status := runMain(t, append([]string{"records", file}, format...)...)
		require.Equal(t, exitDone, status, stderr)
		text := newShown(stdout + stderr)
		for _, secret := range passwords {
			assert.Empty(t, text.form(secret), "%s in records %v", secret, format)
		}
	}
	lines := [][]string{
		{"connections", "--digest", "--format", "json"}, {"connections"}, {"records"}, {"records", "-j"},
		{"records", "--format", "raw"},
	}
	for _, frame := range []string{"2", "3", "4"} { // where clients log in
		for _, format := range []string{"text", "markdown", "html", "json"} {
			lines = append(lines, []string{"layout", "--frame", frame, "--format", format})
		}
	}
	for _, line := range lines {
		stdout, stderr, status := runMain(t, append(line, file)...)
		if line[0] != "layout" { // there need not be three exchanges
			require.Equal(t, exitDone, status, stderr)
		}
		text := newShown(stdout + stderr)
		for _, secret := range passwords {
			assert.Empty(t, text.form(secret), "%s in %v", secret, line)
		}
	}
}

// TestShowSecrets makes sure that the tests above have something to find.
func TestShowSecrets(t *testing.T) {
	file := filepath.Join("..", "..", "testdata", "pcaps", "sasl-plain.pcap")
	for _, format := range formats {
		if format[1] == "summary" {
			continue
		}
		stdout, stderr, status := runMain(t, append([]string{"read", "--show-secrets", file}, format...)...)
		require.Equal(t, exitDone, status, stderr)
		assert.NotEmpty(t, newShown(stdout).form("alice-secret"), "%v", format)
	}
}
