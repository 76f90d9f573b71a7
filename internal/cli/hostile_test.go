package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/internal/fuzzing"
)

// Flags of TCP.
const (
	flagFIN = 0x01
	flagSYN = 0x02
	flagRST = 0x04
	flagACK = 0x10
)

// wire builds frames.
type wire []byte

func (w wire) i16(v int16) wire   { return binary.BigEndian.AppendUint16(w, uint16(v)) }
func (w wire) i32(v int32) wire   { return binary.BigEndian.AppendUint32(w, uint32(v)) }
func (w wire) add(b ...byte) wire { return append(w, b...) }
func (w wire) str(s string) wire  { return append(w.i16(int16(len(s))), s...) }
func (w wire) sized() []byte      { return append(wire(nil).i32(int32(len(w))), w...) }

// header begins a request with header v1, or v2 where it is flexible.
func header(key, version int16, id int32, flexible bool) wire {
	w := wire(nil).i16(key).i16(version).i32(id).str("evil")
	if flexible {
		w = w.add(0)
	}
	return w
}

// conversation writes connection n of a capture.
type conversation struct {
	h         *hostile
	n         int
	next      [2]uint32 // sequence numbers: the client's, the broker's
	exchanges int32
}

func converse(h *hostile, n int, isn uint32) *conversation {
	c := &conversation{h: h, n: n, next: [2]uint32{isn + 1, isn + 1}}
	h.segment(n, true, flagSYN, isn, 0, nil)
	h.segment(n, false, flagSYN|flagACK, isn, isn+1, nil)
	return c
}

// send writes bytes of one side, in packets that end with them.
func (c *conversation) send(client bool, b []byte) {
	for len(b) > 0 {
		n := min(len(b), 60_000)
		c.at(client, *c.seq(client), flagACK, b[:n])
		*c.seq(client) += uint32(n)
		b = b[n:]
	}
}

// lose is send without a packet.
func (c *conversation) lose(client bool, b []byte) { *c.seq(client) += uint32(len(b)) }

// at writes a packet with a sequence number.
func (c *conversation) at(client bool, seq uint32, flags byte, b []byte) {
	c.h.segment(c.n, client, flags, seq, *c.seq(!client), b)
}

func (c *conversation) seq(client bool) *uint32 {
	if client {
		return &c.next[0]
	}
	return &c.next[1]
}

// close ends the connection from both sides.
func (c *conversation) close() {
	for _, client := range []bool{true, false} {
		c.at(client, *c.seq(client), flagFIN|flagACK, nil)
		*c.seq(client)++
	}
}

// good writes a heartbeat and its answer, with ids from 1000 on.
func (c *conversation) good() {
	c.exchanges++
	id := 999 + c.exchanges
	q, r := heartbeatOf(id)
	c.send(true, q)
	c.send(false, r)
}

func heartbeatOf(id int32) (request, response []byte) {
	return header(12, 0, id, false).str("g").i32(1).str("m").sized(), wire(nil).i32(id).i16(0).sized()
}

// bomb is a Produce v3 request with a batch of 64 MB of zeros, compressed.
func bomb(t *testing.T, codec int16) []byte {
	zeros := make([]byte, 64<<20)
	var out bytes.Buffer
	switch codec {
	case 1:
		w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		require.NoError(t, err)
		_, _ = w.Write(zeros)
		require.NoError(t, w.Close())
	case 2:
		out.Write(snappy.Encode(nil, zeros))
	case 3:
		w := lz4.NewWriter(&out)
		_, _ = w.Write(zeros)
		require.NoError(t, w.Close())
	case 4:
		w, err := zstd.NewWriter(&out)
		require.NoError(t, err)
		_, _ = w.Write(zeros)
		require.NoError(t, w.Close())
	}
	batch := wire(nil).i32(0).add(2).i32(0).i16(codec).i32(0) // leader epoch, magic, crc, attributes, last offset delta
	batch = append(batch, make([]byte, 8+8+8+2+4)...)         // timestamps, producer
	batch = batch.i32(1)
	batch = append(batch, out.Bytes()...)
	set := append(wire(nil).i32(0).i32(0).i32(int32(len(batch))), batch...)
	return append(header(0, 3, 1, false).i16(-1).i16(1).i32(1000).i32(1).str("t").i32(1).i32(0).i32(int32(len(set))), set...).sized()
}

