package capture

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handmade is a device whose packets come from a test.
type handmade struct {
	link   LinkType
	arrive chan arrival
	fail   chan error
	lost   atomic.Int64
}

func newHandmade() *handmade {
	return &handmade{link: LinkEthernet, arrive: make(chan arrival, 1000), fail: make(chan error, 1)}
}

func (d *handmade) about() LiveInterface { return LiveInterface{"made0", d.link, 1 << 18} }
func (d *handmade) drops() int64         { return d.lost.Load() }
func (d *handmade) lag() int64           { return 0 }
func (d *handmade) close()               {}

func (d *handmade) read(take func(*arrival) error) (bool, error) {
	for n := 0; ; n++ {
		select {
		case a := <-d.arrive:
			if err := take(&a); err != nil {
				return false, err
			}
		case err := <-d.fail:
			return false, err
		case <-time.After(2 * time.Millisecond):
			return n == 0, nil
		}
	}
}

// testClock is a wall clock that a test sets, with a steady one that runs.
type testClock struct {
	mu    sync.Mutex
	began time.Time
	wall  int64 // at began
}

const wallStart = int64(1_796_000_000e9)

func newTestClock() *testClock { return &testClock{began: time.Now(), wall: wallStart} }

func (c *testClock) now() (wall, steady int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	steady = int64(time.Since(c.began))
	return c.wall + steady, steady
}

func (c *testClock) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += int64(by)
}

// newTestLive returns a Live on devices of the test.
func newTestLive(t *testing.T, clock *testClock, queueSize int, keep *Savefile, devices ...device) *Live {
	t.Helper()
	l := &Live{opts: LiveOptions{Clock: clock.now, Queue: queueSize}.withDefaults(), devices: devices}
	l.seen = make([]atomic.Int64, len(devices))
	l.lost = make([]atomic.Int64, len(devices))
	l.queue.init(l.opts.Queue, len(devices) > 1)
	l.Start(t.Context(), keep)
	t.Cleanup(l.Close)
	return l
}

// nextPacket passes over ticks.
func nextPacket(t *testing.T, l *Live) Packet {
	t.Helper()
	var p Packet
	for {
		err := l.Next(&p)
		if err == ErrTick {
			continue
		}
		require.NoError(t, err)
		return p
	}
}

func TestLiveGivesPackets(t *testing.T) {
	d := newHandmade()
	l := newTestLive(t, newTestClock(), 0, nil, d)
	d.arrive <- arrival{head: []byte("ab"), tail: []byte("cd"), wire: 100, time: wallStart + 5}
	d.arrive <- arrival{tail: []byte("ef"), wire: 2, time: wallStart + 6}
	p := nextPacket(t, l)
	assert.Equal(t, "abcd", string(p.Data))
	assert.Equal(t, []int64{100, wallStart + 5, 1}, []int64{int64(p.WireLen), p.Time, p.Number})
	assert.Equal(t, LinkEthernet, p.Link)
	p = nextPacket(t, l)
	assert.Equal(t, "ef", string(p.Data))
	assert.Equal(t, int64(2), p.Number)

	// Time goes on, and what arrived before Stop is still given.
	for range 3 {
		before := l.Now()
		require.Equal(t, ErrTick, l.Next(&p))
		assert.Greater(t, l.Now(), before)
	}
	d.arrive <- arrival{tail: []byte("last"), wire: 4, time: l.Now()}
	l.Stop()
	p = nextPacket(t, l)
	assert.Equal(t, "last", string(p.Data))
	assert.Equal(t, io.EOF, l.Next(&p))
	assert.Equal(t, int64(3), l.Stats().Packets)
}

func TestLiveEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &Live{opts: LiveOptions{Clock: newTestClock().now}.withDefaults(), devices: []device{newHandmade()}}
	l.seen, l.lost = make([]atomic.Int64, 1), make([]atomic.Int64, 1)
	l.queue.init(l.opts.Queue, false)
	l.Start(ctx, nil)
	defer l.Close()
	cancel()
	for {
		var p Packet
		if err := l.Next(&p); err != ErrTick {
			assert.Equal(t, io.EOF, err)
			return
		}
	}
}

// TestLiveNeverWaits has more packets than the queue has room for: they are dropped, counted and
// kept in the file.
func TestLiveNeverWaits(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kept.pcapng")
	keep, err := NewSavefile(name, SaveOptions{}, []LiveInterface{{"made0", LinkEthernet, 1 << 18}})
	require.NoError(t, err)
	d := newHandmade()
	d.lost.Store(7)
	l := newTestLive(t, newTestClock(), 2<<20, keep, d)
	const size, sent = 100_000, 50
	for i := range sent {
		d.arrive <- arrival{tail: make([]byte, size), wire: size, time: wallStart + int64(i)}
	}
	require.Eventually(t, func() bool { return l.Stats().Packets == sent }, 10*time.Second, time.Millisecond)
	l.Stop()
	got := 0
	for {
		var p Packet
		err := l.Next(&p)
		if err == io.EOF {
			break
		}
		if err == nil {
			assert.Equal(t, wallStart+int64(got), p.Time, "the oldest are kept")
			got++
		}
	}
	s := l.Stats()
	assert.Equal(t, 20, got, "ten of them fit a block")
	assert.Equal(t, LiveStats{Packets: sent, Bytes: sent * size, Kernel: 7, Queue: sent - 20, Interfaces: 1}, s)
	assert.Equal(t, int64(7+sent-20), s.Lost())
	l.Close()
	require.NoError(t, keep.Close())
	r, err := Open(t.Context(), []string{name}, Options{})
	require.NoError(t, err)
	defer r.Close()
	assert.Len(t, drain(t, r), sent)
}

