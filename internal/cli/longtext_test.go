package cli

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// produceOf is a Produce request that wants no response, with a record set.
func produceOf(set []byte) []byte {
	w := header(0, 3, 1, false).i16(-1).i16(0).i32(1000).i32(1).str("t").i32(1).i32(0).i32(int32(len(set)))
	return append(w, set...).sized()
}

// batchOf is an uncompressed batch of count records.
func batchOf(records []byte, count int32) []byte {
	tail := wire(nil).i16(0).i32(count - 1) // attributes, last offset delta
	tail = append(tail, make([]byte, 8+8)...)
	tail = append(tail, bytes.Repeat([]byte{0xff}, 8+2+4)...)
	tail = append(tail.i32(count), records...)
	w := wire(nil).i32(0).i32(0).i32(int32(9 + len(tail))).i32(0).add(2)
	w = binary.BigEndian.AppendUint32(w, crc32.Checksum(tail, crc32.MakeTable(crc32.Castagnoli)))
	return append(w, tail...)
}

// recordOf is a record without a key.
func recordOf(value []byte) []byte {
	body := append([]byte{0, 0, 0}, binary.AppendVarint([]byte{1}, int64(len(value)))...)
	body = append(append(body, value...), 0)
	return append(binary.AppendVarint(nil, int64(len(body))), body...)
}

// fetched is a Fetch v12 request, and its response with one partition, whose leader is named behind its
// records although it stands before them in the schema.
func fetched(set []byte) (request, response []byte) {
	request = header(1, 12, 1, true).i32(-1).i32(0).i32(0).i32(1<<30).add(0).i32(0).i32(-1).add(1, 1, 1, 0).sized()
	w := wire(nil).i32(1).add(0).i32(0).i16(0).i32(0).add(2, 2, 't', 2).i32(0).i16(6)
	w = append(w, make([]byte, 8+8+8)...)
	w = append(w.add(0).i32(-1), binary.AppendUvarint(nil, uint64(len(set)+1))...)
	w = append(w, set...)
	return request, w.add(1, 1, 9).i32(3).i32(4).add(0, 0, 0).sized()
}

// longTexts are frames of which the text is many times as long.
var longTexts = map[string]func(size int) (request, response []byte){
	"a value of control characters": func(size int) ([]byte, []byte) {
		return produceOf(batchOf(recordOf(bytes.Repeat([]byte{1}, size)), 1)), nil
	},
	"a value that is no text": func(size int) ([]byte, []byte) {
		return produceOf(batchOf(recordOf(bytes.Repeat([]byte{0xfe}, size)), 1)), nil
	},
	"small records": func(size int) ([]byte, []byte) {
		r := recordOf([]byte("v"))
		return produceOf(batchOf(bytes.Repeat(r, size/len(r)), int32(size/len(r)))), nil
	},
	"damaged batches": func(size int) ([]byte, []byte) {
		b := batchOf(recordOf([]byte("v")), 1)
		b[17]++ // the checksum
		return produceOf(bytes.Repeat(b, size/len(b))), nil
	},
	"a tagged field behind the records": func(size int) ([]byte, []byte) {
		return fetched(batchOf(recordOf(bytes.Repeat([]byte{1}, size)), 1))
	},
	"empty arrays": func(size int) ([]byte, []byte) {
		w := wire(nil).i32(1).i32(int32(size / 6)) // OffsetCommit v2
		return header(8, 2, 1, false).str("g").i32(1).str("m").i32(0).i32(0).i32(0).sized(), append(w, make([]byte, size/6*6)...).sized()
	},
}

// sendLong writes connections of which each sends a frame, the last packets of all behind one another.
func sendLong(h *hostile, connections int, request, response []byte) {
	all := make([]*conversation, connections)
	const last = 1000
	big := request
	if response != nil {
		big = response
	}
	for i := range all {
		all[i] = converse(h, i, 1)
		if response != nil {
			all[i].send(true, request)
		}
		all[i].send(response == nil, big[:len(big)-last])
	}
	for _, c := range all {
		c.send(response == nil, big[len(big)-last:])
		c.close()
	}
}

// TestLongTextsWithWorkers: texts that are handed on in pieces are the same for any number of workers.
func TestLongTextsWithWorkers(t *testing.T) {
	several, share := []string{"2", "3"}, 1
	if corpus.Race {
		several, share = several[1:], 3
	}
	for name, make := range longTexts {
		t.Run(name, func(t *testing.T) {
			for flags, size := range map[string]int{"-j": 900_000, "-tx --full": 100_000, "-j --where=capture.exchange>1": 100_000} {
				size /= share
				q, r := make(size)
				file := newHostile(t, func(h *hostile) { sendLong(h, 4, q, r) })
				args := append([]string{"read", file}, strings.Fields(flags)...)
				want, wantErr, status := runMain(t, append(args, "--workers", "1")...)
				require.Equal(t, exitDone, status, wantErr)
				assert.Greater(t, len(want), 3*size)
				for _, workers := range several {
					got, gotErr, _ := runMain(t, append(args, "--workers", workers)...)
					assert.True(t, want == got, "%s with %s workers: %d bytes, want %d", flags, workers, len(got), len(want))
					assert.Equal(t, wantErr, gotErr)
				}
			}
		})
	}
}
