package dissect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/corpus"
)

// The captures of public/link hold all kinds of traffic, none of it Kafka.
func TestPublicTrafficIsNoKafka(t *testing.T) {
	dir := corpus.Path(t, "captures/public/link")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	found := map[dissect.Protocol]int{}
	for _, f := range files {
		c := read(t, dissect.Options{}, false, "captures/public/link", f.Name())
		for _, k := range c.conns {
			found[k.Protocol]++
			assert.NotEqual(t, dissect.ProtocolKafka, k.Protocol, "%s: %v", f.Name(), k.tcp.Flow)
		}
		assert.Empty(t, c.exchanges, f.Name())
	}
	t.Logf("connections by protocol: %v", found)
	assert.Positive(t, found[dissect.ProtocolTLS])
	assert.Positive(t, found[dissect.ProtocolHTTP])
	assert.Positive(t, found[dissect.ProtocolUnknown])
}

// The captures of lab/link hold one conversation behind every link type; the damaged ones a part of it.
func TestLabLinkTypes(t *testing.T) {
	base := read(t, dissect.Options{}, true, "captures/lab/link/base-ethernet-ipv4.pcapng")
	require.NotEmpty(t, base.exchanges)
	files := corpus.Files(t, "captures/lab/link", "*.pcap*")
	require.Greater(t, len(files), 40)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			c := read(t, dissect.Options{}, true, "captures/lab/link", filepath.Base(f))
			if strings.Contains(f, "damaged-") {
				whole := map[string]bool{}
				for _, x := range base.exchanges {
					whole[string(x.Req.Bytes)], whole[string(x.Resp.Bytes)] = true, true
				}
				for _, x := range c.exchanges {
					for _, h := range []*half{x.Req, x.Resp} {
						if h != nil && !h.Cut {
							assert.True(t, whole[string(h.Bytes)], "%+v", h)
						}
					}
				}
				assert.NotEmpty(t, c.exchanges)
				return
			}
			require.Len(t, c.exchanges, len(base.exchanges))
			for i, x := range c.exchanges {
				want := base.exchanges[i]
				assert.Equal(t, want.State, x.State)
				assert.Equal(t, want.Req.Bytes, x.Req.Bytes)
				assert.Equal(t, want.Resp.Bytes, x.Resp.Bytes)
			}
			assert.Empty(t, c.skips)
		})
	}
}
