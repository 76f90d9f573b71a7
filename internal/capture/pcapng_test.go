package capture

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/fuzzing"
)

var bothOrders = []ng{{binary.LittleEndian}, {binary.BigEndian}}

func TestPcapngBlocks(t *testing.T) {
	for i, n := range bothOrders {
		t.Run(fmt.Sprint(n.order), func(t *testing.T) {
			other := bothOrders[1-i]
			offset := n.AppendUint64(nil, 1000)
			negative := other.AppendUint64(nil, ^uint64(0)) // -1 s
			obsolete := n.AppendUint16(nil, 1)
			obsolete = n.AppendUint16(obsolete, 0)
			for _, v := range []uint32{0, 5, 8, 9} {
				obsolete = n.AppendUint32(obsolete, v)
			}
			data := join(
				n.section(),
				n.iface(1, 4),
				n.iface(276, 0, n.option(2, []byte("eth0")), n.option(9, []byte{9}), n.option(14, offset), n.option(0, nil)),
				n.block(0xbad, []byte("unknown block")),
				n.packet(0, 1_000_001, []byte("micro")),
				n.packet(1, 5_000_000_007, []byte("nano")),
				n.block(blockSimple, append(n.AppendUint32(nil, 7), "simp"...)),
				n.block(blockObsolete, append(obsolete, "obsolete"...)),
				other.section(), // interfaces begin anew
				other.iface(101, 0, other.option(9, []byte{0x80 | 10}), other.option(14, negative)),
				other.packet(0, 3<<10|512, []byte("binary")),
			)
			got, warnings := readAll(t, data, Options{})
			assert.Empty(t, warnings)
			require.Len(t, got, 5)
			for i, want := range []struct {
				bytes string
				wire  int
				time  int64
				link  LinkType
			}{
				{"micro", 5, 1_000_001_000, 1},
				{"nano", 4, 1_005_000_000_007, 276},
				{"simp", 7, 1_005_000_000_007, 1}, // has no time of its own
				{"obsolete", 9, 1_000_000_000_005, 276},
				{"binary", 6, 2_500_000_000, 101},
			} {
				assert.Equal(t, want.bytes, got[i].Bytes)
				assert.Equal(t, want.wire, got[i].WireLen, want.bytes)
				assert.Equal(t, want.time, got[i].Time, want.bytes)
				assert.Equal(t, want.link, got[i].Link, want.bytes)
			}
		})
	}
}

func TestPcapngUnknownInterface(t *testing.T) {
	n := bothOrders[1]
	data := join(n.section(), n.iface(101, 0), n.packet(0, 5, tcpIP4()), n.packet(3, 6, tcpIP4()), n.enhanced(0, 7, tcpIP4(), 5000, 5000), n.packet(0, 8, tcpIP4()))
	got, warnings := readAll(t, data, Options{})
	require.Len(t, got, 4)
	assert.Equal(t, UnknownInterface, got[1].Fault)
	assert.Equal(t, int64(5000), got[1].Time, "the time of the packet before it")
	assert.Equal(t, DamagedRecord, got[2].Fault)
	assert.Zero(t, got[3].Fault)
	require.Len(t, warnings, 2)
	assert.Equal(t, fmt.Sprintf("-: packet 2 at byte %d names interface 3, which is not described; skipped", got[1].Offset), warnings[0].String())
	assert.Contains(t, warnings[1].Text, "packet 3 at byte")

	r, err := openBytes(t, data, Options{})
	require.NoError(t, err)
	segments := readSegments(t, r)
	assert.Equal(t, []int64{1, 4}, []int64{segments[0].Packet, segments[1].Packet})
	st := r.Stats()
	assert.Equal(t, int64(1), st.Verdicts[UnknownInterface])
	assert.Equal(t, int64(1), st.Verdicts[DamagedRecord])
}

func TestPcapngSecrets(t *testing.T) {
	for _, n := range bothOrders {
		log := "CLIENT_RANDOM 00 11\n" // needs no padding; the next one does
		secrets := func(kind uint32, s string, claim int) []byte {
			b := n.AppendUint32(nil, kind)
			b = n.AppendUint32(b, uint32(claim))
			return n.block(blockSecrets, append(b, s...))
		}
		data := join(n.section(), n.iface(101, 0), secrets(SecretsTLSKeyLog, log, len(log)), secrets(7, "abc", 3), secrets(8, "lies", 1<<31), n.packet(0, 1, tcpIP4()))
		var got []string
		packets, warnings := readAll(t, data, Options{Secrets: func(s Secrets) { got = append(got, fmt.Sprint(s.File, s.Type, string(s.Data))) }})
		assert.Empty(t, warnings)
		assert.Len(t, packets, 1)
		assert.Equal(t, []string{fmt.Sprint("-", uint32(SecretsTLSKeyLog), log), "-7abc", "-8lies"}, got)

		packets, _ = readAll(t, data, Options{})
		assert.Len(t, packets, 1, "without a taker")
		packets, warnings = readAll(t, data, Options{Limits: Limits{Secrets: 24}, Secrets: func(Secrets) {}})
		assert.Len(t, packets, 1, "too large")
		assert.Len(t, warnings, 1)
	}
}

