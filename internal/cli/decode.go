package cli

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/dump"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/tree"
)

var decodeVerb = verb{
	name:     "decode",
	operands: "[BYTES|FILE|-]...",
	brief:    "Decode frames that did not come from a capture",
	about: `
Decodes requests and responses given as hex (any spacing, with 0x, rows of hexdump, xxd or tcpdump),
base64, escapes (\x00) or binary, as arguments, from files or from stdin. Frames may follow one another;
a size prefix that is missing is added, and said so.

A request says itself what it is. A response does not: give --api and --api-version of its request.
With neither --request nor --response, what decodes whole as a request is one, and what remains is a
response. --body is for a body without size and header, --data for a definition that is no API, such as
a record of an internal topic; --offset passes over the bytes before it. --as records is for record
sets, as they stand in Produce requests, Fetch responses and log segments.

--batch reads a JSON object a line ({"kind":"request","api_key":1,"version":12,"hex":".."}, for data
{"name":"..","version":0,"hex":"..","body_offset":2}, for record sets {"topic":"..","hex":".."}) and
answers each with one: header, body, unknown tagged fields, issues, and in "wire" the bytes that differ
from how Kafka would write the same values, so that 'kdissect encode --batch' gives the same bytes back.
For that reason it hides no secrets.`,
	examples: []example{
		{"decode 00000017001200630030300632...", "a request in hex"},
		{"xxd frame.bin | kdissect decode", "from another tool"},
		{"decode --response --api Fetch --api-version 12 answer.hex", "a response, as a tree"},
		{"decode -j --data OffsetCommitValue --version 3 0003000000000000...", "the value of a record"},
		{"decode --as records --topic __consumer_offsets 00000000000.log", "a log segment of a broker"},
		{"decode --batch <frames.ndjson", "many, for other programs"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &decodeFlags{
			format: newChoice("tree", "json", "summary"),
			bytes:  newChoice("auto", "base64", "hex"),
			color:  newChoice("auto", "always", "never"),
			form:   newChoice(dump.Forms()...),
			as:     newChoice("frames", "records"),
		}
		f.define(fs)
		return f.run
	},
}

// decodeFlags are the flags of decode.
type decodeFlags struct {
	format, bytes, color, form, as            *choice
	tree, json, hex, plain, showSecrets, full bool
	request, response, body, batch            bool
	api, data, topic                          string
	apiVersion, version                       int16
	offset                                    int
	apiVersionSet, versionSet                 func() bool
	schema                                    schemaFlags
	limits                                    limitFlags
}

func (f *decodeFlags) define(fs *pflag.FlagSet) {
	fs.Var(f.format, "format", "what to show of each frame")
	fs.BoolVarP(&f.tree, "tree", "t", false, "short for --format tree")
	fs.BoolVarP(&f.json, "json", "j", false, "short for --format json")
	fs.BoolVarP(&f.hex, "hex", "x", false, "put the bytes beside the trees, 16 a row")
	fs.Var(f.form, "input", "how the bytes are written")
	fs.BoolVar(&f.request, "request", false, "the bytes are a request")
	fs.BoolVar(&f.response, "response", false, "the bytes are a response; needs --api and --api-version")
	fs.BoolVar(&f.body, "body", false, "the bytes are a body without size and header; needs --api and --api-version")
	fs.StringVar(&f.api, "api", "", "name or key of the API")
	fs.Int16Var(&f.apiVersion, "api-version", 0, "version of the API")
	fs.StringVar(&f.data, "data", "", "name of a definition that is no API; needs --version")
	fs.Int16Var(&f.version, "version", 0, "version of the definition")
	fs.IntVar(&f.offset, "offset", 0, "with --data or --body: bytes before it")
	fs.Var(f.as, "as", "what the bytes are")
	fs.StringVar(&f.topic, "topic", "", "with --as records: the topic (`name`), since Kafka's own have records of known layouts")
	fs.BoolVar(&f.batch, "batch", false, "read and write JSON lines")
	fs.BoolVar(&f.full, "full", false, "show long values whole")
	fs.BoolVar(&f.plain, "plain", false, "JSON: leave out what Kafka itself does not write")
	fs.Var(f.bytes, "bytes", "JSON: how to write the bytes of records")
	fs.BoolVar(&f.showSecrets, "show-secrets", false, "show passwords, tokens and the like")
	fs.Var(f.color, "color", "colour the output; auto: on a terminal, unless NO_COLOR is set")
	f.schema.define(fs)
	f.limits.defineMemory(fs)
	f.limits.defineDecoding(fs)
	f.limits.defineNodes(fs)
	f.apiVersionSet = func() bool { return fs.Changed("api-version") }
	f.versionSet = func() bool { return fs.Changed("version") }
}

func (f *decodeFlags) check() error {
	switch {
	case f.tree && f.json:
		return usagef("give one of -t, -j and --format")
	case f.tree:
		f.format.value = "tree"
	case f.json:
		f.format.value = "json"
	}
	switch {
	case f.request && f.response:
		return usagef("give one of --request and --response")
	case f.as.value == "records" && (f.request || f.response || f.body || f.api != "" || f.data != ""):
		return usagef("--as records is no request, response or other definition")
	case f.topic != "" && f.as.value != "records":
		return usagef("--topic is about --as records")
	case f.batch && (f.request || f.response || f.body || f.data != ""):
		return usagef("--batch takes the kind of each frame from its line")
	case f.data != "" && !f.versionSet():
		return usagef("--data needs --version")
	case f.data != "" && (f.request || f.response || f.body || f.api != ""):
		return usagef("--data is no request or response")
	case f.response && f.api == "":
		return usagef("a response does not say what it answers: give --api and --api-version of its request")
	case f.api != "" && !f.apiVersionSet():
		return usagef("--api needs --api-version")
	case f.body && f.api == "":
		return usagef("--body needs --api and --api-version")
	case f.body && !f.request && !f.response:
		return usagef("--body needs --request or --response")
	case f.offset < 0:
		return usagef("--offset cannot be negative")
	}
	return f.limits.check(1)
}

func (f *decodeFlags) run(e *env, operands []string) error {
	if err := f.check(); err != nil {
		return err
	}
	f.limits.apply()
	d, err := newFrameDecoder(e, f)
	if err != nil {
		return err
	}
	defer d.tellLimits()
	if f.batch {
		return d.batch(operands)
	}
	if len(operands) == 0 {
		operands = []string{"-"}
	}
	for _, operand := range operands {
		b, err := readBytes(e, operand, dump.Form(f.form.value))
		if err != nil {
			return err
		}
		if err := d.decode(b); err != nil {
			return err
		}
	}
	return d.failed
}

// readBytes reads the bytes that an operand holds or names.
func readBytes(e *env, operand string, form dump.Form) ([]byte, error) {
	text := []byte(operand)
	what := "argument"
	if operand == "-" {
		b, err := io.ReadAll(e.stdin)
		if err != nil {
			return nil, fmt.Errorf("stdin: %w", err)
		}
		text, what = b, "stdin"
	} else if b, err := os.ReadFile(operand); err == nil {
		text, what = b, operand
	}
	b, found, err := dump.Parse(text, form)
	if err != nil {
		if what == "argument" {
			return nil, fmt.Errorf("%q is no file, and no bytes either: %w", operand, err)
		}
		return nil, fmt.Errorf("%s: %w; --input says how the bytes are written", what, err)
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s holds no bytes (read as %s)", what, found)
	}
	return b, nil
}

// decoder shows frames, bodies and data.
type decoder struct {
	e         *env
	f         *decodeFlags
	catalogue *schema.Catalogue
	frames    *dissect.Frames
	walk      *walk.Decoder
	payloads  *payload.Decoder
	sets      *output.RecordSets
	exactSets *output.RecordSets // for looking at sets within frames
	json      *output.Fragments
	trees     *output.Tree
	facts     *output.Facts
	canon     walk.Canon
	builder   tree.Builder
	api       *schema.API
	buf       []byte
	failed    error // the last frame that could not be decoded whole
}

func newFrameDecoder(e *env, f *decodeFlags) (*decoder, error) {
	c, err := f.schema.catalogue(e)
	if err != nil {
		return nil, err
	}
	form, _ := output.ParseBytesForm(f.bytes.value)
	opt := output.Options{
		Plain: f.plain, Bytes: form, ShowSecrets: f.showSecrets || f.batch, Full: f.full, Hex: f.hex, Catalogue: c,
		MaxNodes: f.limits.nodes,
		Color:    f.format.value == "tree" && useColor(f.color.value, e.stdout),
	}
	d := &decoder{e: e, f: f, catalogue: c, frames: dissect.NewFrames(c), json: output.NewFragments(opt)}
	d.builder.Limit = f.limits.nodes
	d.payloads = payload.New(c, f.limits.records(true))
	d.sets = output.NewRecordSets(d.payloads, opt)
	d.exactSets = output.NewRecordSets(payload.New(c, f.limits.records(true)), opt)
	d.walk = d.payloads.Decoder()
	opt.Decoder = d.walk
	d.trees = output.NewTree(e.stdout, opt)
	d.facts = output.NewFacts(output.Options{Catalogue: c, Decoder: d.walk})
	d.canon.Next = d.json
	if !f.plain || form != output.BytesBase64 {
		d.canon.Records = d.exact
	}
	if f.api != "" {
		if d.api = c.APIByName(f.api); d.api == nil {
			return nil, usagef("unknown API %q; 'kdissect apis' lists them", f.api)
		}
	}
	if f.data != "" && c.DataMessage(f.data) == nil {
		return nil, usagef("unknown definition %q; 'kdissect schema list' lists them", f.data)
	}
	return d, nil
}

// decode shows what b holds.
func (d *decoder) decode(b []byte) error {
	switch {
	case d.f.as.value == "records":
		return d.showRecords(b)
	case d.f.data != "":
		p := d.catalogue.Data(d.f.data, d.f.version)
		if p == nil {
			return usagef("%s has the versions %s", d.f.data, d.catalogue.DataMessage(d.f.data).Versions)
		}
		return d.body(b, p)
	case d.f.body:
		dir := schema.Request
		if d.f.response {
			dir = schema.Response
		}
		p := d.catalogue.PlanOf(d.api, d.f.apiVersion, dir)
		if p == nil {
			return usagef("%s has no %s of version %d; it has %s", d.api.Name, dir, d.f.apiVersion, versionsOf(d.api.Message(dir)))
		}
		return d.body(b, p)
	}
	b = d.prefixed(b)
	for len(b) > 0 {
		fr := d.frame(b)
		if err := d.show(fr); err != nil {
			return err
		}
		b = b[len(fr.Bytes):]
	}
	return nil
}

// prefixed returns b with a size prefix, which is added where b fits a frame only with one.
func (d *decoder) prefixed(b []byte) []byte {
	if len(b) >= 4 {
		size := int(int32(binary.BigEndian.Uint32(b)))
		if chained(b) || size > 0 && size < len(b)-4 && d.frames.IsRequest(b[:4+size]) {
			return b
		}
	}
	n := len(b)
	with := append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, b...)
	if d.f.response || d.frames.IsRequest(with) {
		d.e.warn("the size prefix is missing; offsets count one of 4 bytes")
		return with
	}
	return b
}

