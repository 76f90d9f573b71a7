package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/internal/output"
)

var readVerb = verb{
	name:     "read",
	operands: "FILE...",
	brief:    "Show the Kafka exchanges of capture files",
	about: `
Reads pcap and pcapng files, plain or compressed with gzip or zstd, and shows each request with its
response. Several files are read as one capture, in order of time; - is stdin, shown as it arrives.
Connections that speak Kafka are found on any port; --port and --broker narrow the search.

Formats:
  summary  one line an exchange: time, client > broker, API, correlation id, client id, latency,
           state or error, and what matters most about that API
  tree     both frames, byte by byte: name, type, value, offset and length of every field
  json     one line an exchange, in the form of the broker's own request log (KIP-673)

All selections can be combined: an exchange is shown when it meets each of them. Those that take names or
numbers may be given several times, or with commas between, and then mean any of these.

Times are UTC. Passwords, tokens and the like are hidden unless --show-secrets is given.`,
	examples: []example{
		{"read capture.pcap", "one line for each exchange"},
		{"read -t --api ConsumerGroupDescribe capture.pcap", "every byte of one API, as trees"},
		{"read -tx -n 1 --topic orders capture.pcap", "the first exchange about a topic, with its bytes"},
		{"read -j capture.pcap.gz | jq .response", "JSON for other programs"},
		{"read --errors --since 10:15 --until 10:20 capture.pcap", "what went wrong in five minutes"},
		{`read --where 'api == "FETCH" && latencyMs > 100' capture.pcap`, "an expression over the JSON form"},
		{"read --client-id 'billing-*' --slower-than 50ms a.pcap b.pcap", "slow exchanges of some clients in two files"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &readFlags{
			format: newChoice("summary", "tree", "json"),
			bytes:  newChoice("auto", "base64", "hex"),
			color:  newChoice("auto", "always", "never"),
			values: newValuesFlag(),
		}
		f.define(fs)
		return f.run
	},
}

// growthOf is how much larger than the traffic each form of output is, about.
var growthOf = map[string]int{"summary": 1, "json": 3, "tree": 16}

// readFlags are the flags of read.
type readFlags struct {
	format, bytes, color *choice
	values               valuesFlag
	formatSet            func() bool

	tree, json, hex, packets, plain, showSecrets, full, strict bool

	selection selectFlags
	source    sourceFlags
}

func (f *readFlags) define(fs *pflag.FlagSet) {
	fs.Var(f.format, "format", "what to show of each exchange")
	fs.BoolVarP(&f.tree, "tree", "t", false, "short for --format tree")
	fs.BoolVarP(&f.json, "json", "j", false, "short for --format json")
	fs.BoolVarP(&f.hex, "hex", "x", false, "add the bytes of each frame to the trees, 16 a row")
	fs.BoolVar(&f.packets, "packets", false, "show which packets carried what")
	fs.BoolVar(&f.full, "full", false, "show long values and lists whole")
	fs.BoolVar(&f.plain, "plain", false, "JSON: leave out what the broker's log does not have")
	fs.Var(f.bytes, "bytes", "JSON: how to write the bytes of records")
	fs.BoolVar(&f.showSecrets, "show-secrets", false, "show passwords, tokens and the like")
	f.values.define(fs)
	fs.Var(f.color, "color", "colour the output; auto: on a terminal, unless NO_COLOR is set")
	fs.BoolVar(&f.strict, "strict", false, "end with status 3 when issues (warnings or errors) were found")
	f.formatSet = func() bool { return fs.Changed("format") }
	f.selection.define(fs)
	f.source.define(fs)
	f.source.defineTwoPass(fs)
}

// check settles the format and returns usage errors.
func (f *readFlags) check() error {
	// -x alone asks for trees.
	tree := f.tree || f.hex && !f.json && !f.formatSet()
	if named := f.formatSet(); tree && f.json || named && (tree && f.format.value != "tree" || f.json && f.format.value != "json") {
		return usagef("give one of -t, -j and --format")
	}
	switch {
	case tree:
		f.format.value = "tree"
	case f.json:
		f.format.value = "json"
	}
	if f.plain && f.format.value != "json" {
		return usagef("--plain is about --format json")
	}
	if f.hex && f.format.value != "tree" {
		return usagef("-x is about --format tree")
	}
	return f.source.check()
}

func (f *readFlags) run(e *env, files []string) error {
	if len(files) == 0 {
		return usagef("no file given; - is stdin")
	}
	r, err := f.reader(e, slices.Contains(files, "-"))
	if err != nil {
		return err
	}
	p := &pipeline{env: e, source: &f.source, files: files, handler: r, stopped: r.done, tellTLS: true}
	if !r.selection.needsNumbers() {
		p.whole, p.growth = r, growthOf[f.format.value]
	}
	r.first = func() int64 { return p.first }
	return f.finish(e, r, p, p.run())
}

// reader returns what shows the exchanges as the flags say. follow tells that they come over time.
func (f *readFlags) reader(e *env, follow bool) (*reader, error) {
	r, err := f.newReader(e, follow, nil, nil)
	if err != nil {
		return nil, err
	}
	r.text = e.stdout
	r.room = &textRoom{most: int64(f.source.limits.text)}
	r.another = func(late *output.Slots, long output.Long) (*reader, error) { return f.newReader(e, follow, late, long) }
	return r, nil
}

// newReader returns a reader that leaves out what is known late where late is not nil, and gives
// long texts to long where that is not nil.
func (f *readFlags) newReader(e *env, follow bool, late *output.Slots, long output.Long) (*reader, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	catalogue, err := f.source.schema.catalogue(e)
	if err != nil {
		return nil, err
	}
	sel, err := f.selection.compile(catalogue)
	if err != nil {
		return nil, err
	}
	form, _ := output.ParseBytesForm(f.bytes.value)
	opt := output.Options{
		Plain:       f.plain,
		Bytes:       form,
		ShowSecrets: f.showSecrets,
		Values:      f.values.values(),
		Color:       f.format.value != "json" && useColor(f.color.value, e.stdout),
		Wide:        f.full,
		Live:        e.stdout.terminal || follow,
		Packets:     f.packets,
		Full:        f.full,
		Hex:         f.hex,
		Decoder:     newClosedDecoder(catalogue, f.values.values(), f.source.limits.records(f.format.value == "tree")),
		Catalogue:   catalogue,
		Late:        late,
		Long:        long,
		Held:        f.source.limits.held(),
		MaxNodes:    f.source.limits.nodes,
	}
	r := &reader{
		selection: sel,
		limit:     f.selection.count,
		strict:    f.strict,
		facts:     output.NewFacts(output.Options{Catalogue: catalogue}),
		begin:     beginning{most: f.source.limits.text / 16},
		walk:      opt.Decoder,
	}
	r.json = output.NewJSON(nil, output.Options{
		Bytes: form, ShowSecrets: f.showSecrets, Catalogue: catalogue,
		Decoder: newDecoder(catalogue, f.source.limits.records(false)), Long: &r.begin, Held: f.source.limits.held(),
	})
	if f.format.value != "summary" && !f.plain || f.strict {
		r.batches = output.NewBatchFinder()
	}
	switch f.format.value {
	case "tree":
		t := output.NewTree(e.stdout, opt)
		r.out, r.whole = t, t
	case "json":
		j := output.NewJSON(e.stdout, opt)
		r.out, r.whole = j, j
	default:
		r.out = output.NewSummary(e.stdout, opt)
	}
	return r, nil
}

// finish ends r, which showed what p read until err, and returns the error of the whole.
func (f *readFlags) finish(e *env, r *reader, p *pipeline, err error) error {
	if flushErr := r.out.Flush(); r.err == nil {
		r.err = flushErr
	}
	if w := r.selection.where; w != nil && w.failed > 0 {
		e.warn("--where left out %s on which it could not be evaluated; the first failure: %v", plural(w.failed, "exchange"), w.failure)
	}
	r.issues.warnings += p.warnings
	switch {
	case r.err != nil:
		return r.err
	case err != nil:
		return err
	case f.strict:
		return r.issues.err()
	}
	return nil
}
