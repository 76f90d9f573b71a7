package capture

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"github.com/kdissect/kdissect/reassembly"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readSegments reads a capture to its end and checks that every packet is accounted for.
func readSegments(t testing.TB, r *Reader) []reassembly.Segment {
	t.Helper()
	var out []reassembly.Segment
	for {
		var seg reassembly.Segment
		err := r.NextSegment(&seg)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		seg.Payload = bytes.Clone(seg.Payload)
		out = append(out, seg)
	}
	st := r.Stats()
	sum := int64(0)
	for _, n := range st.Verdicts {
		sum += n
	}
	require.Equal(t, st.Packets, sum)
	require.Equal(t, int64(len(out)), st.Segments())
	return out
}

func gzipped(t testing.TB, parts ...[]byte) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		_, err := w.Write(p)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return b.Bytes()
}

func zstded(t testing.TB, parts ...[]byte) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	var b []byte
	for _, p := range parts {
		b = w.EncodeAll(p, b)
	}
	return b
}

func manyPackets(n int) []byte {
	var records []record
	for i := range n {
		records = append(records, record{sec: uint32(i), data: ip4(protoTCP, tcpOf([]byte(fmt.Sprint("packet ", i))))})
	}
	return pcapFile(binary.LittleEndian, magicMicro, 101, records...)
}

func TestCompressed(t *testing.T) {
	plain := manyPackets(5000)
	want, _ := readAll(t, plain, Options{})
	skippable := join([]byte{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0}, []byte("skip"))
	for _, tc := range []struct {
		name string
		data []byte
	}{
		{"gzip", gzipped(t, plain)},
		{"gzip members", gzipped(t, plain[:100], plain[100:1000], nil, plain[1000:])},
		{"zstd", zstded(t, plain)},
		{"zstd frames", join(skippable, zstded(t, plain[:100], plain[100:]))},
	} {
		got, warnings := readAll(t, tc.data, Options{})
		assert.Empty(t, warnings, tc.name)
		require.Len(t, got, len(want), tc.name)
		for i := range want {
			require.Equal(t, want[i].Bytes, got[i].Bytes)
		}

		got, warnings = readAll(t, tc.data[:len(tc.data)/2], Options{})
		assert.Less(t, len(got), len(want), tc.name)
		if assert.Len(t, warnings, 1, tc.name) {
			assert.Equal(t, WarnTruncated, warnings[0].Kind, tc.name)
		}

		spoilt := bytes.Clone(tc.data)
		for i := len(spoilt) / 2; i < len(spoilt); i++ {
			spoilt[i] ^= 0x5a
		}
		_, warnings = readAll(t, spoilt, Options{})
		assert.NotEmpty(t, warnings, tc.name)
	}
}

// What a pipe has comes out without waiting for more.
func TestPipeAsItArrives(t *testing.T) {
	plain := manyPackets(3)
	cut := 24 + (len(plain)-24)/3
	for _, tc := range []struct {
		name  string
		write func(w io.Writer) io.Writer
		flush func(w io.Writer) error
	}{
		{"plain", func(w io.Writer) io.Writer { return w }, func(io.Writer) error { return nil }},
		{"gzip", func(w io.Writer) io.Writer { return gzip.NewWriter(w) }, func(w io.Writer) error { return w.(*gzip.Writer).Flush() }},
		{"zstd", func(w io.Writer) io.Writer { z, _ := zstd.NewWriter(w); return z }, func(w io.Writer) error { return w.(*zstd.Encoder).Flush() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pr, pw := io.Pipe()
			rest := make(chan struct{})
			go func() {
				w := tc.write(pw)
				_, _ = w.Write(plain[:cut])
				_ = tc.flush(w)
				<-rest
				_, _ = w.Write(plain[cut:])
				if c, ok := w.(io.Closer); ok {
					_ = c.Close()
				}
				_ = pw.Close()
			}()
			r, err := Open(context.Background(), []string{"-"}, Options{Stdin: pr})
			require.NoError(t, err)
			defer func() { _ = r.Close() }()
			var seg reassembly.Segment
			require.NoError(t, r.NextSegment(&seg))
			assert.Equal(t, "packet 0", string(seg.Payload))
			close(rest)
			assert.Len(t, readSegmentsAfter(t, r), 2)
		})
	}
}

func readSegmentsAfter(t *testing.T, r *Reader) []string {
	var out []string
	var seg reassembly.Segment
	for {
		err := r.NextSegment(&seg)
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		out = append(out, string(seg.Payload))
	}
}

