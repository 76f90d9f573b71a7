package layout

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kdissect/kdissect/dissect/schema"
)

// SiteStats counts what a site has.
type SiteStats struct {
	APIs, Definitions int
	Pages             int // of versions; the index is not among them
	Bytes             int64
}

// WriteSite writes into the folder dir a page for every version of every API and data
// definition, and an index. The same catalogue always gives the same files. It creates dir where it
// is missing, and writes over files of a site that is there.
func (m *Maker) WriteSite(dir string) (SiteStats, error) {
	s := &site{maker: m, dir: dir}
	for _, name := range []string{"layout.css", "layout.js", "index.js"} {
		if err := s.file(name, func(w io.Writer) error {
			_, err := io.WriteString(w, asset(name))
			return err
		}); err != nil {
			return s.stats, err
		}
	}
	index := indexView{}
	for _, a := range m.Catalogue.APIs() {
		row := newRow("api", a.Name)
		row.Key, row.Listeners = strconv.Itoa(int(a.Key)), strings.Join(a.Listeners, ", ")
		if a.Key < 0 {
			row.Key = "unassigned"
		}
		row.words(a.LogName, row.Key, row.Listeners)
		if err := s.all(row, Subject{API: a}, a.Request, a.Response); err != nil {
			return s.stats, err
		}
		index.APIs = append(index.APIs, row)
		s.stats.APIs++
	}
	for _, d := range m.Catalogue.DataMessages() {
		row := newRow("data", d.Name)
		row.Type = string(d.Type)
		if d.APIKey >= 0 {
			row.Key = strconv.Itoa(int(d.APIKey))
		}
		row.words(row.Type, row.Key, d.Group)
		if err := s.all(row, Subject{Data: d}, d); err != nil {
			return s.stats, err
		}
		index.Data = append(index.Data, row)
		s.stats.Definitions++
	}
	index.Stats = s.stats
	err := s.file("index.html", func(w io.Writer) error {
		return templates().ExecuteTemplate(w, "index.tmpl", index)
	})
	return s.stats, err
}

// site is a site under way.
type site struct {
	maker *Maker
	dir   string
	stats SiteStats
	buf   bytes.Buffer
}

// indexView is what the index shows.
type indexView struct {
	APIs, Data []*indexRow
	Stats      SiteStats
}

// indexRow is a line of the index: an API or a definition.
type indexRow struct {
	Kind      string // "api" or "data"
	Name      string
	Key       string
	Type      string
	Listeners string
	Flexible  string
	Versions  []versionLink
	Words     string // lower-case words that a search looks at
	Fields    string // names of fields, likewise
}

func newRow(kind, name string) *indexRow {
	return &indexRow{Kind: kind, Name: name, Words: strings.ToLower(name)}
}

// words adds words that a search finds the row by.
func (r *indexRow) words(words ...string) {
	for _, w := range words {
		if w != "" {
			r.Words += " " + strings.ToLower(w)
		}
	}
}

// Latest returns the link to the newest version.
func (r *indexRow) Latest() string {
	if len(r.Versions) == 0 {
		return ""
	}
	return r.Versions[len(r.Versions)-1].Href
}

// all writes the pages of every version that one of the messages has.
func (s *site) all(row *indexRow, subject Subject, messages ...*schema.Message) error {
	var all []int16
	var fields []string
	for _, m := range messages {
		if m == nil {
			continue
		}
		for v := range versions(m) {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		fields = fieldNames(m, m.Fields, fields)
		row.Flexible = m.Flexible.String()
	}
	slices.Sort(all)
	slices.Sort(fields)
	row.Fields = strings.Join(slices.Compact(fields), " ")
	for _, v := range all {
		unstable := messages[0] != nil && messages[0].Unstable.Contains(v)
		row.Versions = append(row.Versions, versionLink{Version: v, Unstable: unstable, Href: fmt.Sprintf("%s/%s/v%d.html", row.Kind, row.Name, v)})
	}
	for i, v := range all {
		subject.Version = v
		if err := s.page(row, subject, i); err != nil {
			return err
		}
	}
	return nil
}

// fieldNames adds the names of fields and of those inside of them.
func fieldNames(m *schema.Message, fields []*schema.FieldDef, names []string) []string {
	for _, f := range fields {
		names = append(names, strings.ToLower(f.Name))
		names = fieldNames(m, m.Struct(f), names)
	}
	return names
}

// page writes the page of the i-th version.
func (s *site) page(row *indexRow, subject Subject, i int) error {
	p, err := s.maker.Page(subject, Smallest)
	if err != nil {
		return err
	}
	v := p.view()
	v.Root, v.Kind = "../../", row.Kind
	for j, link := range row.Versions {
		link.Current, link.Href = i == j, path.Base(link.Href)
		v.Versions = append(v.Versions, link)
	}
	earlier := int16(-1)
	if i > 0 {
		earlier = row.Versions[i-1].Version
	}
	for _, side := range p.Sides {
		v.Changes = append(v.Changes, side.changes(earlier)...)
	}
	s.stats.Pages++
	return s.file(row.Versions[i].Href, func(w io.Writer) error {
		return templates().ExecuteTemplate(w, "page.tmpl", v)
	})
}

// file writes a file of the site.
func (s *site) file(name string, write func(io.Writer) error) error {
	s.buf.Reset()
	if err := write(&s.buf); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	to := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	s.stats.Bytes += int64(s.buf.Len())
	return os.WriteFile(to, s.buf.Bytes(), 0o666)
}

// versions returns the versions of a message in order.
func versions(m *schema.Message) iter.Seq[int16] {
	return func(yield func(int16) bool) {
		if m == nil || m.Versions.Empty() {
			return
		}
		for v := int32(m.Versions.Min); v <= int32(m.Versions.Max); v++ {
			if !yield(int16(v)) {
				return
			}
		}
	}
}
