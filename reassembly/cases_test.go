package reassembly_test

import (
	"strings"
	"testing"

	"github.com/kdissect/kdissect/reassembly"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	fwd = reassembly.Forward
	bwd = reassembly.Backward
)

// gap is what a case expects of a reassembly.Gap.
type gap struct {
	off, n int64
	reason reassembly.Reason
}

func TestConnection(t *testing.T) {
	type want struct {
		fwd, bwd         string
		fwdGaps, bwdGaps []gap
		why              reassembly.End
		notes            map[reassembly.NoteKind]int
	}
	cases := []struct {
		name string
		run  func(f *feeder)
		want want
	}{
		{"whole", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101, 501, "hello")
			f.send(bwd, ack, 501, 106, "world")
			f.send(fwd, fin|ack, 106, 506, "")
			f.send(bwd, fin|ack, 506, 107, "")
			f.send(fwd, ack, 107, 507, "")
		}, want{fwd: "hello", bwd: "world", why: reassembly.EndFIN}},
		{"wrap", func(f *feeder) {
			f.handshake(0xfffffffd, 0xffffffff)
			f.send(fwd, ack, 0xfffffffe, 0, "hel")
			f.send(fwd, ack, 3, 0, "wor")
			f.send(fwd, ack, 1, 0, "lo")
			f.send(bwd, ack, 0, 6, "ld")
		}, want{fwd: "hellowor", bwd: "ld", why: reassembly.EndCapture}},
		{"data in SYN and FIN", func(f *feeder) {
			f.send(fwd, syn, 100, 0, "early")
			f.send(bwd, syn|ack, 500, 106, "")
			f.send(fwd, fin|ack, 106, 501, "last")
			f.send(bwd, fin|ack, 501, 111, "bye")
		}, want{fwd: "earlylast", bwd: "bye", why: reassembly.EndFIN}},
		{"FIN before data", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, fin|ack, 106, 501, "")
			f.send(fwd, ack, 101, 501, "hello")
			f.send(bwd, fin|ack, 501, 107, "")
		}, want{fwd: "hello", why: reassembly.EndFIN}},
		{"lost segment, acknowledged", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 106, 501, "world")
			f.send(bwd, ack, 501, 111, "")
		}, want{fwd: "world", fwdGaps: []gap{{0, 5, reassembly.NotCaptured}}, why: reassembly.EndCapture}},
		{"lost answer, and lost FIN", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101, 501, "hello")
			f.send(fwd, fin|ack, 106, 512, "")
		}, want{fwd: "hello", bwdGaps: []gap{{0, 10, reassembly.NotCaptured}}, why: reassembly.EndCapture}},
		{"lost FIN alone", func(f *feeder) {
			f.handshake(100, 500)
			f.send(bwd, ack, 501, 101, "hello")
			f.send(fwd, ack, 101, 507, "")
		}, want{bwd: "hello", why: reassembly.EndCapture}},
		{"keep-alives", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101, 501, "hello")
			f.send(fwd, ack, 105, 501, "\x00")
			f.send(bwd, ack, 501, 106, "")
			f.send(fwd, ack, 105, 501, "")
			f.send(fwd, ack, 106, 501, " you")
		}, want{fwd: "hello you", why: reassembly.EndCapture}},
		{"keep-alive first", func(f *feeder) {
			f.send(fwd, ack, 99, 501, "")
			f.send(bwd, ack, 501, 100, "")
			f.send(fwd, ack, 100, 501, "hello")
		}, want{fwd: "hello", why: reassembly.EndCapture}},
		{"first copy wins, also when held", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 104, 501, "DEF")
			f.send(fwd, ack, 103, 501, "cdefg")
			f.send(fwd, ack, 101, 501, "abXY")
		}, want{fwd: "abcDEFg", why: reassembly.EndCapture,
			notes: map[reassembly.NoteKind]int{reassembly.OverlapConflict: 3}}},
		{"retransmission", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101, 501, "abcdef")
			f.send(fwd, ack, 101, 501, "abcdef")
			f.send(fwd, ack, 103, 501, "cdefgh")
		}, want{fwd: "abcdefgh", why: reassembly.EndCapture,
			notes: map[reassembly.NoteKind]int{reassembly.Retransmission: 2}}},
		{"snapshot length", func(f *feeder) {
			f.handshake(100, 500)
			f.cut(fwd, ack, 101, 501, "abc", 10)
			f.send(fwd, ack, 111, 501, "x")
			f.cut(fwd, ack, 112, 501, "", 4)
		}, want{fwd: "abcx", fwdGaps: []gap{{3, 7, reassembly.SnapLength}, {11, 4, reassembly.SnapLength}}, why: reassembly.EndCapture}},
		{"snapshot length, held, filled by a fuller copy", func(f *feeder) {
			f.handshake(100, 500)
			f.cut(fwd, ack, 105, 501, "ef", 6)
			f.send(fwd, ack, 108, 501, "h")
			f.send(fwd, ack, 101, 501, "abcd")
			f.send(fwd, ack, 111, 501, "k")
		}, want{fwd: "abcdefhk", fwdGaps: []gap{{6, 1, reassembly.SnapLength}, {8, 2, reassembly.SnapLength}}, why: reassembly.EndCapture,
			notes: map[reassembly.NoteKind]int{}}},
		{"middle, swapped at the start", func(f *feeder) {
			f.send(fwd, ack, 106, 501, "world")
			f.send(fwd, ack, 101, 501, "hello")
			f.send(bwd, ack, 501, 111, "ok")
		}, want{fwd: "helloworld", bwd: "ok", why: reassembly.EndCapture}},
		{"middle, acknowledgement first", func(f *feeder) {
			f.send(fwd, ack, 101, 500, "hello")
			f.send(bwd, ack, 504, 106, "later")
		}, want{fwd: "hello", bwd: "later", bwdGaps: []gap{{0, 4, reassembly.NotCaptured}}, why: reassembly.EndCapture}},
		{"middle, acknowledgement and its data swapped", func(f *feeder) {
			f.send(fwd, ack, 101, 506, "")
			f.send(bwd, ack, 501, 101, "hello")
			f.send(bwd, ack, 506, 101, "world")
			f.send(fwd, ack, 101, 511, "")
		}, want{bwd: "helloworld", why: reassembly.EndCapture}},
		{"acknowledgement before its data", func(f *feeder) {
			f.handshake(100, 500)
			f.send(bwd, ack, 501, 111, "")
			f.send(fwd, ack, 106, 501, "world")
			f.send(fwd, ack, 101, 501, "hello")
		}, want{fwd: "helloworld", why: reassembly.EndCapture}},
		{"SYN-ACK and data before SYN", func(f *feeder) {
			f.send(bwd, syn|ack, 500, 101, "")
			f.send(fwd, ack, 101, 501, "hello")
			f.send(fwd, syn, 100, 0, "")
			f.send(bwd, ack, 501, 106, "ok")
		}, want{fwd: "hello", bwd: "ok", why: reassembly.EndCapture}},
		{"answer with an earlier connection's numbers", func(f *feeder) {
			f.send(fwd, syn, 100, 0, "")
			f.send(bwd, ack, 0x70000000, 0x60000000, "")
			f.send(fwd, rst, 0x60000000, 0, "")
			f.send(fwd, syn, 100, 0, "")
			f.send(bwd, syn|ack, 500, 101, "")
			f.send(fwd, ack, 101, 501, "hello")
			f.send(bwd, ack, 501, 106, "ok")
		}, want{fwd: "hello", bwd: "ok", why: reassembly.EndCapture}},
		{"both open", func(f *feeder) {
			f.send(fwd, syn, 100, 0, "")
			f.send(bwd, syn, 500, 0, "")
			f.send(bwd, syn|ack, 500, 101, "")
			f.send(fwd, syn|ack, 100, 501, "")
			f.send(bwd, ack, 501, 101, "b")
			f.send(fwd, ack, 101, 502, "f")
		}, want{fwd: "f", bwd: "b", why: reassembly.EndCapture}},
		{"reset", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101, 501, "hello")
			f.send(bwd, rst|ack, 501, 106, "")
		}, want{fwd: "hello", why: reassembly.EndRST}},
		{"reset, swapped with the data before it", func(f *feeder) {
			f.handshake(100, 500)
			f.send(bwd, rst|ack, 501, 106, "")
			f.send(fwd, ack, 101, 501, "hello")
		}, want{fwd: "hello", why: reassembly.EndRST}},
		{"reset out of window", func(f *feeder) {
			f.handshake(100, 500)
			f.send(bwd, rst, 0x7fff0000, 0, "")
			f.send(fwd, ack, 101, 501, "hello")
		}, want{fwd: "hello", why: reassembly.EndCapture, notes: map[reassembly.NoteKind]int{reassembly.OutOfWindow: 1}}},
		{"a stray segment", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 0x40000000, 501, "stray")
			f.send(fwd, ack, 0x40000000, 501, "stray")
			f.send(fwd, ack, 101, 501, "hello")
			f.send(bwd, ack, 501, 106, "")
		}, want{fwd: "hello", why: reassembly.EndCapture, notes: map[reassembly.NoteKind]int{reassembly.OutOfWindow: 1}}},
		{"a long loss", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101, 501, "a")
			f.send(fwd, ack, 101+100<<20, 501, "hello")
			f.send(fwd, ack, 106+100<<20, 501, "world")
		}, want{fwd: "ahelloworld", fwdGaps: []gap{{1, 100<<20 - 1, reassembly.NotCaptured}}, why: reassembly.EndCapture}},
		{"elsewhere altogether", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101, 501, "a")
			f.send(fwd, ack, 0x90000000, 501, "hello")
			f.send(fwd, ack, 0x90000005, 501, "world")
		}, want{fwd: "ahelloworld", fwdGaps: []gap{{1, -1, reassembly.NotCaptured}}, why: reassembly.EndCapture}},
		{"held behind a hole at the end", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 103, 501, "cd")
			f.send(fwd, ack, 107, 501, "gh")
		}, want{fwd: "cdgh", fwdGaps: []gap{{0, 2, reassembly.NotCaptured}, {4, 2, reassembly.NotCaptured}}, why: reassembly.EndCapture}},
		{"a hole above the filler size", func(f *feeder) {
			f.handshake(100, 500)
			f.send(fwd, ack, 101+200_000, 501, "cd")
			f.send(fwd, ack, 107+200_000, 501, "gh")
		}, want{fwd: "cdgh", fwdGaps: []gap{{0, 200_000, reassembly.NotCaptured}, {200_002, 4, reassembly.NotCaptured}}, why: reassembly.EndCapture}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRecorder(t)
			f := newFeeder(r, reassembly.Limits{})
			c.run(f)
			f.a.Flush()
			require.Len(t, r.conns, 1)
			k := r.conns[0]
			assert.Equal(t, toServer, k.conn.Flow)
			assert.Equal(t, c.want.fwd, string(k.dirs[fwd].bytes))
			assert.Equal(t, c.want.bwd, string(k.dirs[bwd].bytes))
			for d, gaps := range [][]gap{c.want.fwdGaps, c.want.bwdGaps} {
				var got []gap
				for _, g := range k.dirs[d].gaps {
					got = append(got, gap{g.Off, g.Len, g.Reason})
				}
				assert.Equal(t, gaps, got, "gaps of direction %d", d)
			}
			assert.Equal(t, 1, k.closes)
			assert.Equal(t, c.want.why, k.why, k.why.String())
			if c.want.notes != nil {
				for kind, n := range c.want.notes {
					assert.Equal(t, n, r.notes[kind], "notes of kind %d", kind)
				}
			}
			assert.Zero(t, f.a.Held())
		})
	}
}