func TestInterruptedWhileWaiting(t *testing.T) {
	pr, pw := io.Pipe()
	defer func() { _ = pw.Close() }()
	go func() { _, _ = pw.Write(manyPackets(1)) }()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Open(ctx, []string{"-"}, Options{Stdin: pr})
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	var seg reassembly.Segment
	require.NoError(t, r.NextSegment(&seg))
	time.AfterFunc(20*time.Millisecond, cancel)
	assert.ErrorIs(t, r.NextSegment(&seg), context.Canceled)
	assert.ErrorIs(t, r.NextSegment(&seg), context.Canceled, "it stays so")
}

func TestInterruptedWithinABlock(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Open(ctx, []string{"-"}, Options{Stdin: bytes.NewReader(manyPackets(1000))})
	require.NoError(t, err)
	var p Packet
	require.NoError(t, r.Next(&p))
	cancel()
	assert.Eventually(t, func() bool { return r.stopped.Load() }, time.Second, time.Millisecond)
	assert.ErrorIs(t, r.Next(&p), context.Canceled)
}

type failing struct{ io.Reader }

func (f failing) Read(p []byte) (int, error) {
	if n, err := f.Reader.Read(p); err == nil {
		return n, nil
	}
	return 0, fmt.Errorf("the disk is on fire")
}

func TestReadErrorNamesPlace(t *testing.T) {
	for name, data := range map[string][]byte{"plain": manyPackets(2), "gzip": gzipped(t, manyPackets(2))[:80]} {
		r, err := Open(context.Background(), []string{"-"}, Options{Stdin: failing{bytes.NewReader(data)}})
		require.NoError(t, err)
		var p Packet
		for err == nil {
			err = r.Next(&p)
		}
		assert.ErrorContains(t, err, "the disk is on fire", name)
		assert.Regexp(t, `^-: byte \d+, packet \d+: read: `, err.Error(), name)
	}
}

func TestMerge(t *testing.T) {
	rnd := rand.New(rand.NewSource(5))
	type stamped struct {
		time int
		text string
	}
	for round := range 30 {
		dir := t.TempDir()
		var names []string
		var want []stamped
		for f := range 1 + rnd.Intn(8) {
			var records []record
			now := rnd.Intn(50)
			for i := range rnd.Intn(40) {
				now += rnd.Intn(4)
				s := stamped{now, fmt.Sprint("file ", f, " packet ", i)}
				records = append(records, record{sec: uint32(now), data: []byte(s.text)})
				want = append(want, s)
			}
			data := pcapFile(binary.LittleEndian, magicMicro, 1, records...)
			if f%3 == 1 {
				data = gzipped(t, data)
			}
			name := filepath.Join(dir, fmt.Sprint(f))
			require.NoError(t, os.WriteFile(name, data, 0o600))
			names = append(names, name)
		}
		sort.SliceStable(want, func(i, j int) bool { return want[i].time < want[j].time })
		r, err := Open(context.Background(), names, Options{Limits: Limits{Block: 128}})
		require.NoError(t, err)
		got := drain(t, r)
		read, total := r.Progress()
		assert.Equal(t, total, read)
		require.NoError(t, r.Close())
		require.Len(t, got, len(want), "round %d", round)
		for i, w := range want {
			require.Equal(t, w.text, got[i].Bytes)
			require.Equal(t, int64(i+1), got[i].Number)
			require.Equal(t, fmt.Sprint("file ", filepath.Base(r.Name(got[i].File)), " "), w.text[:7])
		}
	}
}

// A long row of rotated files is read with few of them open.
func TestMergeOpensLate(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for f := range 200 {
		name := filepath.Join(dir, fmt.Sprintf("%03d", 199-f))
		data := pcapFile(binary.LittleEndian, magicMicro, 1, record{sec: uint32(10 * f)}, record{sec: uint32(10*f + 9)})
		require.NoError(t, os.WriteFile(name, data, 0o600))
		names = append(names, name)
	}
	r, err := Open(context.Background(), names, Options{})
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	var p Packet
	for i := 0; ; i++ {
		err := r.Next(&p)
		if err == io.EOF {
			assert.Equal(t, 400, i)
			break
		}
		require.NoError(t, err)
		open := 0
		for _, h := range r.heads {
			if h.file != nil {
				open++
			}
		}
		require.LessOrEqual(t, open, 1)
	}
}

