package cli

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLargePages asks the kernel what it made of the request.
func TestLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no large pages: ", err)
	}
	b := make([]byte, 3*heapPiece)
	at := reflect.ValueOf(b).Pointer()
	var p largePages
	p.want(at, uintptr(len(b)))
	for i := range b {
		b[i] = byte(i)
	}
	for _, off := range []int{0, heapPiece, len(b) - 1} {
		assert.Contains(t, flagsOf(t, at+uintptr(off)), "hg", "%d bytes from the start", off)
	}
	for i := 0; i < len(b); i += 4096 + 1 {
		require.Equal(t, byte(i), b[i])
	}
}

// flagsOf returns the flags of the mapping that an address lies in.
func flagsOf(t *testing.T, at uintptr) []string {
	f, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= at && at < to
		} else if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && inside {
			return strings.Fields(flags)
		}
	}
	require.Fail(t, "no mapping", "%x", at)
	return nil
}
