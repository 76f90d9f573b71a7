package cli

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// one writes a connection that sends a frame between two good exchanges.
func one(frame func(*testing.T) []byte) func(*testing.T, *hostile) {
	return func(t *testing.T, h *hostile) {
		c := converse(h, 0, 100)
		c.good()
		c.send(true, frame(t))
		c.good()
		c.close()
	}
}

func produced(records []byte, count int32) func(*testing.T) []byte {
	return func(*testing.T) []byte { return produceOf(batchOf(records, count)) }
}

// topicIDs is a Metadata v12 request and a response that names n topics.
func topicIDs(n int) (request, response []byte) {
	request = header(3, 12, 1, true).add(0, 0, 0, 0).sized()
	w := wire(nil).i32(1).add(0).i32(0).add(1, 0).i32(-1)
	w = append(w, binary.AppendUvarint(nil, uint64(n+1))...)
	for i := range n {
		w = w.i16(0).add(3, 't', byte('a'+i%26))
		w = append(w, make([]byte, 11)...)
		w = w.add(9).i32(int32(i)).add(0, 1).i32(0).add(0)
	}
	return request, w.add(0).sized()
}

// limitsHit hit each limit: what is shown has an issue, or an end of a connection, that says so, and the last line
// on stderr counts it, with the flag that raises it.
var limitsHit = []struct {
	name, args  string
	write       func(*testing.T, *hostile)
	shown, told string
}{
	{"frame", "read -j --max-frame 64KiB", one(produced(recordOf(make([]byte, 100_000)), 1)),
		`"code":"limit","text":"frame of 100117 bytes is over our limit: 4096 bytes kept"`, "1 exchange (cut or not waited for: --max-frame"},
	{"frame, bytes", "read -j --max-frame 64KiB", one(produced(recordOf(make([]byte, 100_000)), 1)), `"code":"limit"`, "96021 bytes (given up: --max-frame"},
	{"buffer", "read -j --max-buffer 64KiB", one(produced(recordOf(make([]byte, 100_000)), 1)),
		`"text":"frame of 100117 bytes is over our limit`, "1 exchange (cut or not waited for: --max-frame, --max-buffer"},
	{"bytes in flight", "read -j --max-connection-buffer 64KiB", func(t *testing.T, h *hostile) {
		c := converse(h, 0, 100)
		c.good()
		for id := range int32(3) {
			c.send(true, header(0, 3, id, false).i16(-1).i16(1).i32(1000).i32(1).str("t").i32(1).i32(0).i32(40_000).add(make([]byte, 40_000)...).sized())
		}
		c.close()
	}, `"text":"too many bytes in flight: 512 of 40045 kept"`, "2 exchanges (cut or not waited for: --max-frame, --max-buffer, --max-connection-buffer"},
	{"bytes behind a hole", "connections --format json --max-connection-buffer 64KiB", func(t *testing.T, h *hostile) {
		c := converse(h, 0, 100)
		c.good()
		c.lose(true, make([]byte, 5000))
		for range 100 {
			c.send(true, make([]byte, 1400))
		}
	}, `"length":5000,"reason":"buffer limit"`, "5000 bytes (given up: --max-frame, --max-buffer, --max-connection-buffer"},
	{"many holes", "connections --format json --max-connection-buffer 64KiB", func(t *testing.T, h *hostile) {
		c := converse(h, 0, 100)
		c.good()
		for range 200 {
			c.lose(true, make([]byte, 5))
			for range 60 {
				c.send(true, make([]byte, 1400))
			}
		}
	}, `"reason":"buffer limit"`, "1000 bytes (given up"},
	{"connections", "connections --format json --max-connections 10 --workers 1", func(t *testing.T, h *hostile) {
		for n := range 30 {
			converse(h, n, 100).good()
		}
	}, `"end":"connection limit"`, "20 connections (closed early: --max-connections)"},
	{"in flight", "read -j --max-in-flight 3", func(t *testing.T, h *hostile) {
		c := converse(h, 0, 100)
		c.good()
		for id := range int32(10) {
			q, _ := heartbeatOf(id)
			c.send(true, q)
		}
		c.close()
	}, `"text":"more than 3 requests in flight: its response is not waited for any longer"`,
		"7 exchanges (cut or not waited for: --max-frame, --max-buffer, --max-connection-buffer, --max-in-flight)"},
	{"decompressed", "read -j --max-decompressed 64KiB", one(func(t *testing.T) []byte { return bomb(t, 4) }),
		`"code":"limit","text":"zstd: `, "1 exchange (not decoded or written whole: --max-decompressed, --max-ratio"},
	{"decompressed, records", "records -j --max-decompressed 64KiB", one(func(t *testing.T) []byte { return bomb(t, 1) }),
		`"code":"limit","text":"gzip: `, "1 exchange (not decoded or written whole: --max-decompressed, --max-ratio"},
	{"ratio", "read -t --max-ratio 1 --max-decompressed 1GiB", one(func(t *testing.T) []byte { return bomb(t, 4) }),
		"!! limit: zstd: ", "1 exchange (not decoded or written whole: --max-decompressed, --max-ratio"},
	{"nodes", "read -t --max-nodes 1000", one(produced(bytes.Repeat(recordOf([]byte("v")), 1000), 1000)),
		"!! limit: the tree is at its limit of 1000 nodes", "1 exchange (not decoded or written whole: --max-decompressed, --max-ratio, --max-nodes"},
	{"nodes of a page", "layout --frame 2 --max-nodes 1000", one(produced(bytes.Repeat(recordOf([]byte("v")), 1000), 1000)),
		"!! limit: the tree is at its limit of 1000 nodes", "1 exchange (not decoded or written whole: --max-decompressed, --max-ratio, --max-nodes"},
	{"decompressed, of a page", "layout --frame 3 --max-decompressed 64KiB", one(func(t *testing.T) []byte { return bomb(t, 1) }),
		"!! limit: gzip: ", "1 exchange (not decoded or written whole: --max-decompressed"},
	{"text", "read -j --workers 2 --max-text 2MiB", one(produced(recordOf(bytes.Repeat([]byte{1}, 3<<20)), 1)),
		`"code":"limit","text":"the text that several workers have made is at its limit of 2MiB (--max-text, --max-memory; --workers 1 has none): the rest of this value`,
		"1 exchange (not decoded or written whole: --max-decompressed, --max-ratio, --max-nodes, --max-text)"},
	{"text of a tree", "read -tx --workers 2 --max-text 2MiB", one(produced(recordOf(bytes.Repeat([]byte{1}, 3<<20)), 1)),
		"!! limit: the text that several workers have made is at its limit of 2MiB", "1 exchange (not decoded or written whole"},
	{"text that --where sees", `read -j --max-text 64KiB --where=request.acks==0`, one(produced(recordOf(bytes.Repeat([]byte{1}, 3<<20)), 1)),
		`"acks":0`, "1 exchange (of which --where saw the beginning: --max-text)"},
	{"payloads within payloads", "read -j", one(func(*testing.T) []byte { return envelopes(10) }),
		`"code":"limit","text":"nested too deep`, "1 exchange (not decoded or written whole"},
	{"issues of a record set", "read -j", one(func(*testing.T) []byte {
		b := batchOf(recordOf([]byte("v")), 1)
		b[17]++
		return produceOf(bytes.Repeat(b, 1000))
	}), `"code":"limit","text":"more than 100 issues in one record set"`, "1 exchange (not decoded or written whole"},
	{"batches", "read -j", one(func(*testing.T) []byte {
		b := batchOf(recordOf([]byte("v")), 1)
		copy(b[43:], make([]byte, 14)) // a producer, its epoch and sequence
		return produceOf(bytes.Repeat(b, maxCheckedBatches+1))
	}), `"code":"limit","text":"too many batches: not all are held against those before them"`, "1 exchange (not decoded or written whole"},
	{"headers", "records -j", one(func(*testing.T) []byte {
		body := append([]byte{0, 0, 0, 1, 1}, binary.AppendVarint(nil, 70_000)...)
		body = append(body, bytes.Repeat([]byte{0, 1}, 70_000)...)
		return produceOf(batchOf(append(binary.AppendVarint(nil, int64(len(body))), body...), 1))
	}), `"code":"limit","text":"a record has more than 65536 headers`, "1 exchange (not decoded or written whole"},
	{"topic ids", "read", func(t *testing.T, h *hostile) {
		c := converse(h, 0, 100)
		c.good()
		q, r := topicIDs(100_001)
		c.send(true, q)
		c.send(false, r)
		c.close()
	}, "Metadata v12", "names of more topic ids than are remembered"},
}

