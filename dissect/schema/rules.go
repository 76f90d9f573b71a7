package schema

import (
	"slices"
	"strings"
)

// rules holds a definition to the rules of Kafka's generator, and takes out of it what cannot
// be laid out.
type rules struct {
	*definitionReader
	m       *Message
	inline  map[string][]*FieldDef // fields that define the struct of that name in place
	used    map[string]bool        // shared structs
	inside  map[string]map[string]bool
	dropped bool
}

// sound returns what of m can be laid out, or nil; it notes what breaks a rule.
func (d *definitionReader) sound(m *Message) *Message {
	if m == nil {
		return nil
	}
	r := &rules{definitionReader: d, m: m, inline: make(map[string][]*FieldDef)}
	r.message()
	r.collect(m.Fields)
	for _, s := range m.Structs {
		r.collect(s.Fields)
	}
	// A struct that loses its last field takes the fields of its type with it.
	r.dropped = true
	for n := 0; r.dropped && n < maxNesting; n++ {
		r.dropped, r.used, r.inside = false, make(map[string]bool), make(map[string]map[string]bool)
		m.Fields = r.keep(m.Fields, nil)
		for _, s := range m.Structs {
			s.Fields = r.keep(s.Fields, []string{s.Name})
		}
	}
	r.keep(r.lost, nil) // for what is to say about their types
	r.fields(m.Name, m.Fields, m.Versions, false)
	for _, s := range m.Structs {
		if !r.used[s.Name] {
			r.note(r.structs[s], Warning, "struct %s is not used", s.Name)
		}
		r.fields(s.Name, s.Fields, s.Versions.Intersect(m.Versions), true)
	}
	if err := m.check(); err != nil {
		r.fail(r.top, "%v", err)
		return nil
	}
	return m
}

// at returns the value of a member of a field's definition, or the definition.
func (r *rules) at(f *FieldDef, member string) *jsonValue {
	v := r.places[f]
	if v == nil {
		return r.top
	}
	for _, m := range v.members {
		if m.key.text == member || nearName(m.key.text, fieldMembers) == member {
			return m.value
		}
	}
	return v
}

// member returns the value of a member of the definition, or the definition.
func (r *rules) member(name string) *jsonValue {
	if v := r.top.member(name); v != nil {
		return v
	}
	return r.top
}

// message holds the definition itself to the rules.
func (r *rules) message() {
	m := r.m
	request := m.Type == TypeRequest
	switch {
	case !r.top.has("flexibleVersions") && !m.Versions.Empty():
		r.note(r.top, Warning, "the definition has no flexibleVersions; read as none")
	case !m.Flexible.Empty() && m.Flexible.Max != All.Max:
		r.breach(r.member("flexibleVersions"), "flexibleVersions %s do not stay open; want none or N+", m.Flexible)
	}
	if (request || m.Type == TypeResponse) && m.apiName() == m.Name {
		r.breach(r.member("name"), "the name of a %s ends with %s", m.Type, strings.ToUpper(string(m.Type[:1]))+string(m.Type[1:]))
	}
	if !request && len(m.Listeners) > 0 {
		r.note(r.member("listeners"), Warning, "only requests have listeners")
	}
	for _, l := range m.Listeners {
		if l != "broker" && l != "controller" && l != "zkBroker" {
			r.breach(r.member("listeners"), "unknown listener %s", quoted(l))
		}
	}
	if !request && r.top.has("latestVersionUnstable") {
		r.note(r.member("latestVersionUnstable"), Warning, "only requests say that their latest version is unstable")
	}
	if m.Versions.Empty() && len(m.Fields) > 0 {
		r.note(r.member("validVersions"), Warning, "there are fields, but no version is valid")
	}
	if v := r.member("validVersions"); m.Versions.Max == All.Max {
		r.fail(v, "validVersions %s do not end", m.Versions)
		m.Versions.Max = m.Versions.Min
	}
	kept := m.Structs[:0]
	for _, s := range m.Structs {
		if slices.ContainsFunc(kept, func(k *StructDef) bool { return k.Name == s.Name }) {
			r.fail(r.structs[s], "struct %s is defined twice", s.Name)
			continue
		}
		if len(s.Fields) == 0 {
			r.fail(r.structs[s], "struct %s has no fields", s.Name)
			continue
		}
		kept = append(kept, s)
	}
	m.Structs = kept
}

// collect files the structs that fields define in place.
func (r *rules) collect(fields []*FieldDef) {
	for _, f := range fields {
		if len(f.Fields) > 0 {
			r.inline[f.ElemType()] = append(r.inline[f.ElemType()], f)
			r.collect(f.Fields)
		}
	}
}

