package cli

import (
	"net/netip"
	"runtime"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
)

// sourceFlags are the flags about how captures are read.
type sourceFlags struct {
	ports   []uint
	brokers []string
	limits  limitFlags
	workers int
	keyLog  keyLogFlags
	schema  schemaFlags
	twoPass bool
}

// maxDefaultWorkers is how many workers there are at most where nothing is said, maxWorkers how
// many can be asked for.
const (
	maxDefaultWorkers = 8
	maxWorkers        = 64
)

// define adds the flags to fs.
func (f *sourceFlags) define(fs *pflag.FlagSet) {
	fs.UintSliceVar(&f.ports, "port", nil, "look for Kafka on this broker `port` only")
	fs.StringSliceVar(&f.brokers, "broker", nil, "look for Kafka at this broker only (`ADDRESS:PORT`)")
	f.keyLog.define(fs)
	f.schema.define(fs)
	fs.IntVar(&f.workers, "workers", 0, "share the work among this `number` of goroutines; without: one for each processor, 8 at most. The output is the same for any")
	f.limits.define(fs)
}

// defineTwoPass adds the flag of verbs that show names which other connections tell.
func (f *sourceFlags) defineTwoPass(fs *pflag.FlagSet) {
	fs.BoolVar(&f.twoPass, "two-pass", false, "read the files twice, so that names of topic ids are shown that the capture tells only later")
}

// check returns usage errors of the flags.
func (f *sourceFlags) check() error {
	for _, p := range f.ports {
		if p == 0 || p > 65535 {
			return usagef("--port %d: want 1 to 65535", p)
		}
	}
	for _, b := range f.brokers {
		if _, err := netip.ParseAddrPort(b); err != nil {
			return usagef("--broker %q: want ADDRESS:PORT, such as 10.0.0.1:9092 or [2001:db8::1]:9092", b)
		}
	}
	if f.workers < 0 || f.workers > maxWorkers {
		return usagef("--workers %d: want 1 to %d", f.workers, maxWorkers)
	}
	if f.workers == 0 {
		f.workers = defaultWorkers()
	}
	return f.limits.check(f.workers)
}

// options returns what the flags ask of the dissector; check has accepted them.
func (f *sourceFlags) options(h dissect.Handler) dissect.Options {
	opt := dissect.Options{Handler: h, Recover: true, Catalogue: f.schema.loaded}
	for _, p := range f.ports {
		opt.Ports = append(opt.Ports, uint16(p))
	}
	for _, b := range f.brokers {
		opt.Brokers = append(opt.Brokers, netip.MustParseAddrPort(b))
	}
	return opt
}

// defaultWorkers returns how many workers there are where nothing is said.
func defaultWorkers() int { return min(runtime.GOMAXPROCS(0), maxDefaultWorkers) }
