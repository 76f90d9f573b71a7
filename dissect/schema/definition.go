package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseDefinition reads one of Kafka's JSON message definitions, which has to be as Kafka's
// generator wants it; ReadDraft takes others. file is for errors, which are of type *PosError.
func ParseDefinition(file, src string) (*Message, error) {
	d := ReadDraft(file, src)
	for _, f := range d.Findings {
		if f.Severity == Repaired || f.Severity == Fault {
			return nil, &PosError{File: file, Pos: f.Pos, Text: f.Text}
		}
	}
	if len(d.Messages) != 1 {
		return nil, &PosError{File: file, Pos: Pos{1, 1}, Text: fmt.Sprintf("%d definitions in one text", len(d.Messages))}
	}
	return d.Messages[0], nil
}

// definitionReader turns a JSON value into a Message and finds what is wrong with it.
type definitionReader struct {
	found   []note
	faults  int
	places  map[*FieldDef]*jsonValue
	structs map[*StructDef]*jsonValue
	top     *jsonValue
	lost    []*FieldDef // fields of what is not sound itself
}

func (d *definitionReader) note(at *jsonValue, severity Severity, format string, args ...any) {
	if severity == Fault {
		d.faults++
	}
	d.found = append(d.found, note{at.tok.off, severity, fmt.Sprintf(format, args...)})
}

func (d *definitionReader) fail(at *jsonValue, format string, args ...any) {
	d.note(at, Fault, format, args...)
}

// breach notes what breaks a rule and can be read all the same.
func (d *definitionReader) breach(at *jsonValue, format string, args ...any) {
	d.note(at, Breach, format, args...)
}

// Members that definitions, structs and fields have.
var (
	messageMembers = []string{"apiKey", "type", "listeners", "name", "validVersions", "deprecatedVersions", "flexibleVersions",
		"latestVersionUnstable", "fields", "commonStructs"}
	structMembers = []string{"name", "versions", "deprecatedVersions", "fields"}
	fieldMembers  = []string{"name", "type", "versions", "nullableVersions", "taggedVersions", "tag", "flexibleVersions", "default",
		"entityType", "mapKey", "ignorable", "zeroCopy", "about", "fields", "deprecatedVersions"}
)

// members returns the members of an object by the names that are known, and notes others and
// those given twice.
func (d *definitionReader) members(v *jsonValue, known []string) []jsonMember {
	var members []jsonMember
	for _, m := range v.members {
		at := &jsonValue{tok: m.key}
		if !slices.Contains(known, m.key.text) {
			near := nearName(m.key.text, known)
			if near == "" || v.has(near) {
				d.breach(at, "unknown member %s; left out", quoted(m.key.text))
				continue
			}
			d.note(at, Repaired, "%s read as %q", quoted(m.key.text), near)
			m.key.text = near
		}
		i := slices.IndexFunc(members, func(x jsonMember) bool { return x.key.text == m.key.text })
		switch {
		case i < 0:
			members = append(members, m)
		case equalValues(members[i].value, m.value):
			d.note(at, Warning, "%q is given twice, alike", m.key.text) // as in some of Kafka's own
		case m.key.text == "about":
			d.note(at, Repaired, "%q is given twice; the second left out", m.key.text)
		default:
			d.fail(at, "%q is given twice, as %s and %s", m.key.text, valueText(members[i].value), valueText(m.value))
		}
	}
	return members
}

// nearName returns the known name that name may have meant: but for its case, for spaces, hyphens
// and quotation marks in it, or for an s at its end.
func nearName(name string, known []string) string {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-\"'", r) || oddSpaces[r] != "" {
			return -1
		}
		return r
	}, name)
	for _, k := range known {
		if strings.EqualFold(plain, k) || strings.EqualFold(plain+"s", k) || strings.EqualFold(plain, k+"s") {
			return k
		}
	}
	return ""
}

func equalValues(a, b *jsonValue) bool {
	return a.tok.text == b.tok.text &&
		slices.EqualFunc(a.items, b.items, equalValues) &&
		slices.EqualFunc(a.members, b.members, func(x, y jsonMember) bool {
			return x.key.text == y.key.text && equalValues(x.value, y.value)
		})
}

func valueText(v *jsonValue) string {
	if v.isObject() || v.isArray() {
		return "another list"
	}
	return quoted(v.tok.text)
}