// chained reports whether b is one or several frames behind one another, by their size prefixes.
func chained(b []byte) bool {
	for len(b) >= 4 {
		size := int(int32(binary.BigEndian.Uint32(b)))
		if size < 0 || size > len(b)-4 {
			return false
		}
		b = b[4+size:]
	}
	return len(b) == 0
}

// frame describes the frame that b begins with.
func (d *decoder) frame(b []byte) *dissect.Frame {
	request := d.frames.Request(b)
	switch {
	case d.f.response:
	case d.f.request || d.api == nil:
		return request
	case request.APIKey == d.api.Key && request.Version == d.f.apiVersion && d.frames.IsRequest(request.Bytes):
		return request
	}
	return d.frames.Response(b, d.api.Key, d.f.apiVersion)
}

// side names the half that a frame is.
func side(fr *dissect.Frame) string {
	if fr.Plan != nil {
		return fr.Plan.Direction.String()
	}
	return schema.Request.String()
}

func (d *decoder) show(fr *dissect.Frame) error {
	d.buf = d.buf[:0]
	switch d.f.format.value {
	case "tree":
		d.buf = d.trees.AppendFrame(d.buf, side(fr), fr)
	case "json":
		d.buf = d.appendFrame(d.buf, side(fr), fr)
	default:
		d.buf = d.appendSummary(d.buf, fr)
	}
	d.note(fr)
	_, err := d.e.stdout.Write(d.buf)
	return err
}

