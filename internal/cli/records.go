package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/reassembly"
)

var recordsVerb = verb{
	name:     "records",
	operands: "FILE...",
	brief:    "Show the records that were produced and fetched",
	about: `
Reads captures as 'kdissect read' does, and shows each record that a Produce request, a Fetch or ShareFetch
response or a snapshot carries, decompressed, in the order of the capture. Offsets of produced records come
from the answer; without one they are not known. A record that several clients fetched is shown for each.

Formats:
  text  a line for people: time, direction, client, topic[partition]@offset, the record's time, key = value,
        headers, sequence, codec and producer
  json  a JSON object a line, with the members of kcat -J (topic, partition, offset, tstype, ts, headers, key,
        payload) and more: direction, client, connection, batch, and what the records of Kafka's own topics hold
  raw   the values alone, as they are, each with a newline behind it

Batches whose sequence numbers, epochs or offsets do not follow those before them are told in lines of their
own, with both places.`,
	examples: []example{
		{"records capture.pcap", "what went over the wire"},
		{"records --topic orders --produced --format raw capture.pcap", "the values that were sent to a topic"},
		{"records --format json --value-format json capture.pcap | jq .payload", "values that are JSON, for other programs"},
		{"records --topic __consumer_offsets --format json capture.pcap", "commits and group metadata, decoded"},
		{"tcpdump -U -w - port 9092 | kdissect records --follow -", "records as they pass by"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &recordsFlags{
			format: newChoice("text", "json", "raw"),
			key:    newChoice(output.ValueForms...),
			value:  newChoice(output.ValueForms...),
			values: newValuesFlag(),
		}
		f.define(fs)
		return f.run
	},
}

// recordsFlags are the flags of records.
type recordsFlags struct {
	format, key, value *choice
	values             valuesFlag

	topics    []string
	selection selectFlags // those of defineHead

	produced, fetched, control, follow, showSecrets, strict, json bool

	count  int64
	source sourceFlags
}

func (f *recordsFlags) define(fs *pflag.FlagSet) {
	fs.Var(f.format, "format", "what to show of each record")
	fs.BoolVarP(&f.json, "json", "j", false, "short for --format json")
	fs.Var(f.key, "key-format", "how to show keys; what does not fit is shown as auto does")
	fs.Var(f.value, "value-format", "how to show values")
	fs.BoolVar(&f.produced, "produced", false, "only records in requests")
	fs.BoolVar(&f.fetched, "fetched", false, "only records in responses")
	fs.BoolVar(&f.control, "control", false, "show control records, too, such as the ends of transactions")
	fs.StringSliceVar(&f.topics, "topic", nil, "only this topic (`name`); * stands for any characters")
	f.selection.defineHead(fs)
	fs.Int64VarP(&f.count, "count", "n", 0, "stop after `N` records")
	fs.BoolVar(&f.follow, "follow", false, "show each record at once; without a file, those on stdin")
	f.values.define(fs)
	fs.BoolVar(&f.showSecrets, "show-secrets", false, "show passwords, tokens and the like")
	fs.BoolVar(&f.strict, "strict", false, "end with status 3 when issues (warnings or errors) were found")
	f.source.define(fs)
	f.source.defineTwoPass(fs)
}

func (f *recordsFlags) check(files []string) error {
	switch {
	case len(files) == 0 && !f.follow:
		return usagef("no file given; - is stdin")
	case f.produced && f.fetched:
		return usagef("--produced and --fetched together are all records: give neither")
	case f.count < 0:
		return usagef("-n %d: want a positive number", f.count)
	}
	if f.json {
		f.format.value = "json"
	}
	if f.format.value == "raw" && f.values.value != "full" {
		return usagef("--format raw is of values as they are: it does not go with --values %s", f.values.value)
	}
	return f.source.check()
}

func (f *recordsFlags) run(e *env, files []string) error {
	if err := f.check(files); err != nil {
		return err
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	catalogue, err := f.source.schema.catalogue(e)
	if err != nil {
		return err
	}
	sel, err := f.selection.compile(catalogue)
	if err != nil {
		return err
	}
	opt := output.RecordOptions{
		ShowSecrets: f.showSecrets, Values: f.values.values(), Control: f.control, Produced: f.produced, Fetched: f.fetched, Limit: f.count,
		Live: f.follow || e.stdout.terminal || slices.Contains(files, "-"),
	}
	switch f.format.value {
	case "json":
		opt.Form = output.RecordJSON
	case "raw":
		opt.Form = output.RecordRaw
	}
	opt.Key, _ = output.ParseValueForm(f.key.value)
	opt.Value, _ = output.ParseValueForm(f.value.value)
	if topics := parsePatterns(f.topics); topics != nil {
		opt.Topic = func(name string, _ [16]byte) bool { return topics.match([]byte(name)) }
	}
	out := output.NewRecords(e.stdout, opt)
	h := &recordsHandler{
		selection: sel, out: out,
		records: output.NewRecordReader(newClosedDecoder(catalogue, f.values.values(), f.source.limits.records(false)), out, opt.Form != output.RecordRaw, f.showSecrets),
	}
	p := &pipeline{env: e, source: &f.source, files: files, handler: h, stopped: out.Full}
	h.first = func() int64 { return p.first }
	err = p.run()
	flushErr := out.Flush()
	switch {
	case flushErr != nil:
		return flushErr
	case err != nil:
		return err
	case f.strict:
		n := issueCount{warnings: out.Issues + p.warnings}
		return n.err()
	}
	return nil
}

// recordsHandler is the dissect.Handler of records.
type recordsHandler struct {
	selection *selection
	first     func() int64
	out       *output.Records
	records   *output.RecordReader
	decoded   int64 // exchanges of which a limit kept something back
}

// Exchange implements dissect.Handler.
func (h *recordsHandler) Exchange(x *dissect.Exchange) {
	if !h.out.Full() && h.selection.head(x, h.first()) {
		before := h.out.Limited
		h.records.Exchange(x)
		if h.out.Limited > before {
			h.decoded++
		}
	}
}

// limited implements limiter.
func (h *recordsHandler) limited(n *limitCount) { n.decoded += h.decoded }

// Closed implements dissect.Handler.
func (h *recordsHandler) Closed(*dissect.Connection, reassembly.End) {}