// keep returns the fields that can be laid out; path names the structs around them.
func (r *rules) keep(fields []*FieldDef, path []string) []*FieldDef {
	kept := fields[:0]
	for _, f := range fields {
		if r.lays(f, path) {
			kept = append(kept, f)
		} else {
			r.dropped = true
		}
	}
	return kept
}

// lays reports whether a field can be laid out.
func (r *rules) lays(f *FieldDef, path []string) bool {
	name := f.ElemType()
	op, base := ops[name]
	given := r.places[f] != nil && r.places[f].has("fields")
	switch {
	case base && op == OpRecords && f.IsArray():
		r.fail(r.at(f, "type"), "field %s: records form no array", f.Name)
		return false
	case base:
		if given && f.Fields != nil {
			r.fail(r.at(f, "type"), "field %s: type %s has no fields", f.Name, f.Type)
			f.Fields = nil
		}
		return true
	case slices.Contains(path, name):
		r.fail(r.at(f, "type"), "field %s: struct %s contains itself", f.Name, name)
		return false
	}
	if len(f.Fields) > 0 {
		if f.Fields = r.keep(f.Fields, append(path[:len(path):len(path)], name)); len(f.Fields) > 0 {
			return true
		}
		r.fail(r.at(f, "type"), "field %s: nothing of struct %s is sound", f.Name, name)
		return false
	}
	if s := r.m.common(name); s != nil {
		r.used[name] = true
		if len(s.Fields) == 0 {
			r.fail(r.at(f, "type"), "field %s: nothing of struct %s is sound", f.Name, name)
			return false
		}
		inside := r.reachable(name)
		if inside[name] || slices.ContainsFunc(path, func(p string) bool { return inside[p] }) {
			r.fail(r.at(f, "type"), "field %s: struct %s contains itself", f.Name, name)
			return false
		}
		return true
	}
	return r.undefined(f, name, given, path)
}

// reachable returns the names of the structs that are inside of a shared struct.
func (r *rules) reachable(name string) map[string]bool {
	if seen := r.inside[name]; seen != nil {
		return seen
	}
	seen := make(map[string]bool)
	var visit func(fields []*FieldDef)
	visit = func(fields []*FieldDef) {
		for _, f := range fields {
			inner := f.ElemType()
			if _, base := ops[inner]; !base && !seen[inner] {
				seen[inner] = true
				visit(r.m.Struct(f))
			}
		}
	}
	visit(r.m.common(name).Fields)
	r.inside[name] = seen
	return seen
}

// undefined deals with a struct that is neither shared nor defined in place.
func (r *rules) undefined(f *FieldDef, name string, given bool, path []string) bool {
	if given {
		r.fail(r.at(f, "fields"), "field %s: struct %s has no fields", f.Name, name)
		return false
	}
	if defs := r.inline[name]; len(defs) == 1 && defs[0] != f && len(defs[0].Fields) > 0 && !slices.Contains(path, name) {
		r.note(r.at(f, "type"), Repaired, "field %s: struct %s is defined in field %s only; read as that", f.Name, name, defs[0].Name)
		f.Fields = defs[0].Fields
		return true
	}
	hint := ""
	if near := nearType(name); near != "" {
		hint = "; did you mean " + near + "?"
	}
	r.fail(r.at(f, "type"), "field %s: type %s is not defined%s", f.Name, f.Type, hint)
	return false
}

// nearType returns the type that a name of another language or an unusual spelling may mean.
func nearType(name string) string {
	plain := strings.ToLower(strings.Trim(name, "[]"))
	if _, ok := ops[plain]; ok {
		if strings.ContainsAny(name, "[]") {
			return "[]" + plain
		}
		return plain
	}
	return map[string]string{"boolean": "bool", "byte": "int8", "short": "int16", "int": "int32", "integer": "int32",
		"long": "int64", "double": "float64", "float": "float64", "binary": "bytes", "str": "string"}[plain]
}

// fields holds the fields of a struct to the rules; versions are those in which the struct is
// there. shared tells that other fields may use it, too.
func (r *rules) fields(structName string, fields []*FieldDef, versions Versions, elem bool) {
	seen := make(map[string]bool)
	tags := make(map[int32]*FieldDef)
	for _, f := range fields {
		if seen[f.Name] {
			r.breach(r.at(f, "name"), "%s has two fields named %s", structName, f.Name)
		}
		seen[f.Name] = true
		r.versions(f, versions)
		r.nullable(f)
		if f.Tag >= 0 {
			if tags[f.Tag] != nil {
				r.fail(r.at(f, "tag"), "%s and %s of %s have the same tag %d", tags[f.Tag].Name, f.Name, structName, f.Tag)
			}
			tags[f.Tag] = f
			r.tagged(f)
		}
		r.options(f, structName, elem)
		if len(f.Fields) > 0 {
			if r.m.common(f.ElemType()) != nil || r.inline[f.ElemType()][0] != f && r.places[f].has("fields") {
				r.breach(r.at(f, "type"), "struct %s is defined twice", f.ElemType())
			}
			if r.places[f].has("fields") {
				r.fields(f.ElemType(), f.Fields, versions.Intersect(f.Versions), f.IsArray())
			}
		}
	}
	for tag := int32(0); tag < int32(len(tags)); tag++ {
		if tags[tag] != nil {
			continue
		}
		for _, f := range fields {
			if f.Tag > tag {
				r.breach(r.at(f, "tag"), "the tags of %s are not contiguous: %d is used, and %d is not", structName, f.Tag, tag)
				break
			}
		}
		break
	}
}

