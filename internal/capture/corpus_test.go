package capture

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
)

// opened reads one file of the corpora whole.
func opened(t *testing.T, name string) ([]reassembly.Segment, Stats, []Warning) {
	t.Helper()
	var warnings []Warning
	r, err := Open(context.Background(), []string{name}, Options{Warn: func(w Warning) { warnings = append(warnings, w) }})
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	segments := readSegments(t, r)
	return segments, r.Stats(), warnings
}

// stream is one direction as a simple reassembler sees it: bytes by sequence number, the first
// copy of each winning.
type stream struct {
	started bool
	base    uint32
	bytes   map[int32]byte
}

func (s *stream) add(seg *reassembly.Segment) {
	seq := seg.Seq
	if seg.Flags&reassembly.SYN != 0 {
		seq++
	}
	if !s.started {
		s.started, s.base, s.bytes = true, seq, map[int32]byte{}
	}
	for i, b := range seg.Payload {
		at := int32(seq - s.base + uint32(i))
		if _, ok := s.bytes[at]; !ok {
			s.bytes[at] = b
		}
	}
}

func (s *stream) content() []byte {
	at := make([]int, 0, len(s.bytes))
	for k := range s.bytes {
		at = append(at, int(k))
	}
	sort.Ints(at)
	out := make([]byte, len(at))
	for i, k := range at {
		out[i] = s.bytes[int32(k)]
	}
	return out
}

// streamsOf puts each connection's two directions together, the side that is seen first in
// front. A SYN on known addresses begins another connection.
func streamsOf(segments []reassembly.Segment) [][2][]byte {
	type conn struct {
		first reassembly.Flow
		dirs  [2]stream
	}
	var all []*conn
	open := map[reassembly.Flow]*conn{}
	for i := range segments {
		seg := &segments[i]
		c := open[seg.Flow]
		again := seg.Flags&(reassembly.SYN|reassembly.ACK) == reassembly.SYN && c != nil && (len(c.dirs[0].bytes) > 0 || len(c.dirs[1].bytes) > 0)
		if c == nil || again {
			c = &conn{first: seg.Flow}
			open[seg.Flow], open[seg.Flow.Reverse()] = c, c
			all = append(all, c)
		}
		dir := 0
		if seg.Flow != c.first {
			dir = 1
		}
		c.dirs[dir].add(seg)
	}
	out := make([][2][]byte, len(all))
	for i, c := range all {
		out[i] = [2][]byte{c.dirs[0].content(), c.dirs[1].content()}
	}
	return out
}

// What the lab's README lists in front of the variants that are not equal to the base.
func TestLabLinkEqualsBase(t *testing.T) {
	dir := corpus.Path(t, "captures/lab/link")
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	list := regexp.MustCompile(`(?m)^Frames: (.*)$`).FindSubmatch(readme)
	require.NotNil(t, list)
	frames := map[string]int64{}
	for _, entry := range strings.Split(string(list[1]), ", ") {
		name, count, ok := strings.Cut(entry, " ")
		require.True(t, ok)
		frames[name], err = strconv.ParseInt(count, 10, 64)
		require.NoError(t, err)
	}
	base, _, _ := opened(t, filepath.Join(dir, "base-ethernet-ipv4.pcapng"))
	want := streamsOf(base)
	require.Len(t, want, 1)
	require.NotEmpty(t, want[0][0])
	require.NotEmpty(t, want[0][1])
	for _, name := range corpus.Files(t, "captures/lab/link", "*.pcap*") {
		short, _, _ := strings.Cut(filepath.Base(name), ".")
		t.Run(short, func(t *testing.T) {
			segments, st, warnings := opened(t, name)
			assert.Empty(t, warnings)
			assert.Equal(t, frames[short], st.Packets)
			assert.Equal(t, st.Packets, st.Segments()+st.Verdicts[FragmentWaiting], "all packets belong to TCP")
			assert.Zero(t, st.Incomplete)
			if short == "damaged-snaplen" {
				require.Len(t, segments, len(base))
				for i := range base {
					assert.Equal(t, base[i].WireLen, segments[i].WireLen)
					assert.Equal(t, string(base[i].Payload[:len(segments[i].Payload)]), string(segments[i].Payload))
				}
			}
			if strings.HasPrefix(short, "damaged-") {
				return
			}
			got := streamsOf(segments)
			require.Len(t, got, 1)
			if short == "tcp-keepalive" {
				// Its probes carry a byte of their own at a place where data follows or went before.
				assert.Len(t, got[0][0], len(want[0][0]))
				assert.Equal(t, string(want[0][1]), string(got[0][1]))
				return
			}
			assert.Equal(t, string(want[0][0]), string(got[0][0]))
			assert.Equal(t, string(want[0][1]), string(got[0][1]))
		})
	}
}

