package scrub

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// TestPublicCaptures goes over traffic of all sorts, much of it odd.
func TestPublicCaptures(t *testing.T) {
	names := corpus.Files(t, "captures", "public", "*", "*cap*")
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			_, err := File(context.Background(), name, out, all)
			require.NoError(t, err)
			before, after := look(t, name), look(t, out)
			require.Len(t, after.packets, len(before.packets))
			assert.Len(t, after.exchanges, len(before.exchanges))
			for code, n := range after.issues {
				assert.LessOrEqual(t, n, before.issues[code], "issues %s", code)
			}
		})
	}
}
