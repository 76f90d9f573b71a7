package capture

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// AnyInterface is the name that stands for all interfaces, where the system has that.
const AnyInterface = "any"

// Errors of OpenLive.
var (
	// ErrNoRight says that the process may not capture.
	ErrNoRight = errors.New("no right to capture packets")
	// ErrNotBuilt says that this build cannot do what was asked.
	ErrNotBuilt = errors.New("needs a build with libpcap: go build -tags libpcap")
	// ErrFilter says that the filter expression is wrong.
	ErrFilter = errors.New("filter")
)

// LiveOptions say what is captured live, and how.
type LiveOptions struct {
	Interfaces  []string // at least one
	Filter      LiveFilter
	Expression  string // of libpcap, in place of Filter; "" is none
	SnapLen     int    // bytes kept of each packet; 262,144
	Buffer      int    // bytes of the kernel's buffer for each interface; 32 MiB
	Queue       int    // bytes of packets that wait for being decoded; 64 MiB
	Promiscuous bool

	// Immediate has the kernel hand over packets as they come, where it else does so every 10 ms or
	// when much has come. It costs more, and with libpcap each packet then takes SnapLen bytes of the
	// buffer, which so holds 128 packets only.
	Immediate bool

	// Clock gives nanoseconds: since 1970, and by a clock that nobody sets.
	Clock func() (wall, steady int64)
}

// LiveFilter says which packets are captured: TCP from and to these ports and hosts, with VLAN
// tags and in fragments, and tunnels, whatever is inside. None stands for all.
type LiveFilter struct {
	Ports []uint16
	Hosts []netip.Addr
}

func (o LiveOptions) withDefaults() LiveOptions {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.SnapLen, 256<<10)
	def(&o.Buffer, 32<<20)
	def(&o.Queue, 64<<20)
	return o
}

// LiveInterface is one interface that is captured on.
type LiveInterface struct {
	Name    string
	Link    LinkType
	SnapLen int
}

// LiveStats count packets of all interfaces together.
type LiveStats struct {
	Packets    int64 // taken from the kernel
	Bytes      int64 // of these, as captured
	Kernel     int64 // lost in the kernel, its buffer being full
	Queue      int64 // lost because decoding did not keep up; a Savefile has them
	Repeats    int64 // passed over as the second copy of a packet seen on another interface
	Interfaces int
}

// Lost is the number of packets that were not decoded for want of room.
func (s LiveStats) Lost() int64 { return s.Kernel + s.Queue }

const (
	tickEvery = 100 * time.Millisecond
	// handOver is how long the kernel may keep packets to hand over many at once.
	handOver = 10 * time.Millisecond
	// stepAt is how far the wall clock must move against the steady one to have been set.
	stepAt = time.Second
)

// arrival is a packet as a device gives it. The bytes are alive during the call.
type arrival struct {
	head, tail []byte // the captured bytes, in two parts
	wire       int    // length on the wire, with what was added to head
	time       int64
	iface      int // index of its interface
}

// device captures on one interface. All but seen and close are for one goroutine.
type device interface {
	// about describes the interface.
	about() LiveInterface
	// read gives what has arrived to take, and waits a moment where nothing has. quiet
	// tells that at some time of this call there was nothing.
	read(take func(*arrival) error) (quiet bool, err error)
	// drops returns how many packets the kernel has lost so far.
	drops() int64
	// lag is how late, in nanoseconds, read may give a packet while it finds nothing.
	lag() int64
	close()
}

// Live captures on interfaces. It is a Source for one goroutine; ErrTick comes at least every
// 100 ms. Capturing runs in goroutines of its own, which never wait for Next: packets are lost
// and counted where the queue is full.
type Live struct {
	opts    LiveOptions
	devices []device
	seen    []atomic.Int64 // wall-clock time up to which a device's packets are in the queue
	lost    []atomic.Int64 // by the kernel, of each device
	keep    *Savefile
	stop    atomic.Bool
	running sync.WaitGroup
	queue   queue

	// Of the goroutine that calls Next.
	batch    *batch
	next     int
	now      int64
	ceiling  int64 // nothing can be later, by the wall clock as it is now set
	offset   int64 // of the wall clock from the steady one
	step     int64
	lastTick int64
	number   int64
	released func() bool
}

// OpenLive opens the interfaces. Its errors wrap ErrNoRight, ErrFilter and ErrNotBuilt where it
// is for these.
func OpenLive(opts LiveOptions) (*Live, error) {
	opts = opts.withDefaults()
	l := &Live{opts: opts}
	for i := range opts.Interfaces {
		d, err := openDevice(i, &l.opts)
		if err != nil {
			l.closeDevices()
			return nil, err
		}
		l.devices = append(l.devices, d)
	}
	l.seen = make([]atomic.Int64, len(l.devices))
	l.lost = make([]atomic.Int64, len(l.devices))
	several := len(l.devices) > 1 || opts.Interfaces[0] == AnyInterface
	l.queue.init(opts.Queue, several)
	return l, nil
}

// Interfaces describes what is captured on.
func (l *Live) Interfaces() []LiveInterface {
	all := make([]LiveInterface, len(l.devices))
	for i, d := range l.devices {
		all[i] = d.about()
	}
	return all
}

