package cli

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutting cuts a file once something was written to it.
type cutting struct {
	bytes.Buffer
	t    *testing.T
	file string
}

func (c *cutting) Write(b []byte) (int, error) {
	if c.Len() == 0 {
		require.NoError(c.t, os.Truncate(c.file, 4096))
	}
	return c.Buffer.Write(b)
}

// A ring of capture files is written over while an old one is shown.
func TestFileIsCutWhileItIsShown(t *testing.T) {
	for _, workers := range []string{"1", "3"} {
		file := newHostile(t, func(h *hostile) {
			c := converse(h, 0, 100)
			for range 50_000 {
				c.good()
			}
		})
		whole := &bytes.Buffer{}
		require.Zero(t, Main([]string{"read", file}, nil, whole, io.Discard))
		out, stderr := &cutting{t: t, file: file}, &bytes.Buffer{}
		require.Zero(t, Main([]string{"read", "--workers", workers, file}, nil, out, stderr))
		last := bytes.LastIndexByte(bytes.TrimSuffix(out.Bytes(), []byte("\n")), '\n')
		assert.Less(t, out.Len(), whole.Len())
		assert.True(t, bytes.HasPrefix(whole.Bytes(), out.Bytes()[:last]), "what is shown is right")
		assert.Contains(t, stderr.String(), "hostile.pcap: file truncated at byte ")
	}
}
