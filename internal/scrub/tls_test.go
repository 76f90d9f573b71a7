package scrub

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/tls"
	"github.com/kdissect/kdissect/reassembly"
)

// spoken are the exchanges of a capture without where they lie in it.
type spoken struct {
	exchanges []string
	gaps      int64
}

func (s *spoken) Exchange(x *dissect.Exchange) {
	text := fmt.Sprint(x.Conn.TCP.ID, x.State)
	for _, f := range []*dissect.Frame{x.Request, x.Response} {
		if f != nil {
			text += fmt.Sprint(" ", f.APIKey, f.Version, f.CorrelationID, len(f.Bytes), f.Size, f.Offset)
		}
	}
	s.exchanges = append(s.exchanges, text)
}

func (s *spoken) Closed(c *dissect.Connection, _ reassembly.End) {
	s.gaps += c.TCP.Odd[0].Gaps + c.TCP.Odd[1].Gaps
}

func speak(t *testing.T, name string, keys *tls.Keys) *spoken {
	t.Helper()
	s := &spoken{}
	var h reassembly.Handler = dissect.New(dissect.Options{Handler: s})
	if keys != nil {
		h = tls.New(h, tls.Options{Keys: keys})
	}
	a := reassembly.New(reassembly.Limits{}, h)
	dec := capture.NewDecoder(capture.Limits{})
	var seg reassembly.Segment
	require.NoError(t, each(context.Background(), name, 0, Options{}, capture.Options{Secrets: secrets(keys)}, func(p *capture.Packet) error {
		if dec.Decode(p, &seg) == capture.TCPSegment {
			a.Advance(seg.Time)
			a.Segment(&seg)
		}
		return nil
	}))
	a.Flush()
	sort.Strings(s.exchanges)
	return s
}

func TestDecryptedBecomesPlain(t *testing.T) {
	tried := 0
	for _, name := range captures(t) {
		base, _, _ := strings.Cut(name, ".pcap")
		log, err := os.ReadFile(strings.TrimSuffix(base, ".dsb") + ".keys")
		if err != nil {
			continue
		}
		tried++
		t.Run(filepath.Base(name), func(t *testing.T) {
			keys := tls.NewKeys(0)
			if !strings.HasSuffix(base, ".dsb") { // else they are inside
				keys.Add(log)
			}
			before := speak(t, name, keys)
			require.NotEmpty(t, before.exchanges)
			out := filepath.Join(t.TempDir(), filepath.Base(name))
			opt := all
			opt.Keys = keys
			rep, err := File(context.Background(), name, out, opt)
			require.NoError(t, err)
			assert.Positive(t, rep.Decrypted)
			assert.Zero(t, rep.Encrypted)
			after := speak(t, out, nil)
			assert.Equal(t, before.exchanges, after.exchanges)
			assert.Zero(t, after.gaps)
		})
	}
	assert.GreaterOrEqual(t, tried, atLeast(6))
}

func TestServerNamesAreHidden(t *testing.T) {
	name := filepath.Join("..", "..", "testdata", "pcaps", "not-kafka-tls.pcapng")
	out := filepath.Join(t.TempDir(), "out")
	rep, err := File(context.Background(), name, out, Options{Key: "test"})
	require.NoError(t, err)
	assert.EqualValues(t, 1, rep.Encrypted)
	was, err := os.ReadFile(name)
	require.NoError(t, err)
	now, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(was), "localhost")
	assert.Contains(t, string(now), "localhost", "left as it is")

	_, err = File(context.Background(), name, out, all)
	require.NoError(t, err)
	now, err = os.ReadFile(out)
	require.NoError(t, err)
	assert.NotContains(t, string(now), "localhost")
}

func TestHandshakesEndWithTheFirstEncryptedRecord(t *testing.T) {
	stream := []byte("\x16\x03\x01\x00\x04helo\x16\x03\x03\x00\x02ok\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x04fini")
	want := "\x16\x03\x01\x00\x04\x00\x00\x00\x00\x16\x03\x03\x00\x02\x00\x00\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x04fini"
	for cut := range len(stream) {
		var h handshake
		h.chunk(0, stream[:cut])
		h.chunk(int64(cut), stream[cut:])
		got := bytes.Clone(stream)
		h.hide(0, got[:cut])
		h.hide(int64(cut), got[cut:])
		assert.Equal(t, want, string(got), "cut at %d", cut)
	}
	var h handshake
	h.chunk(0, stream[:7])
	h.gap(7)
	h.chunk(9, stream[9:])
	got := bytes.Clone(stream)
	h.hide(0, got)
	assert.Equal(t, "\x16\x03\x01\x00\x04", string(bytes.TrimRight(got, "\x00")))
}