// message reads a definition; what cannot be read has its zero value.
func (d *definitionReader) message(v *jsonValue) *Message {
	d.places, d.structs, d.top = make(map[*FieldDef]*jsonValue), make(map[*StructDef]*jsonValue), v
	m := &Message{APIKey: -1, Versions: None, Flexible: None, Unstable: None}
	var haveVersions, haveKey, unstable bool
	for _, x := range d.members(v, messageMembers) {
		switch x.key.text {
		case "name":
			m.Name = d.name(x)
		case "type":
			m.Type = Type(strings.ToLower(d.word(x)))
			if !knownType(m.Type) {
				d.fail(x.value, "unknown type %s of definition", quoted(d.text(x)))
			}
		case "apiKey":
			m.APIKey, haveKey = d.apiKey(x), true
		case "listeners":
			for _, item := range d.items(x) {
				m.Listeners = append(m.Listeners, d.word(jsonMember{x.key, item}))
			}
		case "validVersions":
			m.Versions, haveVersions = d.versions(x)
		case "flexibleVersions":
			m.Flexible, _ = d.versions(x)
		case "latestVersionUnstable":
			unstable = d.boolean(x)
		case "fields":
			m.Fields = d.fields(x)
		case "commonStructs":
			for _, item := range d.items(x) {
				if s := d.structDef(item); s != nil {
					m.Structs = append(m.Structs, s)
				}
			}
		}
	}
	if m.Type == "" && m.Name != "" {
		m.Type = d.typeOf(m.Name)
	}
	switch {
	case m.Name == "":
		d.fail(v, "the definition has no name")
	case !haveVersions && !v.has("validVersions"):
		d.fail(v, "the definition has no validVersions")
	case (m.Type == TypeRequest || m.Type == TypeResponse) && !haveKey:
		d.note(v, Repaired, "the %s has no apiKey; read as one that is not assigned", m.Type)
	}
	if !haveVersions || m.Name == "" || !knownType(m.Type) {
		return nil
	}
	if unstable && !m.Versions.Empty() {
		m.Unstable = Versions{m.Versions.Max, m.Versions.Max}
	}
	m.deriveHeaders()
	return m
}

// typeOf tells the type of a definition that does not say it by its name.
func (d *definitionReader) typeOf(name string) Type {
	for _, t := range [...]Type{TypeRequest, TypeResponse} {
		if suffix := string(t[1:]); strings.HasSuffix(name, suffix) && len(name) > len(t) {
			d.note(d.top, Repaired, "the definition has no type; %s by its name", t)
			return t
		}
	}
	d.fail(d.top, "the definition has no type")
	return ""
}

// apiKey reads the key of an API, which is -1 where a word stands in its place.
func (d *definitionReader) apiKey(x jsonMember) int16 {
	text := strings.TrimSpace(d.scalar(x))
	n, err := strconv.ParseInt(text, 0, 64)
	switch {
	case err != nil && !strings.ContainsAny(text, "0123456789") || n == -1:
		d.note(x.value, Repaired, "apiKey %s is no number; read as not assigned", quoted(text))
		return -1
	case err != nil || n < 0 || n > 1<<15-1:
		d.fail(x.value, "apiKey is not a number from 0 to %d", 1<<15-1)
		return -1
	}
	return int16(n)
}

func (d *definitionReader) structDef(v *jsonValue) *StructDef {
	s := &StructDef{Versions: All}
	if !v.isObject() {
		d.fail(v, "a struct is an object, not %s", v.tok.describe())
		return nil
	}
	for _, x := range d.members(v, structMembers) {
		switch x.key.text {
		case "name":
			s.Name = d.name(x)
		case "versions":
			s.Versions, _ = d.versions(x)
		case "fields":
			s.Fields = d.fields(x)
		}
	}
	if s.Name == "" {
		d.fail(v, "the struct has no name")
		return nil
	}
	d.structs[s] = v
	return s
}

// fields reads the fields that are sound.
func (d *definitionReader) fields(x jsonMember) []*FieldDef {
	var fields []*FieldDef
	for _, item := range d.items(x) {
		if f := d.field(item); f != nil {
			fields = append(fields, f)
		}
	}
	return fields
}

