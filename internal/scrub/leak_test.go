package scrub

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// least is the size from which on a value that turns up elsewhere is no chance.
const least = 6

// leaf is a text, bytes or id of a frame.
type leaf struct {
	value  string
	record bool // part of a record of a user's
	secret bool
}

// contents are the values of a capture by frame, and all its bytes in every form.
type contents struct {
	tree.Discard
	reassembly.Handler
	walk    *walk.Decoder
	frames  map[[3]int64][]leaf // by connection, direction, offset
	streams map[[2]int64]*bytes.Buffer
	bytes   [][]byte // packets, decompressed sources, streams

	leaves []leaf
	open   []string
	opened map[string]bool // payloads whose inside was given
}

func (c *contents) Begin(e tree.Event) bool {
	c.open = append(c.open, e.Desc.Name)
	return true
}

func (c *contents) End(tree.Event) { c.open = c.open[:len(c.open)-1] }

func (c *contents) Issue(tree.Issue) {}

func (c *contents) Source(_ int32, b []byte, _ tree.Span, _ string) {
	c.bytes = append(c.bytes, bytes.Clone(b))
}

func (c *contents) Leaf(e tree.Event) {
	if e.Flags&tree.FlagStructural != 0 {
		return
	}
	if e.Has(tree.FlagComputed) {
		c.opened[string(e.Value.Bytes)] = true
		return
	}
	switch e.Desc.Kind {
	case tree.KindString, tree.KindBytes, tree.KindUUID:
		in := c.open[len(c.open)-1]
		c.leaves = append(c.leaves, leaf{
			value: string(e.Value.Bytes), secret: e.Desc.Secret,
			record: in == batchRecord || in == "Header" || in == messageName,
		})
	}
}

const batchRecord = "Record"

func (c *contents) Exchange(x *dissect.Exchange) {
	for dir, f := range map[reassembly.Dir]*dissect.Frame{x.Conn.Broker.Other(): x.Request, x.Conn.Broker: x.Response} {
		if f != nil {
			c.leaves = nil
			f.Walk(c.walk, c)
			c.frames[[3]int64{x.Conn.TCP.ID, int64(dir), f.Offset}] = c.leaves
		}
	}
}

func (c *contents) Closed(*dissect.Connection, reassembly.End) {}

func (c *contents) Chunk(t *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	key := [2]int64{t.ID, int64(d)}
	if c.streams[key] == nil {
		c.streams[key] = &bytes.Buffer{}
	}
	c.streams[key].Write(ch.Bytes)
	c.Handler.Chunk(t, d, ch)
}

func contentsOf(t *testing.T, name string) *contents {
	t.Helper()
	c := &contents{
		walk: payload.New(nil, records.Limits{}).Decoder(), frames: map[[3]int64][]leaf{},
		streams: map[[2]int64]*bytes.Buffer{}, opened: map[string]bool{},
	}
	c.Handler = dissect.New(dissect.Options{Handler: c})
	a := reassembly.New(reassembly.Limits{}, c)
	dec := capture.NewDecoder(capture.Limits{})
	var seg reassembly.Segment
	o := capture.Options{Frame: func(b []byte) { c.bytes = append(c.bytes, bytes.Clone(b)) }}
	require.NoError(t, each(context.Background(), name, 0, Options{}, o, func(p *capture.Packet) error {
		c.bytes = append(c.bytes, bytes.Clone(p.Record))
		if dec.Decode(p, &seg) == capture.TCPSegment {
			a.Advance(seg.Time)
			a.Segment(&seg)
		}
		return nil
	}))
	a.Flush()
	for _, b := range c.streams {
		c.bytes = append(c.bytes, b.Bytes())
	}
	return c
}

// telling reports whether a value is not to be expected anywhere by chance, as small numbers and
// runs of one character are.
func telling(value string) bool {
	value = strings.TrimLeft(value, "\x00")
	return len(value) >= least && strings.Trim(value, value[:1]) != ""
}

// event is what a client program of the lab wrote down about a record.
type event struct {
	Key, Value []byte
	Headers    []struct {
		Key   string
		Value []byte
	}
}

// written returns what the programs behind a capture wrote down that was in records, and the
// passwords they used.
func written(t *testing.T, capture string) map[string]bool {
	gone := map[string]bool{"admin-secret": true, "alice-secret": true, "bob-secret": true, "scram-secret": true}
	base, _, _ := strings.Cut(capture, ".pcap")
	base = strings.TrimSuffix(base, ".dsb")
	path := base + ".events.ndjson.gz"
	if _, err := os.Stat(path); err != nil {
		return gone
	}
	corpus.Lines(t, path, func(_ int, line json.RawMessage) {
		var e event
		if json.Unmarshal(line, &e) != nil { // such as a value that the program cut
			return
		}
		values := []string{string(e.Key), string(e.Value)}
		for _, h := range e.Headers {
			values = append(values, h.Key, string(h.Value))
		}
		for _, v := range values {
			if telling(v) {
				gone[v] = true
			}
		}
	})
	return gone
}

// leaks returns the values of before that after does not have in their place, and that are still
// somewhere in it, where no value that was kept explains it; gone are such values from elsewhere.
func leaks(before, after *contents, gone map[string]bool) (replaced int, left []string) {
	var kept bytes.Buffer
	for key, was := range before.frames {
		now := after.frames[key]
		for i, l := range was {
			switch {
			case len(was) == len(now) && l.value == now[i].value && !l.record && !l.secret:
				kept.WriteString(l.value)
				kept.WriteByte('\n')
			case len(was) == len(now) && l.value != now[i].value, l.record, l.secret:
				if telling(l.value) {
					gone[l.value] = true
				}
			}
		}
	}
	// A payload may be opened in one place, and kept but for some fields, and not be known for
	// one in another.
	for v := range after.opened {
		delete(gone, v)
	}
	byHead := map[string][]string{}
	for v := range gone {
		byHead[v[:least]] = append(byHead[v[:least]], v)
	}
	found := map[string]bool{}
	for _, b := range after.bytes {
		for i := 0; i+least <= len(b); i++ {
			for _, v := range byHead[string(b[i:i+least])] {
				if bytes.HasPrefix(b[i:], []byte(v)) {
					found[v] = true
				}
			}
		}
	}
	for v := range found {
		if !bytes.Contains(kept.Bytes(), []byte(v)) {
			left = append(left, strconv.Quote(v))
		}
	}
	return len(gone), left
}

func TestNothingReplacedIsLeft(t *testing.T) {
	total := 0
	for _, name := range captures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			before := contentsOf(t, name)
			for which, opt := range []Options{{Key: "test"}, all} {
				out := filepath.Join(t.TempDir(), filepath.Base(name))
				_, err := File(context.Background(), name, out, opt)
				require.NoError(t, err)
				replaced, left := leaks(before, contentsOf(t, out), written(t, name))
				total += replaced
				assert.Empty(t, left, "options %d", which)
			}
		})
	}
	assert.Greater(t, total, atLeast(10000), "values that were looked for")
}
