package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/layout"
	"github.com/kdissect/kdissect/dissect/schema"
)

var layoutVerb = verb{
	name:     "layout",
	operands: "NAME[:VERSION[..VERSION]]... | FILE.pcap...",
	brief:    "Write byte-layout pages of APIs and records",
	about: `
Shows what a request and its response look like on the wire, byte by byte: facts, a legend, the bytes 16
a row, the object tree, and the definition in Kafka's JSON form. NAME is an API, one message such as
FetchRequest, or a record or embedded protocol such as OffsetCommitValue; without a version, the newest stable one.

The bytes are a sample, by default the smallest legal one: numbers zero, strings empty, arrays of one
element, no tagged fields. --sample full fills all fields; --sample FILE.json takes values as
{"request":{..},"response":{..}}, or of one message alone. --frame N FILE.pcap takes exchange N of
'kdissect read' instead.

Of two versions, as in Fetch:12..13, it shows what is different, as 'kdissect schema diff' does.

--format html writes a page that needs no other file: pointing at a byte lights its field and the other
way round. --site DIR writes such pages for all APIs and records at all versions, with an index, a search
and the differences between neighbouring versions.`,
	examples: []example{
		{"layout ConsumerGroupDescribe:1", "one version, in the terminal"},
		{"layout Fetch:12 --format html >fetch.html", "as a page for the browser"},
		{"layout FetchRequest --sample full", "the newest version, with every tagged field"},
		{"layout Fetch:12..13", "what is different between two versions"},
		{"layout --frame 5 capture.pcap", "a captured exchange"},
		{"layout --site layouts", "everything"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &layoutFlags{
			format: newChoice("text", "markdown", "html", "json"),
			color:  newChoice("auto", "always", "never"),
		}
		f.define(fs)
		return f.run
	},
}

// layoutFlags are the flags of layout.
type layoutFlags struct {
	format, color     *choice
	sample, site      string
	frame             int64
	showSecrets, full bool
	source            sourceFlags
}

func (f *layoutFlags) define(fs *pflag.FlagSet) {
	fs.Var(f.format, "format", "how to write pages")
	fs.StringVar(&f.sample, "sample", "smallest", "the values (`what`): smallest, full, or a file of JSON")
	fs.Int64Var(&f.frame, "frame", 0, "show exchange `N` of the capture files")
	fs.StringVar(&f.site, "site", "", "write the pages of everything into the folder `DIR`")
	fs.BoolVar(&f.full, "full", false, "show long values whole")
	fs.BoolVar(&f.showSecrets, "show-secrets", false, "show passwords, tokens and the like of given values and captures")
	fs.Var(f.color, "color", "colour text; auto: on a terminal, unless NO_COLOR is set")
	f.source.define(fs)
}

func (f *layoutFlags) check(operands []string) error {
	switch {
	case f.site != "" && len(operands) > 0:
		return usagef("--site takes no names: it has everything")
	case f.site != "" && (f.frame != 0 || f.sample != "smallest"):
		return usagef("--site has the smallest sample of everything")
	case f.frame < 0:
		return usagef("--frame %d: exchanges are counted from 1", f.frame)
	case f.frame > 0 && f.sample != "smallest":
		return usagef("give one of --frame and --sample")
	case f.site == "" && len(operands) == 0 && f.frame > 0:
		return usagef("no file given; - is stdin")
	case f.site == "" && len(operands) == 0:
		return usagef("no name given; 'kdissect apis' and 'kdissect schema list' list them")
	case f.format.value == "html" && len(operands) > 1 && f.frame == 0:
		return usagef("an HTML page is about one name")
	}
	return f.source.check()
}

func (f *layoutFlags) run(e *env, operands []string) error {
	if err := f.check(operands); err != nil {
		return err
	}
	catalogue, err := f.source.schema.catalogue(e)
	if err != nil {
		return err
	}
	m := &layout.Maker{Catalogue: catalogue, Secrets: f.showSecrets, Full: f.full, MaxNodes: f.source.limits.nodes}
	switch {
	case f.site != "":
		stats, err := m.WriteSite(f.site)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s of %s and %s written to %s\n", plural(stats.Pages, "page"), plural(stats.APIs, "API"),
			plural(stats.Definitions, "other definition"), f.site)
		return nil
	case f.frame > 0:
		return f.capturedPage(e, m, operands)
	}
	for i, operand := range operands {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		if from, to, err := diffOperands([]string{operand}); err == nil {
			if err := f.diff(e, catalogue, from, to); err != nil {
				return err
			}
			continue
		}
		p, err := f.page(e, m, operand)
		if err != nil {
			return err
		}
		if err := f.write(e, p); err != nil {
			return err
		}
	}
	return nil
}