// envelopes are requests to forward a request to forward a request, and so on.
func envelopes(depth int) []byte {
	inner := []byte(header(12, 0, 7, false).str("g").i32(1).str("m"))
	for range depth {
		n := binary.AppendUvarint(nil, uint64(len(inner)+1))
		w := header(58, 0, 1, true)
		w = append(append(w, n...), inner...)
		inner = w.add(1, 0+5, 127, 0, 0, 1, 0)
	}
	return wire(inner).sized()
}

// hostileFrames are sent by a client between two good exchanges. What is wrong is told in one of
// the lines of JSON, as code, path and a part of the text.
var hostileFrames = []struct {
	name             string
	frames           func(t *testing.T) []byte
	code, path, text string
}{
	{"count of 2^31-1", func(*testing.T) []byte { return header(3, 1, 1, false).i32(1<<31 - 1).sized() },
		"malformed", "request.topics", "2147483647"},
	{"count of -2", func(*testing.T) []byte { return header(3, 1, 1, false).i32(-2).sized() },
		"malformed", "request.topics", "-2"},
	{"compact count of 2^32-2", func(*testing.T) []byte { return header(3, 9, 1, true).add(0xff, 0xff, 0xff, 0xff, 0x0f).sized() },
		"malformed", "request.topics", "4294967294"},
	{"string of -2", func(*testing.T) []byte { return header(10, 0, 1, false).i16(-2).sized() },
		"malformed", "request.key", "-2"},
	{"2^32-1 tags without data", func(*testing.T) []byte {
		return header(18, 3, 1, true).add(2, 'n', 2, 'v', 0xff, 0xff, 0xff, 0xff, 0x0f).sized()
	}, "malformed", "request", "4294967295"},
	{"2^32-1 tags in the header", func(*testing.T) []byte {
		return header(18, 3, 1, false).add(0xff, 0xff, 0xff, 0xff, 0x0f, 2, 'n', 2, 'v', 0).sized()
	}, "malformed", "", ""},
	{"tag of 2^32-1 bytes", func(*testing.T) []byte {
		return header(18, 3, 1, true).add(2, 'n', 2, 'v', 1, 9, 0xff, 0xff, 0xff, 0xff, 0x0f).sized()
	}, "malformed", "request", "4294967295"},
	{"varint of six bytes", func(*testing.T) []byte {
		return header(18, 3, 1, true).add(0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'n', 2, 'v', 0).sized()
	}, "malformed", "request.clientSoftwareName", ""},
	{"varint without end", func(*testing.T) []byte {
		return header(18, 3, 1, true).add(bytes.Repeat([]byte{0x80}, 5000)...).sized()
	}, "malformed", "request.clientSoftwareName", ""},
	{"gzip bomb", func(t *testing.T) []byte { return bomb(t, 1) }, "limit", "request.topicData[0].partitionData[0].records", ""},
	{"snappy bomb", func(t *testing.T) []byte { return bomb(t, 2) }, "limit", "request.topicData[0].partitionData[0].records", ""},
	{"lz4 bomb", func(t *testing.T) []byte { return bomb(t, 3) }, "limit", "request.topicData[0].partitionData[0].records", ""},
	{"zstd bomb", func(t *testing.T) []byte { return bomb(t, 4) }, "limit", "request.topicData[0].partitionData[0].records", ""},
	{"a thousand envelopes", func(*testing.T) []byte { return envelopes(1000) }, "limit", "request.requestData", "deep"},
	{"a million empty arrays", func(*testing.T) []byte {
		// OffsetCommit v2: topics of no partitions, 6 bytes each.
		w := header(8, 2, 1, false).str("g").i32(1).str("m").i32(0).i32(0).i32(1_000_000)
		return append(w, make([]byte, 6_000_000)...).sized()
	}, "", "", ""},
}

// issueOf is an issue in a line of JSON.
type issueOf struct{ Severity, Code, Path, Text string }

// lineOf is what these tests look at in a line of JSON.
type lineOf struct {
	RequestHeader *struct{ CorrelationID int32 }
	Capture       struct{ State string }
	Issues        []issueOf
}

// bounded is far more than any hostile capture takes, also on a busy machine, and far less than work
// that grows with a count that is only claimed.
const bounded = time.Minute

