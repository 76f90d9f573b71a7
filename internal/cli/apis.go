package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect/schema"
)

var apisVerb = verb{
	name:     "apis",
	operands: "[NAME...]",
	brief:    "List the Kafka APIs and versions that can be decoded",
	about: `
Prints a line for each API, or for those named (by name or key): its key, the versions of request and
response, the first flexible version, the header versions, the listeners that take it, and the Kafka
releases that accept each version. The releases are the last patches of each minor release from 0.9
to 4.4; a version marked * is accepted only where unstable versions are enabled.`,
	examples: []example{
		{"apis", "the whole matrix"},
		{"apis Fetch 69", "two APIs, by name and by key"},
		{"apis --format json | jq '.[] | select(.requestVersions == \"none\")'", "for other programs"},
	},
	define: func(fs *pflag.FlagSet) action {
		format := newChoice("table", "json")
		fs.Var(format, "format", "table for people or json for programs")
		var own schemaFlags
		own.define(fs)
		return func(e *env, names []string) error {
			c, err := own.catalogue(e)
			if err != nil {
				return err
			}
			apis, err := namedAPIs(c, names)
			if err != nil {
				return err
			}
			if format.value == "json" {
				return apisJSON(e.stdout, apis)
			}
			return apisTable(e.stdout, c, apis)
		}
	},
}

// namedAPIs returns the APIs named, or all.
func namedAPIs(c *schema.Catalogue, names []string) ([]*schema.API, error) {
	if len(names) == 0 {
		return c.APIs(), nil
	}
	var apis []*schema.API
	for _, name := range names {
		api := c.APIByName(name)
		if api == nil {
			return nil, usagef("unknown API %q; 'kdissect apis' lists them", name)
		}
		apis = append(apis, api)
	}
	return apis, nil
}

// versionsOf returns the versions of a request or response; none where there is no such message.
func versionsOf(m *schema.Message) schema.Versions {
	if m == nil {
		return schema.None
	}
	return m.Versions
}

// flexibleOf returns the flexible versions of an API.
func flexibleOf(a *schema.API) schema.Versions {
	if a.Request == nil {
		return schema.None
	}
	return a.Request.Flexible
}

// headersOf returns the header versions of the known versions of m.
func headersOf(m *schema.Message) []schema.HeaderRange {
	var known []schema.HeaderRange
	if m == nil {
		return nil
	}
	for _, h := range m.Headers {
		if v := h.Versions.Intersect(m.Versions); !v.Empty() {
			known = append(known, schema.HeaderRange{Versions: v, Header: h.Header})
		}
	}
	return known
}

// apiJSON is one element of apis --format json. Versions are ranges such as "0-13", "3" or "none".
type apiJSON struct {
	APIKey                 int16         `json:"apiKey"`
	Name                   string        `json:"name"`
	LogName                string        `json:"logName"`
	RequestVersions        string        `json:"requestVersions"`
	ResponseVersions       string        `json:"responseVersions"`
	FlexibleVersions       string        `json:"flexibleVersions"`
	Unstable               *string       `json:"unstable"` // null where no version is
	Listeners              []string      `json:"listeners"`
	RequestHeaderVersions  []headerJSON  `json:"requestHeaderVersions"`
	ResponseHeaderVersions []headerJSON  `json:"responseHeaderVersions"`
	Releases               []releaseJSON `json:"releases"`
}

type headerJSON struct {
	Versions string `json:"versions"`
	Header   int16  `json:"header"`
}

type releaseJSON struct {
	Release  string `json:"release"`
	Versions string `json:"versions"`
	Unstable bool   `json:"unstable,omitempty"`
}

// apisJSON writes the APIs as an array, one a line.
func apisJSON(w *stdout, apis []*schema.API) error {
	for i, a := range apis {
		line, err := json.Marshal(newAPIJSON(a))
		if err != nil {
			return err
		}
		start := ",\n"
		if i == 0 {
			start = "[\n"
		}
		fmt.Fprintf(w, "%s%s", start, line)
	}
	_, err := fmt.Fprint(w, "\n]\n")
	return err
}

