package cli

import (
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/frame"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/reassembly"
	"github.com/kdissect/kdissect/tree"
)

// limitFlags bound what captures may make us hold. Those that are not given follow from --max-memory.
type limitFlags struct {
	memory, frame, buffer, connBuffer, decompressed, text size
	connections, inFlight, ratio, nodes                   int

	workers int // that share them
}

// defaultMemory is --max-memory where it is not given; smaller ones make the other limits
// smaller, in proportion.
const (
	defaultMemory size = 1 << 30
	minMemory     size = 96 << 20
	// baseMemory is what is used in any case: the program, what is known of Kafka, and the capture
	// on its way through the workers.
	baseMemory size = 48 << 20
)

// define defines the flags of what reads captures and shows them.
func (f *limitFlags) define(fs *pflag.FlagSet) {
	f.defineStreams(fs)
	f.defineDecoding(fs)
	f.defineNodes(fs)
	fs.Var(&f.text, "max-text", "text that several workers have made and that is not written yet; what goes beyond is left out of its exchange, which says so (`size`; 256MiB)")
}

// defineStreams defines the limits on what is gathered until frames are whole and answered.
func (f *limitFlags) defineStreams(fs *pflag.FlagSet) {
	f.defineMemory(fs)
	fs.Var(&f.frame, "max-frame", "largest frame to keep whole (`size`; 128MiB)")
	fs.Var(&f.buffer, "max-buffer", "bytes of frames and segments held in all (`size`; 256MiB)")
	fs.Var(&f.connBuffer, "max-connection-buffer", "the same, of one connection (`size`; 64MiB)")
	fs.IntVar(&f.connections, "max-connections", 0, "connections followed at a time (`number`; 55000, about)")
	fs.IntVar(&f.inFlight, "max-in-flight", 0, "requests of a connection that wait for their response (`number`; 1000)")
}

func (f *limitFlags) defineMemory(fs *pflag.FlagSet) {
	f.memory = defaultMemory
	fs.Var(&f.memory, "max-memory", "memory to use at most (`size`); the limits below follow from it where they are not given")
}

// defineDecoding defines the limits on what batches become.
func (f *limitFlags) defineDecoding(fs *pflag.FlagSet) {
	fs.Var(&f.decompressed, "max-decompressed", "bytes that a batch may decompress to; those of a frame, eight times that (`size`; 16MiB)")
	fs.IntVar(&f.ratio, "max-ratio", 0, "bytes that a compressed byte may become (`number`; 1000)")
}

func (f *limitFlags) defineNodes(fs *pflag.FlagSet) {
	fs.IntVar(&f.nodes, "max-nodes", 0, "lines of the tree of a frame (`number`; 1048576)")
}

// check completes the limits, which a number of workers share, and returns usage errors.
func (f *limitFlags) check(workers int) error {
	f.workers = max(1, workers)
	for _, n := range []struct {
		flag  string
		value int
	}{{"connections", f.connections}, {"in-flight", f.inFlight}, {"ratio", f.ratio}, {"nodes", f.nodes}} {
		if n.value < 0 {
			return usagef("--max-%s %d: want a positive number", n.flag, n.value)
		}
	}
	if f.frame > math.MaxInt32 {
		return usagef("--max-frame %s: a frame's size is at most 2GiB-1", &f.frame)
	}
	if f.memory < minMemory {
		return usagef("--max-memory %s: want at least %s", &f.memory, new(minMemory))
	}
	free := f.memory - baseMemory
	share := func(s *size, most, part size) {
		if *s == 0 {
			*s = max(min(most, free/part), 64<<10)
		}
	}
	share(&f.frame, 128<<20, 7)
	share(&f.buffer, 256<<20, 3)
	share(&f.connBuffer, 64<<20, 12)
	// Each worker has a batch of its own, and the lines of a tree.
	share(&f.decompressed, 16<<20, 6*max(8, size(f.workers)))
	share(&f.text, 256<<20, 3)
	count := func(n *int, most int, bytes size) {
		if *n == 0 {
			*n = min(most, int(free/bytes))
		}
	}
	count(&f.connections, 65536, 18<<10)
	count(&f.inFlight, 1000, 1)
	count(&f.ratio, 1000, 1)
	count(&f.nodes, 1<<20, nodeMemory*max(2, size(f.workers)))
	return nil
}