// within runs the program over a capture and holds it to bounded time, and to memory that is
// allocated in all.
func within(t *testing.T, memory uint64, args ...string) (stdout, stderr string) {
	t.Helper()
	var status int
	begun := time.Now()
	allocated := fuzzing.Allocated(func() { stdout, stderr, status = runMain(t, args...) })
	assert.Less(t, time.Since(begun), bounded, "%v", args)
	assert.Less(t, allocated, memory, "%v", args)
	assert.Contains(t, []int{exitDone, exitFailed}, status, "%v: %s", args, stderr)
	assert.NotContains(t, stderr, "in kdissect itself", "%v", args)
	return stdout, stderr
}

func issuesOf(t *testing.T, stdout string) (lines []lineOf) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		var v lineOf
		require.NoError(t, json.Unmarshal([]byte(line), &v), "%.200s", line)
		lines = append(lines, v)
	}
	return lines
}

// paired counts the good exchanges.
func paired(lines []lineOf) int {
	n := 0
	for _, l := range lines {
		if l.RequestHeader != nil && l.RequestHeader.CorrelationID >= 1000 && l.Capture.State == "paired" {
			n++
		}
	}
	return n
}

func TestHostileFrames(t *testing.T) {
	for _, tc := range hostileFrames {
		t.Run(tc.name, func(t *testing.T) {
			frames := tc.frames(t)
			file := newHostile(t, func(h *hostile) {
				c := converse(h, 0, 100)
				c.good()
				c.send(true, frames)
				c.good()
			})
			memory := uint64(256<<20 + 64*len(frames))
			out, _ := within(t, memory, "read", "-j", file)
			lines := issuesOf(t, out)
			assert.Equal(t, 2, paired(lines), "exchanges around it")
			if tc.code != "" {
				found := slices.ContainsFunc(lines, func(l lineOf) bool {
					return slices.ContainsFunc(l.Issues, func(i issueOf) bool {
						return i.Code == tc.code && strings.HasPrefix(i.Path, tc.path) && strings.Contains(i.Text, tc.text)
					})
				})
				assert.True(t, found, "%s in %q with %q: %+v", tc.code, tc.path, tc.text, lines)
			}
			for _, format := range []string{"tree", "summary"} {
				within(t, 4*memory, "read", "--format", format, file)
			}
			within(t, memory, "records", file)
		})
	}
}

// hostileStreams are connections that lie about their bytes. What becomes of them is told in the
// JSON of connections.
var hostileStreams = []struct {
	name  string
	write func(c *conversation)
	good  int    // exchanges that must be shown
	told  string // what must be told of the connection, with %d for any number
}{
	{"size of -1", func(c *conversation) {
		c.good()
		c.send(true, wire(nil).i32(-1))
		c.good()
	}, 2, `"length":4,"reason":"no frame found"`},
	{"size of 0", func(c *conversation) {
		c.good()
		c.send(true, wire(nil).i32(0))
		c.good()
	}, 2, `"length":4,"reason":"no frame found"`},
	{"size of 2^31-1", func(c *conversation) {
		c.good()
		c.send(true, wire(nil).i32(1<<31-1))
		c.good()
	}, 2, `"length":4,"reason":"no frame found"`},
	{"a response's size of 2^31-1", func(c *conversation) {
		c.good()
		c.send(false, wire(nil).i32(1<<31-1).i32(1001))
		c.good()
	}, 2, `"length":8,"reason":"no frame found"`},
	{"bytes sent again with other contents", func(c *conversation) {
		c.good()
		q, r := heartbeatOf(1001)
		begin, rest := c.next[0], c.next[0]+10
		c.at(true, rest, flagACK, q[10:])
		c.at(true, rest, flagACK, bytes.Repeat([]byte{0xff}, len(q)-10))
		c.at(true, begin, flagACK, q[:10])
		c.lose(true, q) // they are all there
		c.send(false, r)
		c.exchanges++
		c.good()
	}, 3, `"code":"overlap"`},
	{"a segment a GiB ahead", func(c *conversation) {
		c.good()
		c.at(true, c.next[0]+1<<30, flagACK, make([]byte, 1000))
		c.good()
	}, 2, `1000 bytes outside of the window`},
	{"segments 7 MB ahead, ten times", func(c *conversation) {
		c.good()
		for i := range uint32(10) {
			c.at(true, c.next[0]+7<<20+i*5000, flagACK, make([]byte, 1000))
		}
		c.good()
	}, 2, `"length":7340004,"reason":"not captured"`},
	{"numbers that wrap, with loss", func(c *conversation) {
		c.good()
		q, r := heartbeatOf(7)
		c.lose(true, q)
		c.send(false, r)
		c.good()
		c.good()
	}, 3, `"from":"client","offset":28,"length":28,"reason":"not captured"`},
	{"bytes behind the FIN", func(c *conversation) {
		c.good()
		c.close()
		c.at(true, c.next[0], flagACK, make([]byte, 5000))
	}, 1, `"end":"closed"`},
}

