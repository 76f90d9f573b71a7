package schema

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// releasesFile names the catalogue file that lists the releases in order, one a line.
const releasesFile = "releases.txt"

// notationReader collects the catalogue from its files.
type notationReader struct {
	releases []string
	apis     []*API
	data     []*Message
	spans    []acceptedSpan // resolved once all releases are known

	name string // of the file
	api  *API   // of the file, or nil

	words  words      // of the line
	fields []FieldDef // to be given out

	message *Message       // the section's
	current *[]*FieldDef   // where fields at depth 1 go
	open    []*[]*FieldDef // fields lists by depth
}

// acceptedSpan is an accepted line.
type acceptedSpan struct {
	api      *API
	from, to string
	versions Versions
	unstable bool
	err      PosError // its place, should the releases be unknown
}

// file reads one file.
func (r *notationReader) file(name, src string) error {
	r.name, r.api, r.message, r.current = name, nil, nil, nil
	i := -1
	for line := range strings.SplitSeq(src, "\n") {
		i++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		if name == releasesFile {
			r.releases = append(r.releases, text)
			continue
		}
		if err := r.line(line, i+1); err != nil {
			return r.at(i+1, err)
		}
	}
	return nil
}

// files reads files of a folder.
func (r *notationReader) files(fsys fs.FS, dir string, entries []fs.DirEntry) error {
	for _, e := range entries {
		src, err := fs.ReadFile(fsys, dir+"/"+e.Name())
		if err != nil {
			return err
		}
		if err := r.file(e.Name(), string(src)); err != nil {
			return err
		}
	}
	return nil
}

// join adds what another has read.
func (r *notationReader) join(o *notationReader) {
	r.releases = append(r.releases, o.releases...)
	r.apis = append(r.apis, o.apis...)
	r.data = append(r.data, o.data...)
	r.spans = append(r.spans, o.spans...)
}

func (r *notationReader) at(line int, err error) error {
	return &PosError{File: r.name, Pos: Pos{line, 1}, Text: err.Error()}
}

func (r *notationReader) line(line string, number int) error {
	spaces := len(line) - len(strings.TrimLeft(line, " "))
	w := &r.words
	if err := w.split(strings.TrimSpace(line)); err != nil {
		return err
	}
	if spaces%2 != 0 {
		return fmt.Errorf("indented by an odd number of spaces")
	}
	if spaces > 0 {
		return r.field(w, spaces/2)
	}
	switch w.next() {
	case "api":
		return r.startAPI(w)
	case "listeners":
		if r.api == nil {
			return fmt.Errorf("listeners without an api")
		}
		r.api.Listeners = slices.Clone(w.rest())
	case "accepted":
		return r.accepted(w, number)
	case "struct":
		if r.message == nil {
			return fmt.Errorf("struct without a message")
		}
		s := &StructDef{Name: w.next()}
		s.Versions = w.versions()
		r.message.Structs = append(r.message.Structs, s)
		r.current = &s.Fields
		return w.done()
	case "older":
		return r.older(w)
	default:
		w.back()
		m, err := r.startMessage(w)
		if err != nil {
			return err
		}
		r.message = m
		return r.keep(m)
	}
	return nil
}

func (r *notationReader) startAPI(w *words) error {
	key := w.integer(0, 1<<15-1)
	r.api = &API{Key: int16(key), Name: w.next()}
	r.api.LogName = upperSnake(r.api.Name)
	r.apis = append(r.apis, r.api)
	return w.done()
}

func (r *notationReader) accepted(w *words, number int) error {
	if r.api == nil {
		return fmt.Errorf("accepted without an api")
	}
	from, to, isRun := strings.Cut(w.next(), "..")
	if !isRun {
		to = from
	}
	s := acceptedSpan{api: r.api, from: from, to: to, versions: w.versions()}
	s.unstable = w.take("unstable")
	s.err = PosError{File: r.name, Pos: Pos{number, 1}, Text: "the releases are not in " + releasesFile}
	r.spans = append(r.spans, s)
	return w.done()
}

// startMessage reads the line that opens a message.
func (r *notationReader) startMessage(w *words) (*Message, error) {
	m := &Message{Type: Type(w.next()), APIKey: -1, Flexible: None, Unstable: None}
	switch {
	case !knownType(m.Type):
		return nil, fmt.Errorf("unknown word %q", m.Type)
	case m.Type == TypeRequest || m.Type == TypeResponse:
		if r.api == nil {
			return nil, fmt.Errorf("%s without an api", m.Type)
		}
		m.APIKey, m.Name, m.Listeners = r.api.Key, r.api.Name+"Request", r.api.Listeners
		if m.Type == TypeResponse {
			m.Name, m.Listeners = r.api.Name+"Response", nil
		}
	default:
		m.Group = strings.TrimSuffix(r.name, ".txt")
		m.Name = w.next()
		if m.Name != "" && m.Name[0] >= '0' && m.Name[0] <= '9' {
			w.back()
			m.APIKey = int16(w.integer(0, 1<<15-1))
			m.Name = w.next()
		}
	}
	m.Versions = w.versions()
	if w.take("flexible") {
		m.Flexible = w.versions()
	}
	if w.take("unstable") {
		m.Unstable = w.versions()
	}
	if w.take("headers") {
		for _, word := range w.rest() {
			versions, header, _ := strings.Cut(word, "=")
			v, err := ParseVersions(versions)
			n, err2 := strconv.ParseInt(header, 10, 16)
			if err != nil || err2 != nil {
				return nil, fmt.Errorf("headers: want VERSIONS=HEADER, found %q", word)
			}
			m.Headers = append(m.Headers, HeaderRange{v, int16(n)})
		}
	}
	r.current = &m.Fields
	return m, w.done()
}