// maxCheckedBatches is what output holds against each other of an exchange.
const maxCheckedBatches = 16 << 10

func TestLimitsThatAreHit(t *testing.T) {
	for _, tc := range limitsHit {
		t.Run(tc.name, func(t *testing.T) {
			file := newHostile(t, func(h *hostile) { tc.write(t, h) })
			stdout, stderr, status := runMain(t, append(strings.Fields(tc.args), file)...)
			require.Equal(t, exitDone, status, stderr)
			assert.True(t, strings.Contains(stdout, tc.shown), "%s in %.3000s", tc.shown, stdout)
			assert.Contains(t, stderr, "at its limits: ")
			assert.Contains(t, stderr, tc.told)
		})
	}
}

// TestLimitsOfDecode does the same with frames that are given.
func TestLimitsOfDecode(t *testing.T) {
	frame := bomb(t, 1)
	records := produceOf(batchOf(bytes.Repeat(recordOf([]byte("v")), 1000), 1000))
	for _, tc := range []struct {
		args, shown string
		frame       []byte
	}{
		{"-t --max-nodes 1000", "!! limit: the tree is at its limit of 1000 nodes", records},
		{"-j --max-decompressed 64KiB", `"code":"limit","text":"gzip: `, frame},
		{"-t --max-ratio 1 --max-decompressed 1GiB", "!! limit: gzip: ", frame},
	} {
		var stdout, stderr bytes.Buffer
		Main(append(strings.Fields("decode --input binary "+tc.args), "-"), bytes.NewReader(tc.frame), &stdout, &stderr)
		assert.Contains(t, stdout.String(), tc.shown, tc.args)
		assert.Contains(t, stderr.String(), "at its limits: 1 frame (not decoded whole", tc.args)
	}
}

// TestLimitsOfScrub: what a limit keeps from being decoded is told, and not kept.
func TestLimitsOfScrub(t *testing.T) {
	file := newHostile(t, func(h *hostile) { one(func(t *testing.T) []byte { return bomb(t, 1) })(t, h) })
	_, stderr, status := runMain(t, "scrub", "--max-decompressed", "64KiB", file, filepath.Join(t.TempDir(), "out.pcap"))
	require.Equal(t, exitDone, status, stderr)
	assert.Contains(t, stderr, "at its limits: 1 exchange (not decoded or written whole")
	_, stderr, status = runMain(t, "scrub", "--max-frame", "16KiB", file, filepath.Join(t.TempDir(), "out.pcap"))
	require.Equal(t, exitDone, status, stderr)
	assert.Contains(t, stderr, "at its limits: 1 exchange (cut or not waited for: --max-frame")
}