// TestLiveHoldsBlocks keeps a packet's bytes while others come.
func TestLiveHoldsBlocks(t *testing.T) {
	d := newHandmade()
	l := newTestLive(t, newTestClock(), 4<<20, nil, d)
	d.arrive <- arrival{tail: []byte("held"), wire: 4}
	p := nextPacket(t, l)
	p.Block.Hold()
	for range 200 {
		d.arrive <- arrival{tail: make([]byte, 100_000), wire: 100_000}
		nextPacket(t, l)
	}
	assert.Equal(t, "held", string(p.Data))
	p.Block.Release()
}

func TestLiveTellsAboutTheClock(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -24 * time.Hour} {
		clock, d := newTestClock(), newHandmade()
		l := newTestLive(t, clock, 0, nil, d)
		d.arrive <- arrival{tail: []byte("a"), time: wallStart}
		nextPacket(t, l)
		assert.Zero(t, l.Step())
		clock.set(by)
		var p Packet
		step := int64(0)
		for range 10 {
			require.Equal(t, ErrTick, l.Next(&p))
			if step = l.Step(); step != 0 {
				break
			}
		}
		assert.InDelta(t, by, step, float64(time.Second))
		assert.Zero(t, l.Step(), "once")
		require.Equal(t, ErrTick, l.Next(&p))
		require.Equal(t, ErrTick, l.Next(&p))
		wall, _ := clock.now()
		assert.InDelta(t, wall, l.Now(), float64(time.Second), "time goes on from there")

		// A packet behind the step comes behind the news of it.
		clock.set(by)
		d.arrive <- arrival{tail: []byte("b"), time: wallStart + 2*int64(by)}
		for {
			err := l.Next(&p)
			if err == nil {
				break
			}
			require.Equal(t, ErrTick, err)
			step += l.Step()
		}
		assert.InDelta(t, 2*by, step, float64(2*time.Second))

		// One from before it that comes late changes nothing.
		before := l.Now()
		d.arrive <- arrival{tail: []byte("c"), time: wallStart + int64(by)}
		assert.Equal(t, wallStart+int64(by), nextPacket(t, l).Time)
		assert.InDelta(t, before, l.Now(), float64(time.Second))
	}
}

func TestLiveFails(t *testing.T) {
	good, bad := newHandmade(), newHandmade()
	l := newTestLive(t, newTestClock(), 0, nil, good, bad)
	gone := errors.New("gone")
	bad.fail <- gone
	for {
		var p Packet
		err := l.Next(&p)
		if err != ErrTick {
			assert.ErrorIs(t, err, gone)
			return
		}
	}
}

// TestLiveDropsRepeats sees a packet on two interfaces: with and without a tag, and after a
// router.
func TestLiveDropsRepeats(t *testing.T) {
	tcp := ip4(protoTCP, tcpOf([]byte("payload")))
	routed := append([]byte(nil), tcp...)
	routed[8]-- // time to live
	routed[10]++
	again := append([]byte(nil), tcp...)
	again[5]++ // identification
	cooked := func(packet []byte) []byte { return join(u16b(etherIPv4), make([]byte, 18), packet) }
	six := ip6(protoTCP, tcpOf([]byte("payload")))

	r := newRepeats()
	for _, c := range []struct {
		name string
		link LinkType
		data []byte
		time int64
		want bool
	}{
		{"first", LinkEthernet, eth(etherIPv4, tcp), 0, false},
		{"tagged", LinkEthernet, eth(etherVLAN, join(u16b(5, etherIPv4), tcp)), 1000, true},
		{"routed", LinkEthernet, eth(etherIPv4, routed), 2000, true},
		{"cooked", LinkLinuxSLL2, cooked(tcp), 3000, true},
		{"sent again", LinkEthernet, eth(etherIPv4, again), 4000, false},
		{"later", LinkEthernet, eth(etherIPv4, tcp), 200e6, false},
		{"IPv6", LinkEthernet, eth(etherIPv6, six), 0, false},
		{"IPv6 again", LinkEthernet, eth(etherIPv6, six), 10, true},
		{"UDP", LinkEthernet, eth(etherIPv4, ip4(protoUDP, udpTo(53, nil))), 0, false},
		{"UDP again", LinkEthernet, eth(etherIPv4, ip4(protoUDP, udpTo(53, nil))), 0, false},
		{"runt", LinkEthernet, []byte{1, 2, 3}, 0, false},
		{"other link", LinkRaw, tcp, 0, false},
	} {
		half := len(c.data) / 2
		got := r.seen(&arrival{head: c.data[:half], tail: c.data[half:], time: c.time}, c.link)
		assert.Equal(t, c.want, got, c.name)
	}

	d, e := newHandmade(), newHandmade()
	l := newTestLive(t, newTestClock(), 0, nil, d, e)
	d.arrive <- arrival{tail: eth(etherIPv4, tcp), time: wallStart}
	assert.Equal(t, eth(etherIPv4, tcp), nextPacket(t, l).Data)
	e.arrive <- arrival{tail: eth(etherIPv4, routed), time: wallStart + 1000, iface: 1}
	require.Eventually(t, func() bool { return l.Stats().Repeats == 1 }, 10*time.Second, time.Millisecond)
	assert.Equal(t, int64(1), l.Stats().Packets)
}