func TestAddressesUsedAgain(t *testing.T) {
	r := newRecorder(t)
	f := newFeeder(r, reassembly.Limits{})
	f.handshake(100, 500)
	f.send(fwd, syn, 100, 0, "") // the same SYN again
	f.send(fwd, ack, 101, 501, "one")
	f.handshake(70_000_100, 900)
	f.send(fwd, ack, 70_000_101, 901, "two")
	f.send(fwd, fin|ack, 70_000_104, 901, "")
	f.send(bwd, fin|ack, 901, 70_000_105, "")
	f.send(fwd, ack, 70_000_101, 901, "two") // stragglers open nothing
	f.send(bwd, ack, 902, 70_000_105, "")
	f.send(fwd, rst, 70_000_105, 0, "")
	f.handshake(80_000_100, 1900)
	f.send(fwd, ack, 80_000_101, 1901, "three")
	f.send(fwd, rst, 80_000_106, 0, "")
	f.handshake(90_000_100, 2900)
	f.send(fwd, ack, 90_000_101, 2901, "four")
	f.a.Flush()
	require.Len(t, r.conns, 4)
	for i, want := range []struct {
		data string
		why  reassembly.End
	}{{"one", reassembly.EndReuse}, {"two", reassembly.EndFIN}, {"three", reassembly.EndRST}, {"four", reassembly.EndCapture}} {
		assert.Equal(t, want.data, string(r.conns[i].dirs[fwd].bytes))
		assert.Equal(t, want.why, r.conns[i].why)
		assert.Equal(t, int64(i+1), r.conns[i].conn.ID)
	}
	assert.Equal(t, 1, r.notes[reassembly.PortReuse])
}