func TestPcapngDamage(t *testing.T) {
	n := bothOrders[0]
	head := join(n.section(), n.iface(1, 0), n.packet(0, 1, []byte("good")))
	raw := func(kind, length uint32, rest ...byte) []byte {
		return append(n.AppendUint32(n.AppendUint32(nil, kind), length), rest...)
	}
	badEnd := n.packet(0, 1, []byte("x"))
	badEnd[len(badEnd)-1] = 1
	version := n.section()
	version[12] = 2
	for _, tc := range []struct {
		name string
		tail []byte
		want string
	}{
		{"length too small", raw(6, 8, 0, 0, 0, 0), "a block claims a length of 8"},
		{"length not of words", raw(5, 33, make([]byte, 30)...), "a block claims a length of 33"},
		{"packet block too large", raw(6, 0xfffffffc, make([]byte, 30)...), "a block of type 0x6 claims 4294967292 bytes (limit 17825792)"},
		{"lengths disagree", badEnd, "a block's length is 36 at its begin and 16777252 at its end"},
		{"packet block too small", n.block(6, make([]byte, 16)), "a packet block of 28 bytes"},
		{"simple block too small", n.block(3, nil), "a packet block of 12 bytes"},
		{"interface too small", n.block(1, make([]byte, 4)), "an interface description of 16 bytes"},
		{"section too small", n.block(blockSection, n.AppendUint32(nil, byteOrderMagic)), "a section header of 16 bytes"},
		{"section without magic", n.block(blockSection, make([]byte, 16)), "a section without byte-order magic"},
		{"section of another version", version, "a section of version 2.0, which is not known"},
	} {
		got, warnings := readAll(t, join(head, tc.tail, n.packet(0, 1, []byte("lost"))), Options{})
		assert.Len(t, got, 1, tc.name)
		if assert.Len(t, warnings, 1, tc.name) {
			assert.Equal(t, fmt.Sprintf("damaged at byte %d: %s; the rest of the file is not read", len(head), tc.want), warnings[0].Text)
			assert.Equal(t, WarnDamaged, warnings[0].Kind, tc.name)
		}
	}
	// A block that is passed over may be of any length, as long as it is there.
	got, warnings := readAll(t, join(head, raw(0xbad, 0xfffffffc, make([]byte, 50)...)), Options{})
	assert.Len(t, got, 1)
	require.Len(t, warnings, 1)
	assert.Equal(t, fmt.Sprintf("file truncated at byte %d, inside the block that begins at byte %d", len(head)+58, len(head)), warnings[0].Text)
}

func TestPcapngCutAnywhere(t *testing.T) {
	for _, n := range bothOrders {
		blocks := [][]byte{n.section(), n.iface(1, 0), n.packet(0, 1, []byte("first")), n.block(0xbad, make([]byte, 20)), n.packet(0, 1, []byte("second"))}
		data := join(blocks...)
		ends, at := map[int]bool{}, 0
		for _, b := range blocks {
			at += len(b)
			ends[at] = true
		}
		for cut := 4; cut <= len(data); cut++ {
			_, warnings := readAll(t, data[:cut], Options{})
			if ends[cut] {
				assert.Empty(t, warnings, "cut at %d", cut)
				continue
			}
			if assert.Len(t, warnings, 1, "cut at %d", cut) {
				assert.Equal(t, WarnTruncated, warnings[0].Kind)
				assert.Equal(t, int64(cut), warnings[0].Offset)
			}
		}
	}
}

func TestWarningsAreLimited(t *testing.T) {
	n := bothOrders[0]
	data := n.section()
	for range 1000 {
		data = append(data, n.packet(0, 1, nil)...)
	}
	got, warnings := readAll(t, data, Options{})
	assert.Len(t, got, 1000)
	require.Len(t, warnings, 21)
	assert.Equal(t, "980 more warnings like this", warnings[20].Text)
}

func TestInterfacesAreLimited(t *testing.T) {
	n := bothOrders[0]
	data := append(n.section(), []byte(strings.Repeat(string(n.iface(1, 0)), 10))...)
	data = append(data, n.packet(9, 1, nil)...)
	got, warnings := readAll(t, data, Options{Limits: Limits{Interfaces: 9}})
	require.Len(t, got, 1)
	assert.Equal(t, UnknownInterface, got[0].Fault)
	assert.Len(t, warnings, 2)
}

// Whatever the bytes, reading ends, every packet gets one verdict, and memory is bounded.
func FuzzReader(f *testing.F) {
	n := bothOrders[1]
	f.Add(join(n.section(), n.iface(101, 0), n.packet(0, 1, tcpIP4())))
	f.Add(pcapFile(binary.BigEndian, magicNano, 101, record{data: tcpIP4()}))
	for _, file := range fuzzing.Captures(f) {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data[:min(len(data), 4096)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<18 {
			return
		}
		allocated := fuzzing.Allocated(func() {
			r, err := openBytes(t, data, Options{Limits: Limits{Block: 512, Packet: 4096, ZstdWindow: 1 << 16}})
			if err == nil {
				readSegments(t, r)
			}
		})
		require.Less(t, allocated, uint64(8<<20+256*len(data)))
	})
}