// nodeMemory is what a line of a tree takes, with what it takes to grow to many.
const nodeMemory = 450

// apply has the garbage collector keep to the limit on memory, of which the program itself takes
// some, too.
func (f *limitFlags) apply() { debug.SetMemoryLimit(int64(f.memory - max(f.memory/6, 32<<20))) }

// buffers returns what all dissectors together may hold of frames.
func (f *limitFlags) buffers() *frame.Budget { return frame.NewBudget(int64(f.buffer)) }

// dissect sets the limits of a dissector.
func (f *limitFlags) dissect(l *dissect.Limits) {
	l.Frame.MaxFrame = int32(f.frame)
	l.InFlight = f.inFlight
	l.InFlightBytes = int64(f.connBuffer)
	l.Detect = min(1<<20, int64(f.connBuffer))
}

// reassembly returns the limits of an assembler that is one of several.
func (f *limitFlags) reassembly(workers int) reassembly.Limits {
	def := reassembly.DefaultLimits()
	// With all that it takes to put them in order, segments need several times their size.
	all := min(def.MaxBytes, int(f.buffer)/8)
	return reassembly.Limits{
		MaxConnections: max(1, f.connections/workers),
		MaxConnBytes:   min(def.MaxConnBytes, int(f.connBuffer)),
		MaxBytes:       max(all/workers, 64<<10),
	}
}

// records returns the limits on record sets. kept says that what the batches of a frame become is
// kept until the frame's end.
func (f *limitFlags) records(kept bool) records.Limits {
	n := int(f.decompressed)
	l := records.Limits{Decompressed: n, Ratio: f.ratio, Total: 8 * n}
	if kept && f.workers > 2 {
		l.Total = max(n, 2*l.Total/f.workers)
	}
	return l
}

// held returns how much of a long text each worker may hold back.
func (f *limitFlags) held() int { return int(f.text) / 8 / f.workers }

// limitCount counts where limits were hit. It stands in front of another dissect.Handler.
type limitCount struct {
	dissect.Handler
	connections, exchanges, bytes int64
	decoded                       int64 // exchanges not decoded or not written whole
	cut                           int64 // of which --where did not see all
	facts                         bool  // were not all remembered
}

// limiter is a dissect.Handler that knows where limits were hit in decoding.
type limiter interface {
	limited(*limitCount)
}

// Exchange implements dissect.Handler.
func (n *limitCount) Exchange(x *dissect.Exchange) {
	if limited(x.Issues) || x.Request != nil && limited(x.Request.Issues) || x.Response != nil && limited(x.Response.Issues) {
		n.exchanges++
	}
	n.Handler.Exchange(x)
}

func limited(issues []tree.Issue) bool {
	for i := range issues {
		if issues[i].Code == tree.CodeLimit {
			return true
		}
	}
	return false
}

// Closed implements dissect.Handler.
func (n *limitCount) Closed(c *dissect.Connection, why reassembly.End) {
	if why == reassembly.EndLimit {
		n.connections++
	}
	for i := range c.Counts {
		n.bytes += c.Counts[i].Limited + c.Counts[i].LimitedElse
	}
	n.Handler.Closed(c, why)
}

// add adds the counts of another.
func (n *limitCount) add(o *limitCount) {
	n.connections += o.connections
	n.exchanges += o.exchanges
	n.bytes += o.bytes
	if h, ok := o.Handler.(limiter); ok {
		h.limited(n)
	}
}

// String says what was given up; "" for nothing.
func (n *limitCount) String() string {
	var parts []string
	for _, c := range []struct {
		n    int64
		what string
		flag string
	}{
		{n.connections, "connection", "closed early: --max-connections"},
		{n.exchanges, "exchange", "cut or not waited for: --max-frame, --max-buffer, --max-connection-buffer, --max-in-flight"},
		{n.decoded, "exchange", "not decoded or written whole: --max-decompressed, --max-ratio, --max-nodes, --max-text"},
		{n.cut, "exchange", "of which --where saw the beginning: --max-text"},
		{n.bytes, "byte", "given up: --max-frame, --max-buffer, --max-connection-buffer"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%s)", plural(c.n, c.what), c.flag))
		}
	}
	if n.facts {
		parts = append(parts, "names of more topic ids than are remembered")
	}
	return strings.Join(parts, "; ")
}