func newAPIJSON(a *schema.API) apiJSON {
	headers := func(m *schema.Message) []headerJSON {
		hs := []headerJSON{}
		for _, h := range headersOf(m) {
			hs = append(hs, headerJSON{h.Versions.String(), h.Header})
		}
		return hs
	}
	j := apiJSON{
		APIKey:                 a.Key,
		Name:                   a.Name,
		LogName:                a.LogName,
		RequestVersions:        versionsOf(a.Request).String(),
		ResponseVersions:       versionsOf(a.Response).String(),
		FlexibleVersions:       flexibleOf(a).String(),
		Listeners:              append([]string{}, a.Listeners...),
		RequestHeaderVersions:  headers(a.Request),
		ResponseHeaderVersions: headers(a.Response),
		Releases:               []releaseJSON{},
	}
	if a.Request != nil && !a.Request.Unstable.Empty() {
		unstable := a.Request.Unstable.String()
		j.Unstable = &unstable
	}
	for _, r := range a.Accepted {
		j.Releases = append(j.Releases, releaseJSON{r.Release, r.Versions.String(), r.Unstable})
	}
	return j
}

// apisTable writes the APIs in columns.
func apisTable(w *stdout, c *schema.Catalogue, apis []*schema.API) error {
	t := &table{}
	t.add("KEY", "NAME", "REQUEST", "RESPONSE", "FLEXIBLE", "HEADERS", "LISTENERS", "RELEASES")
	for _, a := range apis {
		t.add(keyText(a.Key), a.Name, versionsOf(a.Request), versionsOf(a.Response), flexibleOf(a),
			headersText(a.Request)+" / "+headersText(a.Response),
			strings.Join(a.Listeners, ","), acceptedText(c, a))
	}
	return t.write(w)
}

// keyText writes the key of an API; "-" where it has none yet.
func keyText(key int16) string {
	if key == schema.NoKey {
		return "-"
	}
	return strconv.Itoa(int(key))
}

// headersText writes header versions such as "1, 2 from 9".
func headersText(m *schema.Message) string {
	var parts []string
	for i, h := range headersOf(m) {
		part := strconv.Itoa(int(h.Header))
		if i > 0 {
			part += " from " + strconv.Itoa(int(h.Versions.Min))
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// acceptedText says which releases accept each version, such as "0-2: 0.9-3.9, 3: 1.0-4.4".
func acceptedText(c *schema.Catalogue, a *schema.API) string {
	all := c.Releases()
	var parts []string
	versions := versionsOf(a.Request)
	from, same := versions.Min, ""
	end := func(last int16) {
		if same != "" {
			parts = append(parts, schema.Versions{Min: from, Max: last}.String()+": "+same)
		}
	}
	for v := versions.Min; v <= versions.Max; v++ {
		if text := releasesText(all, a, v); text != same {
			end(v - 1)
			from, same = v, text
		}
	}
	end(versions.Max)
	return strings.Join(parts, ", ")
}

// releasesText names the releases that accept a version as ranges.
func releasesText(all []string, a *schema.API, version int16) string {
	var ranges []string
	first, last, next := "", "", -1
	end := func() {
		switch {
		case first == "":
		case first == last:
			ranges = append(ranges, first)
		default:
			ranges = append(ranges, first+"-"+last)
		}
	}
	for _, r := range a.Accepted {
		if !r.Versions.Contains(version) {
			continue
		}
		name := minor(r.Release)
		if r.Unstable && version == r.Versions.Max {
			name += "*"
		}
		i := slices.Index(all, r.Release)
		if i != next || strings.HasSuffix(name, "*") != strings.HasSuffix(last, "*") {
			end()
			first = name
		}
		last, next = name, i+1
	}
	end()
	return strings.Join(ranges, " ")
}

// minor shortens a release to its minor release: 3.9.2 to 3.9, and 0.10.2.2 to 0.10.2.
func minor(release string) string {
	return release[:strings.LastIndexByte(release, '.')]
}