func TestHostileStreams(t *testing.T) {
	for _, tc := range hostileStreams {
		t.Run(tc.name, func(t *testing.T) {
			file := newHostile(t, func(h *hostile) { tc.write(converse(h, 0, 0xffffffff-60)) })
			const memory = 64 << 20
			out, _ := within(t, memory, "read", "-j", file)
			assert.Equal(t, tc.good, paired(issuesOf(t, out)), "exchanges: %s", out)
			out, _ = within(t, memory, "connections", "--format", "json", file)
			assert.Contains(t, out, tc.told)
			within(t, memory, "read", "-t", file)
		})
	}
}

// TestHalfOpenConnections counts them, in bounded memory.
func TestHalfOpenConnections(t *testing.T) {
	const n = 10_000
	file := newHostile(t, func(h *hostile) {
		for i := range n {
			h.packet(i, true, flagSYN, 1, nil)
		}
	})
	out, _ := within(t, 8192*n+(32<<20), "connections", "--format", "json", file)
	assert.Equal(t, n, strings.Count(out, `"protocol":"empty"`))
	out, _ = within(t, 8192*n+(32<<20), "read", file)
	assert.Empty(t, out)
}

// TestHostileBlocks changes a pcapng file: what is wrong is told with its place, and what can be
// read is.
func TestHostileBlocks(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("..", "..", "testdata", "pcaps", "produce-fetch.pcapng"))
	require.NoError(t, err)
	const section, iface, first, third = 0, 192, 304, 520 // of blocks; the third packet is the client's first bytes
	put := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[at:], v)
			return b
		}
	}
	for _, tc := range []struct {
		name   string
		change func([]byte) []byte
		told   []string
	}{
		{"length of 0", put(third+4, 0), []string{"a block claims a length of 0", "byte 520"}},
		{"length of 9", put(third+4, 9), []string{"a block claims a length of 9", "byte 520"}},
		{"length of 2^32-1", put(third+4, 1<<32-1), []string{"a block claims a length of 4294967295", "byte 520"}},
		{"length of 2^31", put(third+4, 1<<31), []string{"claims 2147483648 bytes (limit", "byte 520"}},
		{"length that covers the next one", put(third+4, 248), []string{"a block's length is 248 at its begin and 148 at its end", "byte 520"}},
		{"length that differs at the end", put(third+96, 96), []string{"a block's length is 100 at its begin and 96 at its end", "byte 520"}},
		{"more captured than there is room for", put(third+20, 1000), []string{"packet 3 at byte 520 claims 1000 captured bytes"}},
		{"interface that does not exist", put(third+8, 77), []string{"packet 3 at byte 520 names interface 77, which is not described"}},
		{"interface that comes too late", func(b []byte) []byte {
			return slices.Concat(b[:iface], b[first:third], b[iface:first], b[third:])
		}, []string{"packet 1 at byte 192 names interface 0, which is not described"}},
		{"section that begins anew, without interfaces", func(b []byte) []byte {
			return slices.Concat(b[:third], b[section:iface], b[third:])
		}, []string{"names interface 0, which is not described"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "hostile.pcapng")
			require.NoError(t, os.WriteFile(file, tc.change(slices.Clone(whole)), 0o666))
			for _, args := range [][]string{{"read", "-j"}, {"read", "-t"}, {"connections"}} {
				_, stderr := within(t, 64<<20, append(args, file)...)
				for _, told := range tc.told {
					assert.Contains(t, stderr, told)
				}
			}
		})
	}
}

