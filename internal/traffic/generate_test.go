package traffic

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// checkedExchanges holds exchanges to what was generated.
type checkedExchanges struct {
	t       *testing.T
	decoder *walk.Decoder
	n       int
}

func (c *checkedExchanges) Exchange(x *dissect.Exchange) {
	c.n++
	require.Equal(c.t, dissect.Paired, x.State)
	for _, f := range []*dissect.Frame{x.Request, x.Response} {
		f.Walk(c.decoder, noIssues{t: c.t})
	}
}

func (c *checkedExchanges) Closed(*dissect.Connection, reassembly.End) {}

type noIssues struct {
	tree.Discard
	t *testing.T
}

func (noIssues) Begin(tree.Event) bool    { return true }
func (s noIssues) Issue(issue tree.Issue) { assert.Fail(s.t, issue.Text) }

// TestGeneratedTrafficIsSound: all that is generated pairs, decodes without an issue, and is the
// same each time.
func TestGeneratedTrafficIsSound(t *testing.T) {
	var first, second bytes.Buffer
	want := Mix{Bytes: 1 << 20, Records: 3, Connections: 7}
	require.NoError(t, Generate(&first, want))
	require.NoError(t, Generate(&second, want))
	require.True(t, bytes.Equal(first.Bytes(), second.Bytes()))

	r, err := capture.Open(context.Background(), []string{"-"}, capture.Options{Stdin: &first})
	require.NoError(t, err)
	defer r.Close()
	c := &checkedExchanges{t: t, decoder: payload.New(schema.Default(), records.Limits{}).Decoder()}
	a := reassembly.New(reassembly.Limits{}, dissect.New(dissect.Options{Handler: c}))
	var s reassembly.Segment
	for {
		err := r.NextSegment(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		a.Segment(&s)
	}
	a.Flush()
	assert.Greater(t, c.n, 200)
}

// Captures of few and of many connections have the same packets where that is asked for.
func TestOpeningsMakePacketsEqual(t *testing.T) {
	var few, many bytes.Buffer
	require.NoError(t, Generate(&few, Mix{Bytes: 1, Records: 1, Connections: 2, Openings: 10}))
	require.NoError(t, Generate(&many, Mix{Bytes: 1, Records: 1, Connections: 10, Openings: 10}))
	handshakes := 24 + 10*3*(16+54)
	assert.Equal(t, packetSizes(few.Bytes()[:handshakes]), packetSizes(many.Bytes()[:handshakes]))
}

// packetSizes returns the lengths of the packets of a pcap file.
func packetSizes(b []byte) (sizes []uint32) {
	for b = b[24:]; len(b) >= 16; {
		n := binary.LittleEndian.Uint32(b[8:])
		sizes = append(sizes, n)
		b = b[16+n:]
	}
	return sizes
}