// versions holds a field's versions to those of the struct around it.
func (r *rules) versions(f *FieldDef, around Versions) {
	switch {
	case around.Empty() || f.Versions.Empty():
	case f.Versions.Intersect(around).Empty():
		r.note(r.at(f, "versions"), Warning, "field %s is never there: its versions %s lie outside of %s", f.Name, f.Versions, around)
	case f.Versions.Max != All.Max && f.Versions.Max > around.Max:
		r.note(r.at(f, "versions"), Warning, "the versions %s of field %s lie outside of %s", f.Versions, f.Name, around)
	}
}

// nullable holds a field to the rules about null and defaults.
func (r *rules) nullable(f *FieldDef) {
	op, base := ops[f.Type]
	switch {
	case f.Nullable.Empty():
	case base && op != OpString && op != OpBytes && op != OpRecords:
		r.breach(r.at(f, "nullableVersions"), "field %s: %s cannot be null", f.Name, f.Type)
		f.Nullable = None
	case f.Nullable.Intersect(f.Versions).Empty():
		r.note(r.at(f, "nullableVersions"), Warning, "field %s: its nullableVersions %s lie outside of its versions %s", f.Name, f.Nullable, f.Versions)
	}
	if _, err := parseDefault(f); err != nil {
		r.fail(r.at(f, "default"), "field %s: %v", f.Name, err)
		f.Default = ""
		return
	}
	if f.Default == "null" && f.Nullable.Intersect(f.Versions) != f.Versions && (op == OpString || !base || f.IsArray()) {
		r.breach(r.at(f, "default"), "field %s: null is its default, and not all of its versions are nullable", f.Name)
	}
}

// tagged holds a tagged field to the rules.
func (r *rules) tagged(f *FieldDef) {
	at := r.at(f, "taggedVersions")
	switch {
	case f.Tagged.Max != All.Max:
		r.breach(at, "field %s: taggedVersions %s do not stay open; want N+", f.Name, f.Tagged)
	case f.Tagged.Intersect(f.Versions) != f.Tagged:
		r.breach(at, "field %s: taggedVersions %s lie outside of its versions %s", f.Name, f.Tagged, f.Versions)
	case f.Tagged.Intersect(r.m.Flexible) != f.Tagged:
		r.breach(at, "field %s: taggedVersions %s lie outside of the flexible versions %s", f.Name, f.Tagged, r.m.Flexible)
	}
	if x := f.Nullable.Intersect(f.Tagged); !x.Empty() && x != f.Tagged {
		r.breach(r.at(f, "nullableVersions"), "field %s: nullable in %s, tagged in %s; want all tagged versions to be nullable, or none", f.Name, f.Nullable, f.Tagged)
	}
}

// options holds the rarer members of a field to the rules.
func (r *rules) options(f *FieldDef, structName string, elem bool) {
	if f.MapKey && !elem {
		r.breach(r.at(f, "mapKey"), "field %s: only the elements of arrays have map keys, and %s is none", f.Name, structName)
	}
	if f.ZeroCopy && f.Type != "bytes" {
		r.breach(r.at(f, "zeroCopy"), "field %s: only bytes are zeroCopy", f.Name)
	}
	if f.Flexible != nil && f.Type != "string" && f.Type != "bytes" {
		r.breach(r.at(f, "flexibleVersions"), "field %s: only strings and bytes have flexibleVersions of their own", f.Name)
	}
	if want, ok := entityTypes[f.EntityType]; f.EntityType != "" {
		switch {
		case !ok:
			r.note(r.at(f, "entityType"), Warning, "field %s: unknown entityType %s", f.Name, quoted(f.EntityType))
		case f.ElemType() != want:
			r.breach(r.at(f, "entityType"), "field %s: a %s is of type %s", f.Name, f.EntityType, want)
		}
	}
}

// entityTypes are Kafka's entity types, with the type that each has.
var entityTypes = map[string]string{
	"unknown": "", "transactionalId": "string", "producerId": "int64", "groupId": "string", "topicName": "string", "brokerId": "int32",
}