// tellLimits tells of frames that limits of ours kept from being shown whole.
func (d *decoder) tellLimits() {
	n := d.trees.Limited() + d.json.Limited() + d.sets.Limited()
	for _, i := range d.builder.Tree().Issues {
		if i.Code == tree.CodeLimit { // of the body or record set that was last
			n++
			break
		}
	}
	if n > 0 {
		d.e.warn("at its limits: %s (not decoded whole: --max-decompressed, --max-ratio, --max-nodes)", plural(n, "frame"))
	}
}

// note remembers a frame that was not decoded whole.
func (d *decoder) note(fr *dissect.Frame) {
	var check walk.Decoder
	switch r := check.Frame(fr.Bytes, fr.Size, fr.Header, fr.Plan, nil); {
	case fr.Header == nil:
		d.failed = errors.New("this is no frame of a known layout; --response with --api and --api-version says what it answers")
	case r.Failed:
		d.failed = fmt.Errorf("not decoded whole: offset %#04x: %w", r.Err.Off, &r.Err)
	}
}

// appendSummary appends a line about a frame.
func (d *decoder) appendSummary(b []byte, fr *dissect.Frame) []byte {
	name := "unknown API " + strconv.Itoa(int(fr.APIKey))
	if a := d.catalogue.API(fr.APIKey); a != nil {
		name = a.Name
	}
	b = fmt.Appendf(b, "%s v%d  %s  #%d  %d bytes", name, fr.Version, side(fr), fr.CorrelationID, len(fr.Bytes))
	if len(fr.ClientID) > 0 {
		b = fmt.Appendf(b, "  client %q", fr.ClientID)
	}
	x := &dissect.Exchange{Request: fr}
	if side(fr) == schema.Response.String() {
		x.Request, x.Response = nil, fr
	}
	d.facts.Collect(x)
	topics := d.facts.Topics()
	for i := range topics {
		b = fmt.Appendf(b, "  topic %s", d.facts.TopicName(&topics[i]))
	}
	for _, g := range d.facts.Groups() {
		b = fmt.Appendf(b, "  group %s", g)
	}
	for _, e := range d.facts.Errors() {
		b = fmt.Appendf(b, "  %s", d.facts.ErrorName(e.Code))
	}
	if i := d.facts.WorstIssue(); i != nil {
		b = fmt.Appendf(b, "  !! %s: %s", i.Code, i.Text)
	}
	return append(b, '\n')
}

// body shows a body without a header, or data.
func (d *decoder) body(b []byte, p *schema.Plan) error {
	off := min(d.f.offset, len(b))
	d.buf = d.buf[:0]
	var r walk.Result
	if d.f.format.value == "tree" {
		text := tree.Text{Full: d.f.full, Secrets: d.f.showSecrets, Color: useColor(d.f.color.value, d.e.stdout)}
		d.builder.Reset(b)
		r = d.walk.Body(b, off, p, &d.builder)
		d.buf = text.Append(d.buf, d.builder.Tree())
		if d.f.hex {
			grid := tree.Grid{Secrets: d.f.showSecrets, Color: text.Color}
			d.buf = grid.Append(d.buf, d.builder.Tree())
		}
	} else {
		d.buf, r = d.appendBody(d.buf, b, off, p)
	}
	switch {
	case r.Failed:
		d.failed = fmt.Errorf("not decoded whole: offset %#04x: %w", r.Err.Off, &r.Err)
	case r.End < len(b):
		d.e.warn("%d bytes behind the end, from offset %#04x", len(b)-r.End, r.End)
	}
	_, err := d.e.stdout.Write(d.buf)
	return err
}