// Of an attempt that was refused, only the RST is captured. What follows on its addresses, with a
// SYN or without, is another connection.
func TestAddressesUsedAgainBehindRST(t *testing.T) {
	for _, withSYN := range []bool{true, false} {
		r := newRecorder(t)
		f := newFeeder(r, reassembly.Limits{})
		f.send(bwd, rst|ack, 0, 100, "")
		f.time += 5000 * ms
		f.a.Advance(f.time)
		require.Len(t, r.conns, 1)
		require.Equal(t, 1, r.conns[0].closes)
		if withSYN {
			f.handshake(100, 500)
		}
		f.send(fwd, ack, 101, 501, "hello")
		f.send(bwd, ack, 501, 106, "world")
		f.a.Flush()
		require.Len(t, r.conns, 2, "SYN %v", withSYN)
		assert.Equal(t, "hello", string(r.conns[1].dirs[fwd].bytes))
		assert.Equal(t, "world", string(r.conns[1].dirs[bwd].bytes))
	}
}

// A SYN right behind a RST is another connection, unless it is the one that was refused.
func TestSYNBehindRST(t *testing.T) {
	for _, tc := range []struct {
		name  string
		flags reassembly.Flags
		ack   uint32
		conns int
	}{
		{"of a connection", rst, 0, 2},
		{"of another attempt", rst | ack, 4000, 2},
		{"of this attempt, swapped", rst | ack, 101, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRecorder(t)
			f := newFeeder(r, reassembly.Limits{})
			f.send(bwd, tc.flags, 0, tc.ack, "")
			f.send(fwd, syn, 100, 0, "")
			if tc.conns == 2 {
				f.send(bwd, syn|ack, 500, 101, "")
				f.send(fwd, ack, 101, 501, "hello")
			}
			f.a.Flush()
			require.Len(t, r.conns, tc.conns)
			if tc.conns == 2 {
				assert.Equal(t, "hello", string(r.conns[1].dirs[fwd].bytes))
				assert.Equal(t, reassembly.EndCapture, r.conns[1].why)
			}
		})
	}
}

