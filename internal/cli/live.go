package cli

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/capture"
	"github.com/kdissect/kdissect/reassembly"
)

var liveVerb = verb{
	name:  "live",
	brief: "Show the Kafka exchanges on network interfaces as they happen",
	about: `
Captures on one or several interfaces and shows each request with its response, as read does for files;
all selections and formats of read apply. 'any' is all interfaces of a Linux host. --list shows what
there is.

All TCP is looked at, on any port, also in VLAN tags, fragments and tunnels; --port and --host narrow
that down in the kernel, which costs the host less. In a build with libpcap, --filter replaces this
filter by one of pcap-filter(7). The second copies of packets that loopback and 'any' have are dropped.

Capturing never waits: what could not be decoded in time, or was lost in the kernel, is counted on stderr,
at the end and while it happens, and the affected connections have gaps. -w keeps the packets as pcapng
at the same time; --rotate and --keep bound what that takes on disk.

It ends at Ctrl-C, SIGTERM, after --duration or after -n exchanges, with status 0. Capturing needs a right:
run it by sudo, which is given up once the interfaces are open (see --user), or grant it to the program once:
  sudo setcap cap_net_raw,cap_net_admin+eip "$(command -v kdissect)"`,
	examples: []example{
		{"live -i eth0 --port 9092", "the exchanges of a broker, as they happen"},
		{"live -i any --errors", "what fails, on whatever interface"},
		{"live -i lo -w kept.pcapng --rotate 100MiB --keep 10 -j", "JSON, and the packets themselves in at most 1 GiB"},
		{"live -i eth0 --slower-than 200ms --duration 10m", "slow exchanges of ten minutes"},
		{"live --list", "the interfaces"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &liveFlags{
			readFlags: readFlags{
				format: newChoice("summary", "tree", "json"),
				bytes:  newChoice("auto", "base64", "hex"),
				color:  newChoice("auto", "always", "never"),
				values: newValuesFlag(),
			},
			snapLen: 256 << 10, buffer: 32 << 20, queue: 64 << 20,
		}
		f.define(fs)
		return f.run
	},
}

// reportLosses is how often losses are told where --report-every is not given.
const reportLosses = 10 * time.Second

// liveFlags are the flags of live.
type liveFlags struct {
	readFlags

	interfaces             []string
	list, promiscuous      bool
	immediate              bool
	hosts                  []string
	filter                 string
	snapLen, buffer, queue size

	write    string
	rotate   rotation
	keep     int
	duration time.Duration
	report   time.Duration
	user     string
}

func (f *liveFlags) define(fs *pflag.FlagSet) {
	fs.StringSliceVarP(&f.interfaces, "interface", "i", nil, "capture on this interface (`name`), or on any")
	fs.BoolVar(&f.list, "list", false, "list the interfaces and end")
	fs.StringSliceVar(&f.hosts, "host", nil, "only packets from or to this `address`")
	fs.StringVar(&f.filter, "filter", "", "capture by this `expression` of pcap-filter(7) instead (needs libpcap)")
	fs.DurationVar(&f.duration, "duration", 0, "end after this time, such as 30s or 10m")
	fs.StringVarP(&f.write, "write", "w", "", "keep the packets in this pcapng `file`, too")
	fs.Var(&f.rotate, "rotate", "with -w: begin another file after that size or time, such as 100MiB or 1h")
	fs.IntVar(&f.keep, "keep", 0, "with --rotate: keep the last `N` files only")
	fs.DurationVar(&f.report, "report-every", 0, "tell the counters on stderr this often (without: every 10s while packets are lost)")
	fs.StringVar(&f.user, "user", "", "go on as this user (`name`) once the interfaces are open; default: who called sudo")
	fs.BoolVar(&f.promiscuous, "promiscuous", false, "take packets that are not for this host, too")
	fs.BoolVar(&f.immediate, "immediate", false, "take each packet at once, not every 10 ms, which costs more and may lose more")
	fs.Var(&f.snapLen, "snaplen", "bytes to keep of each packet (`size`)")
	fs.Var(&f.buffer, "buffer", "the kernel's buffer for each interface (`size`)")
	fs.Var(&f.queue, "queue", "packets that wait to be decoded (`size`)")
	f.readFlags.define(fs)
}

// options returns what the flags ask of the capture; its errors are usage errors.
func (f *liveFlags) options() (capture.LiveOptions, error) {
	opts := capture.LiveOptions{
		Interfaces:  f.interfaces,
		Expression:  f.filter,
		SnapLen:     int(f.snapLen),
		Buffer:      int(f.buffer),
		Queue:       int(f.queue),
		Promiscuous: f.promiscuous,
		Immediate:   f.immediate,
		Clock:       clock(),
	}
	for _, p := range f.source.ports {
		opts.Filter.Ports = append(opts.Filter.Ports, uint16(p))
	}
	for _, b := range f.source.brokers {
		opts.Filter.Ports = append(opts.Filter.Ports, netip.MustParseAddrPort(b).Port())
	}
	for _, h := range f.hosts {
		addr, err := netip.ParseAddr(h)
		if err != nil {
			return opts, usagef("--host %q: want an address, such as 10.0.0.1 or 2001:db8::1", h)
		}
		opts.Filter.Hosts = append(opts.Filter.Hosts, addr.WithZone(""))
	}
	for _, n := range []struct {
		flag     string
		size     size
		low, top size
	}{{"snaplen", f.snapLen, 64, 16 << 20}, {"buffer", f.buffer, 1 << 20, 1 << 30}, {"queue", f.queue, 1 << 20, 64 << 30}} {
		if n.size < n.low || n.size > n.top {
			return opts, usagef("--%s %s: want %s to %s", n.flag, &n.size, &n.low, &n.top)
		}
	}
	switch {
	case len(f.interfaces) == 0:
		return opts, usagef("no interface given; -i any is all of them, --list shows what there is")
	case f.filter != "" && (len(f.source.ports) > 0 || len(f.hosts) > 0):
		return opts, usagef("--filter replaces --port and --host: name them in the expression")
	case f.duration < 0 || f.report < 0:
		return opts, usagef("want a positive duration")
	case f.write == "-":
		return opts, usagef("-w -: stdout is for the exchanges; name a file")
	case f.write == "" && f.rotate.set() || f.keep != 0 && !f.rotate.set() || f.keep < 0:
		return opts, usagef("--rotate is about -w, and --keep is a number of files for --rotate")
	}
	return opts, nil
}

// clock returns capture.LiveOptions.Clock.
func clock() func() (wall, steady int64) {
	began := time.Now()
	return func() (int64, int64) {
		now := time.Now()
		return now.UnixNano(), int64(now.Sub(began))
	}
}

func (f *liveFlags) run(e *env, operands []string) error {
	if len(operands) > 0 {
		return usagef("%q: interfaces are given by -i, files are for 'kdissect read'", operands[0])
	}
	if f.list {
		return listInterfaces(e)
	}
	r, err := f.reader(e, true)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	live, err := capture.OpenLive(opts)
	if err != nil {
		return openError(err)
	}
	defer live.Close()
	if err := dropPrivileges(f.user); err != nil {
		return err
	}
	var keep *capture.Savefile
	if f.write != "" {
		keep, err = capture.NewSavefile(f.write, capture.SaveOptions{
			Size: int64(f.rotate.size), Every: f.rotate.every, Keep: f.keep, Application: version(),
		}, live.Interfaces())
		if err != nil {
			return fmt.Errorf("-w: %w", err)
		}
	}
	err = f.watch(e, r, live, keep)
	live.Close()
	if keep != nil {
		if closed := keep.Close(); err == nil && closed != nil {
			err = fmt.Errorf("-w: %w", closed)
		}
	}
	return err
}

// watch shows what live captures until it ends.
func (f *liveFlags) watch(e *env, r *reader, live *capture.Live, keep *capture.Savefile) error {
	w := &watcher{env: e, flags: f, live: live, segments: capture.NewSegments(live, capture.Limits{}), clock: clock()}
	p := &pipeline{env: e, source: &f.source, handler: r, stopped: r.done, tick: w.tick, now: live.Now, adjust: liveLimits, tellTLS: true}
	decrypt, err := newDecryption(e, &f.source.keyLog, true)
	if err != nil {
		return err
	}
	r.first = func() int64 { return p.first }
	e.stdout.follow()
	live.Start(e.ctx, keep)
	err = p.dissect(w, decrypt, func() {})
	live.Stop()
	p.unread(w.segments.Stats())
	err = f.finish(e, r, p, err)
	w.report("captured")
	return err
}

// openError tells what to do where the right is missing, and which errors are wrong use.
func openError(err error) error {
	switch {
	case errors.Is(err, capture.ErrNoRight):
		program, failed := os.Executable()
		if failed != nil {
			program = "kdissect"
		}
		return fmt.Errorf("%w; run it by sudo, or grant the right once: sudo setcap cap_net_raw,cap_net_admin+eip %s", err, program)
	case errors.Is(err, capture.ErrNotBuilt), errors.Is(err, capture.ErrFilter):
		return usageError{err}
	}
	return err
}

// watcher gives the segments of a live capture and reports on it.
type watcher struct {
	env        *env
	flags      *liveFlags
	live       *capture.Live
	segments   *capture.Segments
	clock      func() (wall, steady int64)
	lastReport int64 // by the steady clock
	lost       int64 // told so far
}

// NextSegment implements segments.
func (w *watcher) NextSegment(s *reassembly.Segment) error {
	err := w.segments.Next(s)
	if err == io.EOF || err == nil || err == capture.ErrTick {
		return err
	}
	return fmt.Errorf("%w; what was complete is shown", err)
}

// Stats implements segments.
func (w *watcher) Stats() capture.Stats { return w.segments.Stats() }

// tick has the time pass.
func (w *watcher) tick(a *reassembly.Assembler) {
	if by := w.live.Step(); by != 0 {
		w.env.warn("the clock was set by %s", time.Duration(by).Round(time.Millisecond))
		a.Shift(by)
	}
	a.Advance(w.live.Now())
	_, steady := w.clock()
	if d := w.flags.duration; d > 0 && steady >= int64(d) {
		w.live.Stop()
	}
	every := w.flags.report
	if every == 0 {
		every = reportLosses
	}
	if steady-w.lastReport < int64(every) {
		return
	}
	w.lastReport = steady
	if w.flags.report > 0 || w.live.Stats().Lost() > w.lost {
		w.report("so far")
	}
}

// report writes the counters to stderr.
func (w *watcher) report(what string) {
	s := w.live.Stats()
	w.lost = s.Lost()
	_, steady := w.clock()
	line := fmt.Sprintf("%s %s, %s, in %s on %s; lost: %d in the kernel, %d not decoded in time",
		what, plural(s.Packets, "packet"), plural(s.Bytes, "byte"),
		time.Duration(steady).Round(100*time.Millisecond), strings.Join(w.flags.interfaces, ", "), s.Kernel, s.Queue)
	if s.Repeats > 0 {
		line += fmt.Sprintf("; passed over: %d seen on another interface before", s.Repeats)
	}
	w.env.warn("%s", line)
}

// listInterfaces prints a line for each interface.
func listInterfaces(e *env) error {
	list, err := capture.ListInterfaces()
	if err != nil {
		return err
	}
	t := &table{}
	t.add("INTERFACE", "ADDRESSES", "ABOUT")
	for _, in := range list {
		addrs := "-"
		if len(in.Addresses) > 0 {
			addrs = strings.Trim(fmt.Sprint(in.Addresses), "[]")
		}
		about := in.About
		if about == "" {
			about = "-"
		}
		t.add(in.Name, addrs, about)
	}
	for _, line := range t.lines() {
		fmt.Fprintln(e.stdout, line)
	}
	return nil
}

// liveLimits has no request given up for the time it waits: clocks are set, and requests in
// flight are bounded in number.
func liveLimits(o *dissect.Options) { o.Limits.MaxWait = 1 << 62 }
