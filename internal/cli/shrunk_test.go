package cli

import (
	"bytes"
	"io"
	"os"
	"runtime"
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
	if runtime.GOOS != "linux" {
		t.Skip("files are not mapped here")
	}
	for _, workers := range []string{"1", "3"} {
		file := newHostile(t, func(h *hostile) {
			c := converse(h, 0, 100)
			for range 20_000 {
				c.good()
			}
		})
		whole := &bytes.Buffer{}
		require.Zero(t, Main([]string{"read", file}, nil, whole, io.Discard))
		out, stderr := &cutting{t: t, file: file}, &bytes.Buffer{}
		status := Main([]string{"read", "--workers", workers, file}, nil, out, stderr)
		assert.True(t, bytes.HasPrefix(whole.Bytes(), out.Bytes()), "what is shown is right")
		assert.Equal(t, exitFailed, status)
		assert.Regexp(t, "hostile.pcap: made shorter while it was read, or not readable any more, after [0-9]+ packets", stderr.String())
	}
}