// Of the second connection neither SYN is captured, of the first one only one FIN.
func TestAddressesUsedAgainWithoutSYN(t *testing.T) {
	r := newRecorder(t)
	f := newFeeder(r, reassembly.Limits{})
	f.handshake(100, 500)
	f.send(fwd, ack, 101, 501, "one")
	f.send(fwd, fin|ack, 104, 501, "")
	f.send(bwd, ack, 501, 105, "rest")               // of the first one, whose broker has not closed
	f.send(fwd, ack, 70_000_000, 505, "garbage")     // one number alone may be damaged
	f.send(bwd, ack, 505, 80_000_000, "!")           //
	f.send(bwd, ack, 600_000_000, 70_000_000, "two") // both are of another connection
	f.send(fwd, ack, 70_000_000, 600_000_003, "three")
	f.a.Flush()
	require.Len(t, r.conns, 2)
	assert.Equal(t, reassembly.EndReuse, r.conns[0].why)
	assert.Equal(t, "one", string(r.conns[0].dirs[fwd].bytes))
	assert.Equal(t, "rest!", string(r.conns[0].dirs[bwd].bytes))
	// The first segment of it came from the other side.
	require.Equal(t, r.conns[0].conn.Flow.Reverse(), r.conns[1].conn.Flow)
	assert.Equal(t, "two", string(r.conns[1].dirs[fwd].bytes))
	assert.Equal(t, "three", string(r.conns[1].dirs[bwd].bytes))
	for _, k := range r.conns {
		assert.Empty(t, append(k.dirs[fwd].gaps, k.dirs[bwd].gaps...))
	}
}

