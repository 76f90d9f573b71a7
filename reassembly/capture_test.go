package reassembly_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
)

// reassemble gives the segments of a capture to a new recorder.
func reassemble(t testing.TB, file string) *recorder {
	t.Helper()
	in, err := capture.Open(context.Background(), []string{file}, capture.Options{})
	require.NoError(t, err)
	defer in.Close()
	rec := newRecorder(t)
	a := reassembly.New(reassembly.Limits{}, rec)
	segs := capture.NewSegments(in, capture.Limits{})
	var s reassembly.Segment
	for {
		err := segs.Next(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		rec.flows[s.Packet] = s.Flow
		a.Segment(&s)
		if s.Packet%512 == 0 {
			a.Advance(s.Time)
		}
	}
	a.Flush()
	assert.Zero(t, a.Held())
	return rec
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b))[:12] }

// TestPublicStreams compares with what an independent reassembler found. It counts as missing
// what has captured bytes behind it, and names only streams with payload.
func TestPublicStreams(t *testing.T) {
	dir := corpus.Path(t, "captures", "public")
	list, err := os.Open(filepath.Join(dir, "link-streams.txt"))
	require.NoError(t, err)
	defer list.Close()
	want := map[string][]string{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		file, rest, ok := strings.Cut(lines.Text(), " stream ")
		require.True(t, ok, lines.Text())
		_, rest, _ = strings.Cut(rest, " ")
		want[file] = append(want[file], rest)
	}
	require.NotEmpty(t, want)
	for file, streams := range want {
		t.Run(file, func(t *testing.T) {
			rec := reassemble(t, filepath.Join(dir, "link", file))
			var got []string
			for _, k := range rec.conns {
				x, y := &k.dirs[0], &k.dirs[1]
				if k.opener != k.conn.Flow { // the list takes the side that spoke first for the client
					x, y = y, x
				}
				if len(x.bytes)+len(y.bytes) == 0 {
					continue
				}
				line := fmt.Sprintf("c2s %d %s s2c %d %s", len(x.bytes), digest(x.bytes), len(y.bytes), digest(y.bytes))
				if x.inner+y.inner > 0 {
					line += fmt.Sprintf(" missing %d %d", x.inner, y.inner)
				}
				got = append(got, line)
			}
			assert.ElementsMatch(t, streams, got)
		})
	}
}

// TestLabAdverse has variants of one capture: those that lose nothing have its bytes and no gap,
// the others have gaps and, where they have bytes, the same ones.
func TestLabAdverse(t *testing.T) {
	dir := corpus.Path(t, "captures", "lab", "broker")
	full := map[reassembly.Flow]*connection{}
	for _, k := range reassemble(t, filepath.Join(dir, "x-full.pcap.gz")).conns {
		full[k.conn.Flow] = k
		assert.Empty(t, k.dirs[0].gaps)
		assert.Empty(t, k.dirs[1].gaps)
	}
	require.NotEmpty(t, full)
	for name, lossless := range map[string]bool{"x-reorder": true, "x-dup": true, "x-reseg": true, "x-drop3": false, "x-snap128": false} {
		t.Run(name, func(t *testing.T) {
			rec := reassemble(t, filepath.Join(dir, name+".pcap.gz"))
			assert.Len(t, rec.conns, len(full))
			var have, missing, gaps int64
			for _, k := range rec.conns {
				flow, flip := k.conn.Flow, 0
				if full[flow] == nil {
					flow, flip = flow.Reverse(), 1
				}
				o := full[flow]
				require.NotNil(t, o)
				for d := range k.dirs {
					x, y := &k.dirs[d], &o.dirs[d^flip]
					have += int64(len(x.bytes))
					missing += x.missing
					gaps += int64(len(x.gaps))
					if lossless {
						assert.Equal(t, digest(y.bytes), digest(x.bytes))
						assert.Empty(t, x.gaps)
						continue
					}
					for i, at := range x.at {
						if y.bytes[at] != x.bytes[i] {
							t.Fatalf("byte at %d differs", at)
						}
					}
					assert.Equal(t, int64(len(y.bytes)), int64(len(x.bytes))+x.missing, "bytes and gaps of %v %d", flow, d)
				}
			}
			assert.Zero(t, rec.notes[reassembly.OutOfWindow]+rec.notes[reassembly.OverlapConflict])
			assert.Equal(t, lossless, gaps == 0)
			t.Logf("%d connections, %d bytes, %d missing in %d gaps", len(rec.conns), have, missing, gaps)
		})
	}
}

// TestLab reads every capture of the lab's brokers: none but the adverse ones lacks a byte.
func TestLab(t *testing.T) {
	files := corpus.Files(t, "captures", "lab", "broker", "*.pcap.gz")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pcap.gz")
		t.Run(name, func(t *testing.T) {
			rec := reassemble(t, file)
			ends := map[string]int{}
			var have, missing int64
			for _, k := range rec.conns {
				ends[k.why.String()]++
				for d := range k.dirs {
					have += int64(len(k.dirs[d].bytes))
					missing += k.dirs[d].missing
					if name != "x-drop3" && name != "x-snap128" && len(k.dirs[d].gaps) > 0 {
						t.Errorf("%v %d: gaps %v", k.conn.Flow.Src.AddrPort(), d, k.dirs[d].gaps)
					}
				}
			}
			t.Logf("%d connections %v, %d bytes, %d missing, notes %v", len(rec.conns), ends, have, missing, rec.notes)
		})
	}
}

// TestLabLink has one conversation in many shapes, all with the same bytes.
func TestLabLink(t *testing.T) {
	dir := corpus.Path(t, "captures", "lab", "link")
	files := corpus.Files(t, "captures", "lab", "link", "*.pcap*")
	base := reassemble(t, filepath.Join(dir, "base-ethernet-ipv4.pcapng")).conns
	require.Len(t, base, 1)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			rec := reassemble(t, file)
			require.Len(t, rec.conns, 1)
			gaps := 0
			for d := range rec.conns[0].dirs {
				x, y := &rec.conns[0].dirs[d], &base[0].dirs[d]
				if !strings.HasPrefix(name, "damaged-") {
					assert.Equal(t, digest(y.bytes), digest(x.bytes), "direction %d", d)
					assert.Empty(t, x.gaps)
				} else if rec.conns[0].conn.Flow == base[0].conn.Flow {
					assert.Equal(t, len(y.bytes), len(x.bytes)+int(x.missing), "direction %d", d)
				}
				gaps += len(x.gaps)
			}
			assert.Equal(t, strings.HasPrefix(name, "damaged-"), gaps > 0)
			assert.Zero(t, rec.notes[reassembly.OutOfWindow]+rec.notes[reassembly.OverlapConflict])
		})
	}
}