// field reads a field; nil where its place in the bytes cannot be told.
func (d *definitionReader) field(v *jsonValue) *FieldDef {
	f := &FieldDef{Versions: None, Nullable: None, Tag: -1, Tagged: None}
	if !v.isObject() {
		d.fail(v, "a field is an object, not %s", v.tok.describe())
		return nil
	}
	haveVersions := false
	inner := 0 // faults of the fields inside, which do not count
	faults := d.faults
	for _, x := range d.members(v, fieldMembers) {
		switch x.key.text {
		case "name":
			f.Name = d.name(x)
		case "type":
			f.Type = d.fieldType(x)
		case "versions":
			f.Versions, haveVersions = d.versions(x)
		case "nullableVersions":
			f.Nullable, _ = d.versions(x)
		case "taggedVersions":
			f.Tagged, _ = d.versions(x)
		case "tag":
			f.Tag = int32(d.integer(x, 0, 1<<31-1))
		case "flexibleVersions":
			flexible, _ := d.versions(x)
			f.Flexible = &flexible
		case "default":
			if !x.value.isNull() { // the literal null is no default; the string "null" is one
				f.Default = d.text(x)
			}
		case "entityType":
			f.EntityType = d.word(x)
		case "mapKey":
			f.MapKey = d.boolean(x)
		case "ignorable":
			f.Ignorable = d.boolean(x)
		case "zeroCopy":
			f.ZeroCopy = d.boolean(x)
		case "about":
			f.About = strings.TrimSpace(d.text(x))
		case "fields":
			before := d.faults
			f.Fields = d.fields(x)
			inner += d.faults - before
		}
	}
	switch {
	case f.Name == "":
		d.fail(v, "the field has no name")
	case f.Type == "":
		d.fail(v, "field %s has no type", f.Name)
	case !haveVersions && f.Tagged.Empty() && !v.has("versions"):
		d.fail(v, "field %s has no versions", f.Name)
	case !haveVersions: // some releases leave them out where taggedVersions says the same
		f.Versions = f.Tagged
	}
	if f.Tag >= 0 && f.Tagged.Empty() {
		d.fail(v, "field %s has a tag but no taggedVersions", f.Name)
	}
	if f.Tag < 0 && !f.Tagged.Empty() {
		d.fail(v, "field %s has taggedVersions but no tag", f.Name)
	}
	if d.faults-inner > faults {
		d.lost = append(d.lost, f.Fields...)
		return nil
	}
	d.places[f] = v
	return f
}

// orphan reads an object that belongs nowhere, for what is to say about it.
func (d *definitionReader) orphan(v *jsonValue) {
	for _, m := range v.members {
		if m.key.text == "fields" {
			d.lost = append(d.lost, d.fields(m)...)
		}
	}
}

func (d *definitionReader) items(x jsonMember) []*jsonValue {
	if !x.value.isArray() {
		d.fail(x.value, "%s is not an array", x.key.text)
	}
	return x.value.items
}

// scalar accepts a number and a bool for a string, as Kafka's own reader does.
func (d *definitionReader) scalar(x jsonMember) string {
	if x.value.isObject() || x.value.isArray() {
		d.fail(x.value, "%s is not a string", x.key.text)
		return ""
	}
	return x.value.tok.text
}

// text is scalar without null.
func (d *definitionReader) text(x jsonMember) string {
	if x.value.isNull() {
		d.fail(x.value, "%s is not a string", x.key.text)
		return ""
	}
	return d.scalar(x)
}

// word is text in which no white space counts but that between words.
func (d *definitionReader) word(x jsonMember) string {
	text := d.text(x)
	plain := strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '\'':
			return -1
		case r == '\u00a0':
			return ' '
		case oddSpaces[r] != "":
			return -1
		}
		return r
	}, text))
	if plain != text {
		d.note(x.value, Repaired, "white space or quotation marks beside %s; left out", quoted(plain))
	}
	return plain
}

// name reads a name, which has to be one of Java's without _ and $.
func (d *definitionReader) name(x jsonMember) string {
	name := d.word(x)
	for i := 0; i < len(name); i++ {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			d.fail(x.value, "%s is no name: want letters and digits", quoted(name))
			return ""
		}
	}
	return name
}

// fieldType reads the type of a field.
func (d *definitionReader) fieldType(x jsonMember) string {
	text := d.word(x)
	name := strings.ReplaceAll(text, " ", "")
	elem := strings.TrimPrefix(name, "[]")
	if elem != "" && wordLen(elem) == len(elem) && !strings.ContainsAny(elem, "-+._?$/") {
		return name
	}
	hint := ""
	if near := nearType(name); near != "" {
		hint = "; did you mean " + near + "?"
	}
	d.fail(x.value, "%s is no type: want NAME or []NAME%s", quoted(text), hint)
	return name
}

func (d *definitionReader) integer(x jsonMember, low, high int64) int64 {
	n, err := strconv.ParseInt(d.word(x), 0, 64)
	if err != nil || n < low || n > high {
		d.fail(x.value, "%s is not a number from %d to %d", x.key.text, low, high)
		return low
	}
	return n
}

func (d *definitionReader) boolean(x jsonMember) bool {
	switch d.word(x) {
	case "true":
		return true
	case "false":
	default:
		d.fail(x.value, "%s is neither true nor false", x.key.text)
	}
	return false
}

// versions reads a range of versions, and reports whether it is one.
func (d *definitionReader) versions(x jsonMember) (Versions, bool) {
	text := d.word(x)
	v, err := ParseVersions(text)
	if err == nil {
		return v, true
	}
	plain := strings.Map(func(r rune) rune {
		switch r {
		case '–', '—', '−':
			return '-'
		case ' ', 'v', 'V':
			return -1
		}
		return r
	}, text)
	if v, again := ParseVersions(plain); again == nil && plain != "" {
		d.note(x.value, Repaired, "%s %s read as %s", x.key.text, quoted(text), quoted(plain))
		return v, true
	}
	d.fail(x.value, "%s: %v", x.key.text, err)
	return None, false
}