// A hole is lost once enough has gone by since its acknowledgement, not before, and one lost
// answer is known without anything behind it.
func TestGrace(t *testing.T) {
	for _, behind := range []string{"", "world"} {
		r := newRecorder(t)
		f := newFeeder(r, reassembly.Limits{GraceTime: 1 << 60})
		f.handshake(100, 500)
		if behind != "" {
			f.send(fwd, ack, 106, 501, behind)
		}
		end := 106 + uint32(len(behind))
		for i := range 40 {
			assert.LessOrEqual(t, len(r.dir(fwd).gaps), i/16) // two segments a turn
			f.send(bwd, ack, 501, end, "")
			f.send(fwd, ack, end, 501, "")
		}
		x := r.conns[0].dirs[fwd]
		require.Len(t, x.gaps, 1)
		assert.Equal(t, int64(5), x.gaps[0].Len)
		assert.Equal(t, behind, string(x.bytes))
		assert.Equal(t, reassembly.NotCaptured, x.gaps[0].Reason)
	}
	t.Run("by time", func(t *testing.T) {
		r := newRecorder(t)
		f := newFeeder(r, reassembly.Limits{})
		f.handshake(100, 500)
		f.send(bwd, ack, 501, 111, "")
		for range 5 {
			f.time += 300 * ms
			f.a.Advance(f.time)
		}
		x := r.conns[0].dirs[fwd]
		require.Len(t, x.gaps, 1)
		assert.Equal(t, int64(10), x.gaps[0].Len)
	})
	t.Run("one damaged acknowledgement", func(t *testing.T) {
		r := newRecorder(t)
		f := newFeeder(r, reassembly.Limits{})
		f.handshake(100, 500)
		f.send(bwd, ack, 501, 0x20000000, "")
		for i := range uint32(100) {
			f.send(fwd, ack, 101+2*i, 501, "ab")
			f.send(bwd, ack, 501, 103+2*i, "")
		}
		f.a.Flush()
		assert.Empty(t, r.conns[0].dirs[fwd].gaps)
		assert.Equal(t, strings.Repeat("ab", 100), string(r.conns[0].dirs[fwd].bytes))
	})
}

func TestIdle(t *testing.T) {
	r := newRecorder(t)
	f := newFeeder(r, reassembly.Limits{MaxIdle: 1000 * ms})
	f.handshake(100, 500)
	f.send(bwd, ack, 501, 101, "x")
	for i := range uint32(50) { // one direction is quiet, the connection is not
		f.time += 100 * ms
		f.send(fwd, ack, 101+i, 502, "y")
		f.a.Advance(f.time)
	}
	f.a.Advance(f.time - 3600_000*ms)
	f.send(bwd, ack, 502, 151, "z")
	assert.False(t, r.closed())
	f.a.Advance(f.time + 999*ms)
	assert.False(t, r.closed())
	f.a.Advance(f.time + 1002*ms)
	require.Equal(t, 1, r.conns[0].closes)
	assert.Equal(t, reassembly.EndIdle, r.conns[0].why)
	assert.Equal(t, "xz", string(r.conns[0].dirs[bwd].bytes))
	f.send(bwd, ack, 503, 151, "again")
	f.a.Flush()
	assert.Len(t, r.conns, 2)
}

// TestShift sets the clock while connections are open: none was idle.
func TestShift(t *testing.T) {
	for _, by := range []int64{3600_000 * ms, -3600_000 * ms} {
		r := newRecorder(t)
		f := newFeeder(r, reassembly.Limits{MaxIdle: 1000 * ms})
		f.handshake(100, 500)
		f.a.Advance(f.time)
		f.a.Shift(by)
		f.time += by
		f.a.Advance(f.time + 900*ms)
		require.False(t, r.closed())
		f.a.Advance(f.time + 1002*ms)
		require.Equal(t, 1, r.conns[0].closes)
		assert.Equal(t, reassembly.EndIdle, r.conns[0].why)

		// A closed connection is remembered for its stragglers as long as ever.
		f = newFeeder(r, reassembly.Limits{})
		f.handshake(100, 500)
		f.send(fwd, ack|rst, 101, 501, "")
		f.a.Advance(f.time + 1000*ms)
		f.a.Shift(by)
		f.time += by
		f.a.Advance(f.time + 1000*ms)
		f.send(bwd, ack, 501, 101, "")
		assert.Len(t, r.conns, 2)
	}
}
