package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/output"
	"github.com/kdissect/kdissect/tree"
)

var encodeVerb = verb{
	name:     "encode",
	operands: "[JSON|FILE|-]...",
	brief:    "Turn the JSON form of a request, response or record into bytes",
	about: `
Encodes what 'kdissect decode -j' shows, an exchange as 'kdissect read -j' or the broker's request log
shows it (the request, or with --response the response), or a body alone, for which --api and
--api-version, or --data and --version, say what it is. Members that are missing take the defaults of
Kafka's definition; unknown members and values out of range are errors that name their path.

--batch reads a JSON object a line, as 'kdissect decode --batch' writes them, and answers each with
{"hex":".."}: the same bytes that were decoded.`,
	examples: []example{
		{`encode --api Metadata --api-version 12 '{"topics":null}'`, "a request in hex, with a header of defaults"},
		{`encode -t --api ApiVersions --api-version 3 --response '{}'`, "a response as a tree"},
		{"encode --data OffsetCommitValue --version 3 '{\"offset\":7}'", "the value of a record"},
		{"decode --batch <frames.ndjson | kdissect encode --batch", "the same bytes again"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &encodeFlags{format: newChoice("hex", "binary", "tree"), bytes: newChoice("auto", "base64")}
		fs.Var(f.format, "format", "how to write the bytes")
		fs.BoolVarP(&f.tree, "tree", "t", false, "short for --format tree")
		fs.StringVar(&f.api, "api", "", "name or key of the API")
		fs.Int16Var(&f.apiVersion, "api-version", 0, "version of the API")
		fs.BoolVar(&f.response, "response", false, "encode a response")
		fs.BoolVar(&f.body, "body", false, "leave out size and header")
		fs.StringVar(&f.data, "data", "", "name of a definition that is no API; needs --version")
		fs.Int16Var(&f.version, "version", 0, "version of the definition")
		fs.Var(f.bytes, "bytes", "how the keys and values of records are written")
		fs.BoolVar(&f.batch, "batch", false, "read and write JSON lines")
		fs.BoolVar(&f.showSecrets, "show-secrets", false, "show passwords, tokens and the like in trees")
		f.schema.define(fs)
		f.apiVersionSet = func() bool { return fs.Changed("api-version") }
		f.versionSet = func() bool { return fs.Changed("version") }
		return f.run
	},
}

// encodeFlags are the flags of encode.
type encodeFlags struct {
	format, bytes                            *choice
	tree, response, body, batch, showSecrets bool
	api, data                                string
	apiVersion, version                      int16
	apiVersionSet, versionSet                func() bool
	schema                                   schemaFlags
}

func (f *encodeFlags) check() error {
	if f.tree {
		f.format.value = "tree"
	}
	switch {
	case f.api != "" && !f.apiVersionSet():
		return usagef("--api needs --api-version")
	case f.data != "" && !f.versionSet():
		return usagef("--data needs --version")
	case f.data != "" && f.api != "":
		return usagef("give one of --api and --data")
	case f.body && f.api == "":
		return usagef("--body needs --api and --api-version")
	case f.batch && (f.api != "" || f.data != "" || f.body || f.format.value != "hex"):
		return usagef("--batch takes all it needs from its lines and answers in hex")
	}
	return nil
}

func (f *encodeFlags) run(e *env, operands []string) error {
	if err := f.check(); err != nil {
		return err
	}
	c, err := f.schema.catalogue(e)
	if err != nil {
		return err
	}
	if f.batch {
		return encodeBatch(e, c, operands, f.records())
	}
	if len(operands) == 0 {
		operands = []string{"-"}
	}
	for _, operand := range operands {
		v, err := readValue(e, operand)
		if err != nil {
			return err
		}
		if isRecordSet(v) {
			return f.writeRecords(e, v)
		}
		m, err := f.message(c, v)
		if err != nil {
			return err
		}
		m.records = f.records()
		b, err := m.encode(c)
		if err != nil {
			return err
		}
		if err := f.write(e, c, m, b); err != nil {
			return err
		}
	}
	return nil
}

// readValue reads the JSON that an operand holds or names.
func readValue(e *env, operand string) (map[string]any, error) {
	text, what := []byte(operand), "argument"
	switch b, err := os.ReadFile(operand); {
	case operand == "-":
		if b, err = io.ReadAll(e.stdin); err != nil {
			return nil, fmt.Errorf("stdin: %w", err)
		}
		text, what = b, "stdin"
	case err == nil:
		text, what = b, operand
	case !strings.HasPrefix(strings.TrimSpace(operand), "{"):
		return nil, fmt.Errorf("%q is no file, and no JSON object either", operand)
	}
	v, err := parseObject(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// parseObject reads a JSON object without losing digits.
func parseObject(text []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("offset %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("offset %d: more than one JSON value", d.InputOffset())
	}
	if v == nil {
		return nil, errors.New("want an object, got null")
	}
	return v, nil
}

// message is what is to be encoded.
type message struct {
	plan   *schema.Plan
	bare   bool // no size and header
	header map[string]any
	body   any
	encoding
	records records.Encoder
}

// encoding is what a message has beyond its values.
type encoding struct {
	tags, headerTags map[string][]walk.RawTag
	wire, headerWire map[string][]byte
}

// message finds out what v is.
func (f *encodeFlags) message(c *schema.Catalogue, v map[string]any) (*message, error) {
	if h, ok := v["requestHeader"].(map[string]any); ok {
		return f.logged(c, v, h)
	}
	if _, ok := v["body"]; ok && f.api == "" && f.data == "" {
		return lineMessage(c, v)
	}
	m := &message{body: v, bare: f.body}
	if f.data != "" {
		m.bare = true
		var err error
		m.plan, err = dataPlan(c, f.data, f.version, v)
		return m, err
	}
	if f.api == "" {
		return nil, usagef("this does not say what it is: give --api and --api-version, or --data and --version")
	}
	api := c.APIByName(f.api)
	if api == nil {
		return nil, usagef("unknown API %q; 'kdissect apis' lists them", f.api)
	}
	dir := schema.Request
	if f.response {
		dir = schema.Response
	}
	var err error
	m.plan, err = apiPlan(c, api.Key, f.apiVersion, dir, "", v)
	return m, err
}

// logged takes a half of an exchange in the form of the request log.
func (f *encodeFlags) logged(c *schema.Catalogue, v, h map[string]any) (*message, error) {
	key, version, err := keyAndVersion(h)
	if err != nil {
		return nil, err
	}
	m := &message{header: map[string]any{"correlationId": h["correlationId"]}}
	dir, half := schema.Request, "request"
	if f.response {
		dir, half = schema.Response, "response"
	} else {
		m.header["requestApiKey"], m.header["requestApiVersion"] = h["requestApiKey"], h["requestApiVersion"]
		m.header["clientId"] = h["clientId"]
	}
	body, ok := v[half].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("this exchange has no %s", half)
	}
	m.body = body
	m.plan, err = apiPlan(c, key, version, dir, "", body)
	return m, err
}

func keyAndVersion(h map[string]any) (key, version int16, err error) {
	if key, err = int16Of(h, "requestApiKey"); err == nil {
		version, err = int16Of(h, "requestApiVersion")
	}
	return key, version, err
}

// int16Of returns a member that must be an integer of 16 bits.
func int16Of(v map[string]any, name string) (int16, error) {
	n, ok := v[name].(json.Number)
	if !ok {
		return 0, fmt.Errorf("%s is missing or no number", name)
	}
	i, err := n.Int64()
	if err != nil || i != int64(int16(i)) {
		return 0, fmt.Errorf("%s: %s is no integer of 16 bits", name, n)
	}
	return int16(i), nil
}

// apiPlan returns the layout of a body: an older one where its release is named or only that
// has the body's members, and version 0 for an ApiVersions response with error 35 (KIP-511).
func apiPlan(c *schema.Catalogue, key, version int16, dir schema.Direction, layout string, body any) (*schema.Plan, error) {
	api := c.API(key)
	if api == nil {
		return nil, fmt.Errorf("unknown API key %d; 'kdissect apis' lists them", key)
	}
	if layout != "" {
		for _, p := range c.Older(key, version, dir) {
			if p.Older == layout {
				return p, nil
			}
		}
		return nil, fmt.Errorf("%s %s v%d has no layout of release %s", api.Name, dir, version, layout)
	}
	if members, ok := body.(map[string]any); ok && api.Name == "ApiVersions" && dir == schema.Response && members["errorCode"] == json.Number("35") {
		version = 0
	}
	p := c.Plan(key, version, dir)
	if p == nil {
		return nil, fmt.Errorf("%s has no %s v%d; it has %s", api.Name, dir, version, versionsOf(api.Message(dir)))
	}
	return likely(p, c.Older(key, version, dir), body), nil
}

// likely returns the layout that body was decoded with: p, unless only an older layout of the
// same version has just the members that are there.
func likely(p *schema.Plan, older []*schema.Plan, body any) *schema.Plan {
	if len(older) == 0 || walk.Complete(p, body) {
		return p
	}
	for _, o := range older {
		if walk.Complete(o, body) {
			return o
		}
	}
	return p
}

// dataPlan returns the layout of a definition that is no API.
func dataPlan(c *schema.Catalogue, name string, version int16, body any) (*schema.Plan, error) {
	m := c.DataMessage(name)
	if m == nil {
		return nil, fmt.Errorf("unknown definition %q; 'kdissect schema list' lists them", name)
	}
	p := c.Data(m.Name, version)
	if p == nil {
		return nil, fmt.Errorf("%s has the versions %s, not %d", m.Name, m.Versions, version)
	}
	return likely(p, c.OlderData(m.Name, version), body), nil
}

// encode returns the bytes of m.
func (m *message) encode(c *schema.Catalogue) ([]byte, error) {
	var dst []byte
	if !m.bare {
		header := c.Header(m.plan.Direction, m.plan.HeaderVersion)
		e := walk.Encoder{Tags: m.headerTags, Wire: m.headerWire}
		h := m.header
		if h == nil {
			h = map[string]any{}
		}
		if m.plan.Direction == schema.Request {
			setDefault(h, "requestApiKey", int64(m.plan.API.Key))
			setDefault(h, "requestApiVersion", int64(m.plan.Version))
		}
		var err error
		if dst, err = e.Body(make([]byte, 4), header, h); err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
	}
	if raw, ok := m.wire[walk.BodyPath]; ok {
		dst = append(dst, raw...)
	} else {
		e := walk.Encoder{Tags: m.tags, Wire: m.wire, Records: func(v any) ([]byte, error) { return m.records.Encode(nil, v) }}
		var err error
		if dst, err = e.Body(dst, m.plan, m.body); err != nil {
			return nil, err
		}
	}
	dst = append(dst, m.wire[walk.TrailingPath]...)
	if !m.bare {
		n := len(dst) - 4
		dst[0], dst[1], dst[2], dst[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	}
	return dst, nil
}

func setDefault(v map[string]any, name string, n int64) {
	if _, ok := v[name]; !ok {
		v[name] = json.Number(fmt.Sprint(n))
	}
}

// write writes the bytes of m in the form asked for.
func (f *encodeFlags) write(e *env, c *schema.Catalogue, m *message, b []byte) error {
	switch f.format.value {
	case "binary":
		_, err := e.stdout.Write(b)
		return err
	case "hex":
		_, err := fmt.Fprintln(e.stdout, hex.EncodeToString(b))
		return err
	}
	var text []byte
	if m.bare {
		var (
			d       walk.Decoder
			builder tree.Builder
		)
		builder.Reset(b)
		d.Body(b, 0, m.plan, &builder)
		x := tree.Text{Secrets: f.showSecrets}
		text = x.Append(nil, builder.Tree())
	} else {
		frames := dissect.NewFrames(c)
		fr := frames.Request(b)
		if m.plan.Direction == schema.Response {
			fr = frames.Response(b, m.plan.API.Key, m.plan.Version)
		}
		trees := output.NewTree(e.stdout, output.Options{ShowSecrets: f.showSecrets, Catalogue: c})
		text = trees.AppendFrame(nil, m.plan.Direction.String(), fr)
	}
	_, err := e.stdout.Write(text)
	return err
}