// TestFilesCutAnywhere reads every beginning of a pcap and of a pcapng file: the whole program
// ends well, says where the file ends, and shows what is there.
func TestFilesCutAnywhere(t *testing.T) {
	pcap := newHostile(t, func(h *hostile) {
		c := converse(h, 0, 7)
		c.good()
		c.good()
		c.close()
	})
	for _, name := range []string{filepath.Join("..", "..", "testdata", "pcaps", "produce-fetch.pcapng"), pcap} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			whole, err := os.ReadFile(name)
			require.NoError(t, err)
			step := 1
			if corpus.Race || testing.Short() {
				step = 23
			}
			before := 0
			for n := 0; n <= len(whole); n += step {
				var stdout, stderr bytes.Buffer
				status := Main([]string{"read", "-j", "-"}, bytes.NewReader(whole[:n]), &stdout, &stderr)
				require.Contains(t, []int{exitDone, exitFailed}, status, "%d bytes", n)
				require.NotContains(t, stderr.String(), "in kdissect itself", "%d bytes", n)
				if status == exitFailed {
					require.Less(t, n, 200, "%d bytes: %s", n, stderr.String())
					require.NotEmpty(t, stderr.String())
					continue
				}
				// What is paired stays so as more of the file is there.
				now := strings.Count(stdout.String(), `"state":"paired"`)
				require.GreaterOrEqual(t, now, before, "%d bytes", n)
				before = now
			}
			assert.Positive(t, before)
		})
	}
}

// TestPacketsCutAnywhere cuts all packets of each link type, tunnel and fragmentation at every
// length, as snapshot lengths do: what is shown as whole is what the whole capture shows.
func TestPacketsCutAnywhere(t *testing.T) {
	files := corpus.Files(t, "captures", "lab", "link", "*.pcap*")
	step := 2 // every other file begins at the other half of the lengths
	if corpus.Race || testing.Short() {
		step = 19
	}
	runs, shown := 0, 0
	for i, file := range files {
		packets, link := packetsOf(t, file)
		whole := map[string]bool{}
		for _, line := range pairedBodies(t, packets, link, 1<<16) {
			whole[line] = true
		}
		longest := 0
		for _, p := range packets {
			longest = max(longest, len(p.Data))
		}
		for n := 1 + i%2; n < longest; n += step {
			if n > 160 { // behind all headers
				n += 100
			}
			for _, line := range pairedBodies(t, packets, link, n) {
				require.True(t, whole[line], "%s cut at %d: %s", filepath.Base(file), n, line)
				shown++
			}
			runs++
		}
	}
	t.Logf("%d files, %d lengths, %d whole exchanges", len(files), runs, shown)
	assert.Positive(t, shown)
}

// packetsOf returns the packets of a capture that has one link type.
func packetsOf(t *testing.T, file string) (packets []capture.Packet, link capture.LinkType) {
	t.Helper()
	r, err := capture.Open(t.Context(), []string{file}, capture.Options{})
	require.NoError(t, err)
	defer r.Close()
	for {
		var p capture.Packet
		if err := r.Next(&p); err == io.EOF {
			return packets, link
		} else {
			require.NoError(t, err)
		}
		p.Data = slices.Clone(p.Data)
		packets, link = append(packets, p), p.Link
	}
}

// pairedBodies writes packets as a capture with a snapshot length, reads it, and returns header,
// request and response of the exchanges that are shown as paired.
func pairedBodies(t *testing.T, packets []capture.Packet, link capture.LinkType, snap int) (lines []string) {
	t.Helper()
	b := make([]byte, 24)
	binary.LittleEndian.PutUint32(b, 0xa1b23c4d)
	binary.LittleEndian.PutUint16(b[4:], 2)
	binary.LittleEndian.PutUint16(b[6:], 4)
	binary.LittleEndian.PutUint32(b[16:], uint32(snap))
	binary.LittleEndian.PutUint32(b[20:], uint32(link))
	for _, p := range packets {
		data := p.Data[:min(len(p.Data), snap)]
		for _, v := range []int64{p.Time / 1e9, p.Time % 1e9, int64(len(data)), int64(p.WireLen)} {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		b = append(b, data...)
	}
	var stdout, stderr bytes.Buffer
	status := Main([]string{"read", "-j", "-"}, bytes.NewReader(b), &stdout, &stderr)
	require.Equal(t, exitDone, status, stderr.String())
	require.NotContains(t, stderr.String(), "in kdissect itself")
	for line := range strings.Lines(stdout.String()) {
		if strings.Contains(line, `"state":"paired"`) {
			lines = append(lines, line[:strings.LastIndex(line, `,"connection":"`)])
		}
	}
	return lines
}
