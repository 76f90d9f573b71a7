package capture

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func savedInterfaces() []LiveInterface {
	return []LiveInterface{{"eth0", LinkEthernet, 65535}, {"any", LinkLinuxSLL2, 262144}}
}

func TestSavefile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kept.pcapng")
	s, err := NewSavefile(name, SaveOptions{Application: "kdissect test"}, savedInterfaces())
	require.NoError(t, err)
	const at = int64(1_796_000_000_123_456_789)
	require.NoError(t, s.packet(&arrival{head: []byte("head"), tail: []byte("tail!"), wire: 9, time: at}))
	require.NoError(t, s.packet(&arrival{tail: []byte("cut"), wire: 1500, time: at + 1, iface: 1}))
	require.NoError(t, s.packet(&arrival{time: at - 5}))
	require.NoError(t, s.Close())

	r, err := Open(t.Context(), []string{name}, Options{Warn: func(w Warning) { assert.Fail(t, w.String()) }})
	require.NoError(t, err)
	defer r.Close()
	got := drain(t, r)
	require.Len(t, got, 3)
	for i, want := range []kept{
		{Packet{WireLen: 9, Time: at, Link: LinkEthernet}, "headtail!"},
		{Packet{WireLen: 1500, Time: at + 1, Link: LinkLinuxSLL2}, "cut"},
		{Packet{Time: at - 5, Link: LinkEthernet}, ""},
	} {
		assert.Equal(t, want.Bytes, got[i].Bytes)
		assert.Equal(t, want.WireLen, got[i].WireLen)
		assert.Equal(t, want.Time, got[i].Time)
		assert.Equal(t, want.Link, got[i].Link)
	}
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "for the owner only")
}

// rotated writes packets of 1,000 bytes, a second apart, and returns how many are in which file.
func rotated(t *testing.T, opts SaveOptions, packets int) map[string]int {
	t.Helper()
	dir := t.TempDir()
	s, err := NewSavefile(filepath.Join(dir, "kept.pcapng"), opts, savedInterfaces())
	require.NoError(t, err)
	for i := range packets {
		require.NoError(t, s.packet(&arrival{tail: make([]byte, 1000), wire: 1000, time: int64(i) * 1e9}))
	}
	require.NoError(t, s.Close())
	files := map[string]int{}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, name := range names {
		r, err := Open(t.Context(), []string{name}, Options{})
		require.NoError(t, err)
		files[filepath.Base(name)] = len(drain(t, r))
		require.NoError(t, r.Close())
	}
	return files
}

func TestSavefileRotates(t *testing.T) {
	assert.Equal(t, map[string]int{"kept.pcapng": 10}, rotated(t, SaveOptions{}, 10))
	assert.Equal(t, map[string]int{"kept-00001.pcapng": 4, "kept-00002.pcapng": 4, "kept-00003.pcapng": 2},
		rotated(t, SaveOptions{Size: 4000}, 10))
	assert.Equal(t, map[string]int{"kept-00001.pcapng": 3, "kept-00002.pcapng": 3, "kept-00003.pcapng": 3, "kept-00004.pcapng": 1},
		rotated(t, SaveOptions{Every: 3 * time.Second}, 10))
	assert.Equal(t, map[string]int{"kept-00003.pcapng": 3, "kept-00004.pcapng": 1},
		rotated(t, SaveOptions{Every: 3 * time.Second, Keep: 2}, 10))
}

func TestSavefileFails(t *testing.T) {
	_, err := NewSavefile(filepath.Join(t.TempDir(), "no", "folder.pcapng"), SaveOptions{}, nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
	full := "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full here")
	}
	s, err := NewSavefile(full, SaveOptions{}, savedInterfaces())
	require.NoError(t, err)
	assert.Error(t, s.flush())
}