// keep puts a message where it belongs.
func (r *notationReader) keep(m *Message) error {
	switch m.Type {
	case TypeRequest:
		if r.api.Request != nil {
			return fmt.Errorf("a second request")
		}
		r.api.Request = m
	case TypeResponse:
		if r.api.Response != nil {
			return fmt.Errorf("a second response")
		}
		r.api.Response = m
	default:
		r.data = append(r.data, m)
	}
	return nil
}

func (r *notationReader) older(w *words) error {
	var newer *Message
	release := w.next()
	m, err := r.startMessage(w)
	if err != nil {
		return err
	}
	switch {
	case m.Type == TypeRequest:
		newer = r.api.Request
	case m.Type == TypeResponse:
		newer = r.api.Response
	case len(r.data) > 0 && r.data[len(r.data)-1].Name == m.Name:
		newer = r.data[len(r.data)-1]
	}
	if newer == nil {
		return fmt.Errorf("an older layout without a newer one before it")
	}
	newer.Older = append(newer.Older, &Older{release, m})
	r.message = m
	return nil
}

// field reads a field's line at a depth counted from 1.
func (r *notationReader) field(w *words, depth int) error {
	if r.current == nil {
		return fmt.Errorf("a field without a message")
	}
	if depth == 1 {
		r.open = append(r.open[:0], r.current)
	}
	if depth > len(r.open) {
		return fmt.Errorf("indented too far")
	}
	f := r.newField()
	*f = FieldDef{Name: w.next(), Type: w.next(), Nullable: None, Tag: -1, Tagged: None}
	f.Versions = w.versions()
	if t, ok := strings.CutSuffix(f.Type, "?"); ok {
		f.Type, f.Nullable = t, f.Versions
	}
	if w.take("nullable") {
		f.Nullable = w.versions()
	}
	if w.take("tag") {
		f.Tag, f.Tagged = int32(w.integer(0, 1<<31-1)), f.Versions
		if w.take("in") {
			f.Tagged = w.versions()
		}
	}
	if w.take("default") {
		f.Default = w.next()
	}
	if w.take("entity") {
		f.EntityType = w.next()
	}
	f.MapKey = w.take("key")
	f.Ignorable = w.take("ignorable")
	f.ZeroCopy = w.take("zerocopy")
	if w.take("flexible") {
		v := w.versions()
		f.Flexible = &v
	}
	if err := w.done(); err != nil {
		return err
	}
	if _, err := parseDefault(f); err != nil {
		return err
	}
	list := r.open[depth-1]
	*list = append(*list, f)
	r.open = append(r.open[:depth], &f.Fields)
	return nil
}

// catalogue returns what was read, checked.
func (r *notationReader) catalogue() (*Catalogue, error) {
	for _, s := range r.spans {
		from, to := slices.Index(r.releases, s.from), slices.Index(r.releases, s.to)
		if from < 0 || to < from {
			return nil, &s.err
		}
		for _, release := range r.releases[from : to+1] {
			s.api.Accepted = append(s.api.Accepted, Accepted{release, s.versions, s.unstable})
		}
	}
	messages := slices.Clone(r.data)
	for _, a := range r.apis {
		messages = append(messages, a.Request, a.Response)
	}
	for _, m := range messages {
		if m == nil {
			continue
		}
		if err := m.check(); err != nil {
			return nil, err
		}
		for _, o := range m.Older {
			if err := o.Message.check(); err != nil {
				return nil, err
			}
		}
	}
	c := New(r.apis, r.data, nil)
	c.releases = r.releases
	return c, nil
}

// newField returns one of many that are allocated together.
func (r *notationReader) newField() *FieldDef {
	const together = 64
	if len(r.fields) == 0 {
		r.fields = make([]FieldDef, together)
	}
	f := &r.fields[0]
	r.fields = r.fields[1:]
	return f
}

// words hands out the words of a line; its first error sticks.
type words struct {
	list []string
	at   int
	err  error
}

// split takes the words of a line, between spaces; one may be quoted as in Go.
func (w *words) split(s string) error {
	*w = words{list: w.list[:0]}
	for s != "" {
		if s[0] == '"' {
			q, err := strconv.QuotedPrefix(s)
			if err != nil {
				return fmt.Errorf("a quote is not closed")
			}
			text, err := strconv.Unquote(q)
			if err != nil {
				return fmt.Errorf("a quote cannot be read: %w", err)
			}
			w.list = append(w.list, text)
			s = strings.TrimLeft(s[len(q):], " ")
			continue
		}
		word, rest, _ := strings.Cut(s, " ")
		w.list = append(w.list, word)
		s = strings.TrimLeft(rest, " ")
	}
	return nil
}

func (w *words) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *words) next() string {
	if w.at >= len(w.list) {
		w.fail("the line ends too early")
		return ""
	}
	w.at++
	return w.list[w.at-1]
}

func (w *words) back() { w.at-- }

// take passes over the next word if it is this one.
func (w *words) take(word string) bool {
	if w.at < len(w.list) && w.list[w.at] == word {
		w.at++
		return true
	}
	return false
}

func (w *words) rest() []string {
	rest := w.list[w.at:]
	w.at = len(w.list)
	return rest
}

func (w *words) versions() Versions {
	s := w.next()
	v, err := ParseVersions(s)
	if err != nil || s == "" {
		w.fail("want versions, found %q", s)
	}
	return v
}

func (w *words) integer(low, high int64) int64 {
	s := w.next()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < low || n > high {
		w.fail("want a number from %d to %d, found %q", low, high, s)
	}
	return n
}

// done reports the first error, or words that are left over.
func (w *words) done() error {
	if w.err == nil && w.at < len(w.list) {
		w.fail("%q is not expected here", w.list[w.at])
	}
	return w.err
}
