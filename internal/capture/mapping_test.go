package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writePackets writes a capture of n packets whose sizes differ, up to several times a page.
func writePackets(t *testing.T, n int) string {
	t.Helper()
	b := binary.LittleEndian.AppendUint32(nil, magicMicro)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0)
	for i := range n {
		size := i * 7919 % 20000
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
		for j := range size {
			b = append(b, byte(i+j))
		}
	}
	name := filepath.Join(t.TempDir(), "packets.pcap")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	return name
}

func openMapped(t *testing.T, name string) *Reader {
	t.Helper()
	r, err := Open(context.Background(), []string{name}, Options{Map: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestMappedPacketsAreThoseRead(t *testing.T) {
	name := writePackets(t, 1000) // several parts
	mapped := openMapped(t, name)
	read, err := Open(context.Background(), []string{name}, Options{})
	require.NoError(t, err)
	defer read.Close()
	var a, b Packet
	for n := 0; ; n++ {
		errA, errB := mapped.Next(&a), read.Next(&b)
		require.Equal(t, errB, errA)
		if errA == io.EOF {
			require.Equal(t, 1000, n)
			break
		}
		require.Equal(t, b.Data, a.Data, "packet %d", n)
		require.Equal(t, b.Offset, a.Offset)
		assert.Equal(t, canMap, a.Block.mapped)
	}
	done, total := mapped.Progress()
	assert.Equal(t, total, done)
}

func TestMappedBytesOutliveTheReader(t *testing.T) {
	r := openMapped(t, writePackets(t, 1000))
	var p Packet
	require.NoError(t, r.Next(&p))
	require.NoError(t, r.Next(&p))
	block, data := p.Block, p.Data
	block.Hold()
	for r.Next(&p) == nil {
	}
	require.NoError(t, r.Close())
	assert.Equal(t, byte(7919%256), data[7918])
	block.Release()
	if canMap {
		assert.Nil(t, block.data, "the part is given back with its last user")
	}
}

// A ring of capture files is written over from the start while somebody looks at an old one.
func TestMappedFileIsCut(t *testing.T) {
	if !canMap {
		t.Skip("files are read here")
	}
	name := writePackets(t, 1000)
	r := openMapped(t, name)
	var p Packet
	require.NoError(t, r.Next(&p))
	require.NoError(t, os.Truncate(name, 100))
	err := Guarded(func() {
		for r.Next(&p) == nil {
		}
	})
	assert.ErrorIs(t, err, ErrShrunk)
}

func TestGuardedPassesPanicsOn(t *testing.T) {
	fault := errors.New("fault")
	assert.PanicsWithValue(t, fault, func() { _ = Guarded(func() { panic(fault) }) })
	assert.Panics(t, func() { _ = Guarded(func() { var p *Packet; p.Number++ }) })
}
