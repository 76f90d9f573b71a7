// Package seeds takes frames and conversations from the captures in testdata, for fuzz targets to
// begin with.
package seeds

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/internal/fuzzing"
	"github.com/kdissect/kdissect/reassembly"
)

// Frame is a frame of a capture.
type Frame struct {
	Plan  *schema.Plan // of the body
	Bytes []byte       // the size prefix and what follows
}

// Conversation is what both sides of a connection sent.
type Conversation struct{ Client, Broker []byte }

// Frames returns the frames of the captures: the first of each API, version and direction.
func Frames(tb testing.TB) []Frame {
	tb.Helper()
	return read(tb).frames
}

// Conversations returns the connections of the captures, those of most bytes at most.
func Conversations(tb testing.TB, most int) (all []Conversation) {
	tb.Helper()
	for _, c := range read(tb).conns {
		if n := len(c.Client) + len(c.Broker); n > 0 && n <= most {
			all = append(all, *c)
		}
	}
	return all
}

// collector is a dissect.Handler, and a reassembly.Handler in front of the dissector.
type collector struct {
	*dissect.Dissector
	frames []Frame
	seen   map[*schema.Plan]bool
	conns  []*Conversation
	of     map[int64]*Conversation // by number of the connection
}

func read(tb testing.TB) *collector {
	tb.Helper()
	c := &collector{seen: map[*schema.Plan]bool{}}
	for _, file := range fuzzing.Captures(tb) {
		if err := c.read(file); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}

func (c *collector) read(file string) error {
	r, err := capture.Open(context.Background(), []string{file}, capture.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	c.Dissector, c.of = dissect.New(dissect.Options{Handler: c}), map[int64]*Conversation{}
	a := reassembly.New(reassembly.Limits{}, c)
	var s reassembly.Segment
	for {
		if err := r.NextSegment(&s); errors.Is(err, io.EOF) {
			a.Flush()
			return nil
		} else if err != nil {
			return err
		}
		a.Advance(s.Time)
		a.Segment(&s)
	}
}

// Chunk implements reassembly.Handler.
func (c *collector) Chunk(t *reassembly.Conn, d reassembly.Dir, ch reassembly.Chunk) {
	v := c.of[t.ID]
	if v == nil {
		v = &Conversation{}
		c.of[t.ID] = v
		c.conns = append(c.conns, v)
	}
	if d == reassembly.Forward {
		v.Client = append(v.Client, ch.Bytes...)
	} else {
		v.Broker = append(v.Broker, ch.Bytes...)
	}
	c.Dissector.Chunk(t, d, ch)
}

// Exchange implements dissect.Handler.
func (c *collector) Exchange(x *dissect.Exchange) {
	for _, f := range []*dissect.Frame{x.Request, x.Response} {
		if f != nil && f.Plan != nil && !f.Cut() && !c.seen[f.Plan] {
			c.seen[f.Plan] = true
			c.frames = append(c.frames, Frame{f.Plan, append([]byte(nil), f.Bytes...)})
		}
	}
}

// Closed implements dissect.Handler.
func (*collector) Closed(*dissect.Connection, reassembly.End) {}