// Start begins to capture. What is captured goes into keep, too, where that is not nil. Once ctx
// is done, Next gives what has been captured by then and ends with io.EOF.
func (l *Live) Start(ctx context.Context, keep *Savefile) {
	l.keep = keep
	wall, steady := l.opts.Clock()
	l.offset, l.lastTick, l.now = wall-steady, steady, wall
	l.released = context.AfterFunc(ctx, l.Stop)
	for i, d := range l.devices {
		l.seen[i].Store(wall)
		l.running.Add(1)
		go l.capture(i, d)
	}
	go func() {
		l.running.Wait()
		l.queue.end(nil)
	}()
}

// Stop ends the capture: Next gives what has been captured by then, and io.EOF.
func (l *Live) Stop() { l.stop.Store(true) }

// capture moves packets from one device to the queue.
func (l *Live) capture(i int, d device) {
	defer l.running.Done()
	take := func(a *arrival) error {
		l.queue.mu.Lock()
		defer l.queue.mu.Unlock()
		if l.queue.repeated(a, d.about().Link) {
			return nil
		}
		if l.keep != nil {
			if err := l.keep.packet(a); err != nil {
				return err
			}
		}
		l.queue.put(a)
		return nil
	}
	for {
		last := l.stop.Load() // one more read takes what had arrived when Stop was called
		wall, _ := l.opts.Clock()
		quiet, err := d.read(take)
		l.lost[i].Store(d.drops())
		if err == nil && quiet {
			l.seen[i].Store(wall - d.lag())
			err = l.flush()
		}
		if err != nil {
			l.queue.end(err)
			l.Stop()
			return
		}
		if last {
			return
		}
	}
}

// flush writes out what the savefile holds back.
func (l *Live) flush() error {
	if l.keep == nil {
		return nil
	}
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return l.keep.flush()
}

// Next implements Source. ErrTick says that time has passed: see Now. io.EOF comes after Stop.
func (l *Live) Next(p *Packet) error {
	for {
		if l.batch != nil && l.next < len(l.batch.packets) {
			l.give(p)
			return nil
		}
		if l.batch != nil {
			l.queue.recycle(l.batch)
			l.batch = nil
		}
		wall, steady := l.opts.Clock()
		l.ceiling = wall + int64(stepAt)
		if l.stepped(wall - steady) {
			return ErrTick
		}
		if seen := l.quietSince(); l.queue.empty() { // in this order
			l.advance(seen)
		}
		if steady-l.lastTick >= int64(tickEvery) {
			l.lastTick = steady
			return ErrTick
		}
		b, ended, err := l.queue.pop()
		switch {
		case b != nil:
			l.batch, l.next = b, 0
		case ended && err != nil:
			return err
		case ended:
			return io.EOF
		default:
			l.queue.wait(tickEvery - time.Duration(steady-l.lastTick))
		}
	}
}

// give sets p to the next packet of the batch.
func (l *Live) give(p *Packet) {
	q := &l.batch.packets[l.next]
	l.next++
	l.number++
	*p = Packet{
		Data:    l.batch.block.data[q.start:q.end:q.end],
		WireLen: int(q.wire),
		Time:    q.time,
		Number:  l.number,
		Link:    l.devices[q.iface].about().Link,
		File:    int(q.iface),
		Block:   l.batch.block,
	}
	l.advance(q.time)
}

// advance has the time go on to t, unless that is a time from before the clock was set back.
func (l *Live) advance(t int64) {
	if t <= l.ceiling {
		l.now = max(l.now, t)
	}
}

// stepped reports whether the wall clock has been set, from its offset to the steady one.
func (l *Live) stepped(offset int64) bool {
	step := offset - l.offset
	l.offset = offset
	if step > -int64(stepAt) && step < int64(stepAt) {
		return false
	}
	l.step += step
	l.now += step
	return true
}

// quietSince returns the time up to which all packets have been put into the queue.
func (l *Live) quietSince() int64 {
	least := l.seen[0].Load()
	for i := range l.seen {
		least = min(least, l.seen[i].Load())
	}
	return least
}

// Now is the time of the capture, in nanoseconds since 1970: that of the last packet or, after
// it, the time up to which there was none. It goes backward by Step only.
func (l *Live) Now() int64 { return l.now }

// Step returns by how much, in nanoseconds, the wall clock has been set since the last call.
func (l *Live) Step() int64 {
	s := l.step
	l.step = 0
	return s
}

// Stats counts packets. It may be called from any goroutine.
func (l *Live) Stats() LiveStats {
	s := l.queue.stats()
	s.Interfaces = len(l.devices)
	for i := range l.lost {
		s.Kernel += l.lost[i].Load()
	}
	return s
}

// Close ends the capture and closes the interfaces. The savefile is left open.
func (l *Live) Close() {
	if l.released != nil {
		l.released()
	}
	l.Stop()
	l.running.Wait()
	l.closeDevices()
}

func (l *Live) closeDevices() {
	for _, d := range l.devices {
		d.close()
	}
	l.devices = nil
}
