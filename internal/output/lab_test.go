package output

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
)

// each is a dissect.Handler that is one function.
type each func(*dissect.Exchange)

func (f each) Exchange(x *dissect.Exchange) { f(x) }

func (f each) Closed(*dissect.Connection, reassembly.End) {}

// exchanges runs a capture through the pipeline.
func exchanges(t testing.TB, path string, f func(*dissect.Exchange)) {
	t.Helper()
	r, err := capture.Open(context.Background(), []string{path}, capture.Options{})
	require.NoError(t, err)
	defer r.Close()
	a := reassembly.New(reassembly.Limits{}, dissect.New(dissect.Options{Handler: each(f)}))
	var s reassembly.Segment
	for {
		err := r.NextSegment(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		a.Advance(s.Time)
		a.Segment(&s)
	}
	a.Flush()
}

func opener() *walk.Decoder { return payload.New(nil, records.Limits{}).Decoder() }

// captures returns the names of the lab's captures that have a file with the suffix beside them,
// each with the capture's path.
func captures(t *testing.T, dir, suffix string) map[string]string {
	t.Helper()
	files := corpus.Files(t, "captures", "lab", dir, "*"+suffix)
	found := map[string]string{}
	for _, f := range files {
		base := strings.TrimSuffix(f, suffix)
		for _, ext := range []string{".pcap.gz", ".pcapng.gz", ".pcap", ".pcapng"} {
			if _, err := os.Stat(base + ext); err == nil {
				found[filepath.Base(base)] = base + ext
				break
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

func obj(v any) map[string]any { m, _ := v.(map[string]any); return m }

func arr(v any) []any { a, _ := v.([]any); return a }

func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}
