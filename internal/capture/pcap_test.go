package capture

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPcapVariants(t *testing.T) {
	records := []record{
		{sec: 1700000000, frac: 123456, data: []byte("one")},
		{sec: 4294967295, frac: 999999, data: []byte("two, of which more was sent"), wire: 1000},
		{sec: 1, frac: 0, data: nil},
	}
	for _, tc := range []struct {
		name  string
		magic uint32
		tick  int64
	}{
		{"microseconds", magicMicro, 1000},
		{"nanoseconds", magicNano, 1},
		{"modified", magicModified, 1000},
	} {
		for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(tc.name, o), func(t *testing.T) {
				got, warnings := readAll(t, pcapFile(o, tc.magic, 0x04000000|276, records...), Options{})
				assert.Empty(t, warnings)
				require.Len(t, got, 3)
				for i, r := range records {
					assert.Equal(t, string(r.data), got[i].Bytes)
					assert.Equal(t, int(r.wireLen()), got[i].WireLen)
					assert.Equal(t, int64(r.sec)*1e9+int64(r.frac)*tc.tick, got[i].Time)
					assert.Equal(t, LinkLinuxSLL2, got[i].Link)
					assert.Equal(t, int64(i+1), got[i].Number)
				}
				assert.Equal(t, int64(24), got[0].Offset)
			})
		}
	}
}

// A file cut at any byte gives the whole packets, and says where it ends unless it ends well.
func TestPcapCutAnywhere(t *testing.T) {
	data := pcapFile(binary.LittleEndian, magicMicro, 1, record{data: []byte("first")}, record{data: []byte("second one")}, record{})
	ends := map[int]int{24: 0, 45: 1, 71: 2, 87: 3}
	for n := 4; n <= len(data); n++ {
		got, warnings := readAll(t, data[:n], Options{})
		whole := 0
		for end, packets := range ends {
			if n >= end {
				whole = max(whole, packets)
			}
		}
		assert.Len(t, got, whole, "cut at %d", n)
		if _, clean := ends[n]; clean {
			assert.Empty(t, warnings, "cut at %d", n)
			continue
		}
		require.Len(t, warnings, 1, "cut at %d", n)
		assert.Equal(t, WarnTruncated, warnings[0].Kind)
		assert.Equal(t, int64(n), warnings[0].Offset)
		assert.Contains(t, warnings[0].String(), fmt.Sprintf("-: file truncated at byte %d, inside the ", n))
	}
}

func TestPcapAbsurdLength(t *testing.T) {
	data := pcapFile(binary.LittleEndian, magicMicro, 1, record{data: []byte("good")}, record{data: []byte("bad")}, record{data: []byte("lost")})
	binary.LittleEndian.PutUint32(data[24+20+8:], 0xfffffff0)
	got, warnings := readAll(t, data, Options{})
	assert.Len(t, got, 1)
	require.Len(t, warnings, 1)
	assert.Equal(t, Warning{
		Kind: WarnDamaged, File: "-", Offset: 44, Packet: 2,
		Text: "damaged at byte 44: packet 2 claims 4294967280 captured bytes (limit 16777216); the rest of the file is not read",
	}, warnings[0])
}

// The memory for a packet grows with the bytes that are there, not with those claimed.
func TestPcapClaimAllocatesLittle(t *testing.T) {
	data := pcapFile(binary.LittleEndian, magicMicro, 1, record{data: []byte("bad")})
	binary.LittleEndian.PutUint32(data[24+8:], 16<<20)
	r, err := openBytes(t, data, Options{Limits: Limits{Block: 4096}})
	require.NoError(t, err)
	var p Packet
	require.Error(t, r.Next(&p))
	assert.Len(t, r.heads[0].file.w.block.data, 4096)
}

func TestNotACapture(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"empty", "", "-: not a pcap or pcapng file: it is empty"},
		{"short", "\xd4\xc3", "-: not a pcap or pcapng file: it has only 2 bytes"},
		{"text", "hello world", "-: not a pcap or pcapng file: it starts with 68 65 6c 6c"},
		{"xz", "\xfd7zXZ\x00\x00", "-: not a pcap or pcapng file: it is xz-compressed; decompress it first"},
	} {
		_, err := openBytes(t, []byte(tc.data), Options{})
		require.ErrorIs(t, err, ErrFormat, tc.name)
		assert.EqualError(t, err, tc.want)
	}
}

func TestPacketLargerThanBlock(t *testing.T) {
	big := make([]byte, 300_000)
	for i := range big {
		big[i] = byte(i % 251)
	}
	data := pcapFile(binary.BigEndian, magicNano, 1, record{data: []byte("small")}, record{data: big}, record{data: big[:5000]}, record{data: []byte("end")})
	got, warnings := readAll(t, data, Options{Limits: Limits{Block: 1024}})
	assert.Empty(t, warnings)
	require.Len(t, got, 4)
	assert.True(t, string(big) == got[1].Bytes)
	assert.True(t, string(big[:5000]) == got[2].Bytes)
	assert.Equal(t, "end", got[3].Bytes)
}