func TestPublicLinkStreams(t *testing.T) {
	list, err := os.ReadFile(corpus.Path(t, "captures/public/link-streams.txt"))
	require.NoError(t, err)
	digest := func(b []byte) string {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:6])
	}
	files := map[string][]string{}
	scan := bufio.NewScanner(bytes.NewReader(list))
	for scan.Scan() {
		f := strings.Fields(scan.Text())
		require.GreaterOrEqual(t, len(f), 9)
		files[f[0]] = append(files[f[0]], strings.Join(f[3:9], " "))
	}
	require.NotEmpty(t, files)
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			segments, _, warnings := opened(t, filepath.Join(corpus.Path(t, "captures/public/link"), name))
			assert.Empty(t, warnings)
			var got []string
			for _, s := range streamsOf(segments) {
				if len(s[0])+len(s[1]) > 0 {
					got = append(got, fmt.Sprintf("c2s %d %s s2c %d %s", len(s[0]), digest(s[0]), len(s[1]), digest(s[1])))
				}
			}
			assert.Equal(t, want, got)
		})
	}
}

// Numbers of packets and of packets with TCP as tshark 4.0.17 counts them, fragments that do not
// complete a datagram apart. Where ours differs it is noted.
func TestPublicLinkPackets(t *testing.T) {
	dir := corpus.Path(t, "captures/public/link")
	for name, want := range tsharkCounts {
		_, st, warnings := opened(t, filepath.Join(dir, name))
		assert.Empty(t, warnings, name)
		assert.Equal(t, want, [2]int64{st.Packets, st.Segments()}, name)
	}
	assert.Len(t, corpus.Files(t, "captures/public/link", "*.pcap*"), len(tsharkCounts))
}

func TestBigTCP(t *testing.T) {
	dir := corpus.Path(t, "captures/public/link")
	for name, want := range map[string]int{
		"the-tcpdump-group+tcpdump+bigtcp-ipv6.pcap":           79968,
		"the-tcpdump-group+tcpdump+gso-ipv6.pcap":              7140,
		"the-tcpdump-group+tcpdump+gso-ipv4-vxlan-ipv4.pcap":   6990,
		"the-tcpdump-group+tcpdump+ipv4_tcp_http_xml_tso.pcap": 1976,
	} {
		segments, _, _ := opened(t, filepath.Join(dir, name))
		require.Len(t, segments, 1, name)
		assert.Equal(t, want, segments[0].WireLen, name)
	}
}

func TestEveryCaptureReads(t *testing.T) {
	for _, dir := range []string{"captures/public/kafka", "captures/public/link", "captures/lab/link", "captures/lab/broker", "captures/lab/clients"} {
		for _, name := range corpus.Files(t, dir, "*.pcap*") {
			_, st, warnings := opened(t, name)
			assert.Empty(t, warnings, name)
			if dir != "captures/public/link" {
				assert.Equal(t, st.Packets, st.Segments()+st.Verdicts[FragmentWaiting], "%s: %v", name, st.Verdicts)
				assert.Positive(t, st.Packets, name)
			}
		}
	}
}

func TestSecretsInsideCaptures(t *testing.T) {
	for _, name := range []string{"captures/lab/broker/i-tls12.dsb.pcapng.gz", "captures/lab/broker/i-tls13.dsb.pcapng.gz", "captures/public/link/iconmzy+mzy_tshark+tls12-dsb.pcapng"} {
		var secrets []byte
		r, err := Open(context.Background(), []string{corpus.Path(t, name)}, Options{Secrets: func(s Secrets) {
			assert.Equal(t, uint32(SecretsTLSKeyLog), s.Type)
			secrets = append(secrets, s.Data...)
		}})
		require.NoError(t, err)
		readSegments(t, r)
		require.NoError(t, r.Close())
		if lab, ok := strings.CutSuffix(name, ".dsb.pcapng.gz"); ok {
			keys, err := os.ReadFile(corpus.Path(t, lab+".keys"))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(keys, secrets), "%s differs from its key log", name)
			continue
		}
		assert.True(t, bytes.Contains(secrets, []byte("CLIENT_RANDOM ")), name)
	}
}

// Every file of the lab's link folder, cut anywhere: whole packets, and a warning unless it ends
// between records.
func TestLabLinkCutAnywhere(t *testing.T) {
	for _, name := range corpus.Files(t, "captures/lab/link", "*.pcap*") {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		step := 1
		if testing.Short() || len(data) > 5_500 {
			step = 11
		}
		whole := readPackets(t, data)
		for n := 4; n <= len(data); n += step {
			var warnings []Warning
			r, err := Open(context.Background(), []string{"-"}, Options{
				Stdin:  bytes.NewReader(data[:n]),
				Limits: Limits{Block: 4 << 10},
				Warn:   func(w Warning) { warnings = append(warnings, w) },
			})
			require.NoError(t, err)
			segments := readSegments(t, r)
			st := r.Stats()
			require.NoError(t, r.Close())
			last := int64(-1)
			for _, w := range whole {
				if w.end <= int64(n) {
					last = w.number
				}
			}
			require.Equal(t, max(last, 0), st.Packets, "%s cut at %d", name, n)
			require.LessOrEqual(t, int64(len(segments)), st.Packets)
			require.LessOrEqual(t, len(warnings), 1)
			if len(warnings) == 1 {
				require.Equal(t, int64(n), warnings[0].Offset, "%s cut at %d", name, n)
			}
		}
	}
}

type extent struct{ number, end int64 }

// readPackets returns where each packet's record ends.
func readPackets(t *testing.T, data []byte) []extent {
	r, err := openBytes(t, data, Options{})
	require.NoError(t, err)
	var out []extent
	var p Packet
	for r.Next(&p) == nil {
		out = append(out, extent{p.Number, r.heads[0].file.w.off})
	}
	return out
}