// Warnings of a merged file come once, with its own name, and the others go on.
func TestMergeWithDamage(t *testing.T) {
	dir := t.TempDir()
	cut, whole := filepath.Join(dir, "cut.pcap"), filepath.Join(dir, "whole.pcap")
	data := manyPackets(3)
	require.NoError(t, os.WriteFile(cut, data[:len(data)-1], 0o600))
	require.NoError(t, os.WriteFile(whole, data, 0o600))
	var warnings []string
	r, err := Open(context.Background(), []string{cut, whole}, Options{Warn: func(w Warning) { warnings = append(warnings, w.String()) }})
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	assert.Len(t, readSegments(t, r), 5)
	record := (len(data) - 24) / 3
	assert.Equal(t, []string{fmt.Sprintf("%s: file truncated at byte %d, inside the packet that begins at byte %d", cut, len(data)-1, 24+2*record)}, warnings)
}

func TestOpenNamesTheFile(t *testing.T) {
	_, err := Open(context.Background(), []string{filepath.Join(t.TempDir(), "absent.pcap")}, Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "absent.pcap")
	_, err = Open(context.Background(), []string{"-", "-"}, Options{Stdin: bytes.NewReader(manyPackets(1))})
	assert.EqualError(t, err, "standard input is named twice")
	name := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(name, []byte("no capture"), 0o600))
	_, err = Open(context.Background(), []string{name, name}, Options{})
	assert.ErrorIs(t, err, ErrFormat)
	assert.ErrorContains(t, err, name+": ")
}

func TestProgressOfPipeIsOpen(t *testing.T) {
	data := manyPackets(3)
	r, err := openBytes(t, data, Options{})
	require.NoError(t, err)
	drain(t, r)
	read, total := r.Progress()
	assert.Equal(t, int64(len(data)), read)
	assert.Zero(t, total)
}

// dribble gives a random number of bytes at a time.
type dribble struct {
	data []byte
	rnd  *rand.Rand
}

func (d *dribble) Read(p []byte) (int, error) {
	if len(d.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.data[:min(len(d.data), d.rnd.Intn(200))])
	d.data = d.data[n:]
	return n, nil
}

// Neither the sizes of reads nor those of blocks change anything, and bytes that are held stay
// as they are while reading goes on.
func TestHeldBlocksStay(t *testing.T) {
	data := manyPackets(2000)
	want, _ := readAll(t, data, Options{})
	type hold struct {
		p    Packet
		text string
	}
	for seed := range int64(10) {
		rnd := rand.New(rand.NewSource(seed))
		r, err := Open(context.Background(), []string{"-"}, Options{Stdin: &dribble{data, rnd}, Limits: Limits{Block: 100 + rnd.Intn(2000)}})
		require.NoError(t, err)
		var held []hold
		for i := 0; ; i++ {
			var p Packet
			err := r.Next(&p)
			if err == io.EOF {
				require.Equal(t, len(want), i)
				break
			}
			require.NoError(t, err)
			require.Equal(t, want[i].Bytes, string(p.Data))
			p.Block.Hold()
			held = append(held, hold{p, string(p.Data)})
			if len(held) > 50 {
				k := rnd.Intn(len(held))
				require.Equal(t, held[k].text, string(held[k].p.Data))
				held[k].p.Block.Release()
				held = append(held[:k], held[k+1:]...)
			}
		}
		require.NoError(t, r.Close())
		for _, h := range held {
			require.Equal(t, h.text, string(h.p.Data))
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	n := bothOrders[0]
	blocks := [][]byte{n.section(), n.iface(1, 0)}
	for range 50_000 {
		blocks = append(blocks, n.packet(0, 1, eth(0x0800, tcpIP4())))
	}
	for name, data := range map[string][]byte{"pcapng": join(blocks...), "pcap": manyPackets(50_000)} {
		r, err := openBytes(t, data, Options{Limits: Limits{Block: 64 << 10}})
		require.NoError(t, err)
		var seg reassembly.Segment
		allocs := testing.AllocsPerRun(40, func() {
			for range 1000 {
				if err := r.NextSegment(&seg); err != nil {
					panic(err)
				}
			}
		})
		assert.Zero(t, allocs, name)
	}
}

func BenchmarkNextSegment(b *testing.B) {
	for _, size := range []int{64, 1448, 32 << 10} {
		var records []record
		for total := 0; total < 64<<20; total += size + 70 {
			records = append(records, record{data: eth(0x0800, ip4(protoTCP, tcpOf(make([]byte, size))))})
		}
		name := filepath.Join(b.TempDir(), "bench.pcap")
		data := pcapFile(binary.LittleEndian, magicMicro, 1, records...)
		require.NoError(b, os.WriteFile(name, data, 0o600))
		b.Run(fmt.Sprint("payload=", size), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for range b.N {
				r, err := Open(context.Background(), []string{name}, Options{})
				require.NoError(b, err)
				var seg reassembly.Segment
				for err == nil {
					err = r.NextSegment(&seg)
				}
				require.Equal(b, io.EOF, err)
				_ = r.Close()
			}
		})
	}
}