// diff writes what is different between two versions.
func (f *layoutFlags) diff(e *env, c *schema.Catalogue, from, to string) error {
	if f.format.value == "html" {
		return usagef("differences are written as text, markdown or json; the pages of --site show them in HTML")
	}
	d, err := schemaDiff(e, c, from, to, f.source.schema.lenient)
	if err != nil {
		return err
	}
	return writeDiff(e, d, f.format.value)
}

// page makes the page of an operand, NAME or NAME:VERSION.
func (f *layoutFlags) page(e *env, m *layout.Maker, operand string) (*layout.Page, error) {
	s, err := layoutSubject(m.Catalogue, operand)
	if err != nil {
		return nil, err
	}
	switch f.sample {
	case "smallest":
		return m.Page(s, layout.Smallest)
	case "full":
		return m.Page(s, layout.Full)
	}
	v, err := readValue(e, f.sample)
	if err != nil {
		return nil, err
	}
	values, err := layoutValues(s, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.sample, err)
	}
	m.Decoder = newDecoder(m.Catalogue, f.source.limits.records(true)) // given bytes may hold messages
	return m.GivenPage(s, values)
}

// layoutSubject finds what an operand names.
func layoutSubject(c *schema.Catalogue, operand string) (layout.Subject, error) {
	name, versionText, versioned := strings.Cut(operand, ":")
	api, directions, data := findDefinition(c, name)
	s := layout.Subject{API: api, Data: data}
	m := data
	switch {
	case api != nil:
		if len(directions) == 1 {
			s.Only = &directions[0]
		}
		if m = api.Message(directions[0]); m == nil {
			m = api.Response
		}
	case data == nil:
		return s, usagef("unknown definition %q; 'kdissect apis' and 'kdissect schema list' list them", name)
	}
	if !versioned {
		s.Version = newest(m)
		return s, nil
	}
	version, err := strconv.ParseInt(strings.TrimPrefix(versionText, "v"), 10, 16)
	if err != nil || version < 0 {
		return s, usagef("%s: want a version such as %s:1", operand, name)
	}
	if s.Version = int16(version); !m.Versions.Contains(s.Version) {
		return s, usagef("%s has the versions %s", s.Name(), m.Versions)
	}
	return s, nil
}

// newest returns the newest version of m, a stable one where there is one.
func newest(m *schema.Message) int16 {
	if !m.Unstable.Empty() && m.Unstable.Max == m.Versions.Max && m.Unstable.Min > m.Versions.Min {
		return m.Unstable.Min - 1
	}
	return m.Versions.Max
}

// layoutValues reads the values of a page: those of the halves by their names, as the request log and
// 'read -j' have them, or those of the only message.
func layoutValues(s layout.Subject, v map[string]any) (layout.Values, error) {
	out := layout.Values{Body: map[schema.Direction]any{}}
	if s.API == nil {
		out.Body[schema.Data] = v
		if body, ok := v["body"]; ok {
			out.Body[schema.Data] = body
		}
		return out, nil
	}
	if h, ok := v["requestHeader"].(map[string]any); ok {
		id, err := strconv.ParseInt(fmt.Sprint(h["correlationId"]), 10, 32)
		if err != nil {
			return out, fmt.Errorf("requestHeader.correlationId: want an integer")
		}
		out.CorrelationID, out.ClientID = int32(id), h["clientId"]
	} else {
		out.ClientID = ""
	}
	for _, d := range []schema.Direction{schema.Request, schema.Response} {
		if body, ok := v[d.String()]; ok && body != nil {
			out.Body[d] = body
		}
	}
	if len(out.Body) > 0 {
		return out, nil
	}
	if s.Only == nil {
		return out, fmt.Errorf(`want {"request":{..},"response":{..}}, or name one message, such as %sRequest`, s.API.Name)
	}
	out.Body[*s.Only] = v
	return out, nil
}

// write writes a page in the form that was asked for.
func (f *layoutFlags) write(e *env, p *layout.Page) error {
	switch f.format.value {
	case "markdown":
		return p.WriteMarkdown(e.stdout)
	case "html":
		return p.WriteHTML(e.stdout)
	case "json":
		return p.WriteJSON(e.stdout)
	}
	return p.WriteText(e.stdout, useColor(f.color.value, e.stdout))
}
