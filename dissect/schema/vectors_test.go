package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// members returns the members of a struct in schema order.
func members(s *Struct) []*Field {
	list := make([]*Field, s.Members)
	for _, fields := range [][]Field{s.Fields, s.Tags} {
		for i := range fields {
			list[fields[i].Member] = &fields[i]
		}
	}
	return list
}

// fits checks that an object that Kafka's JsonConverter wrote has the members of s in order.
// Tagged fields may be absent.
func fits(s *Struct, d *json.Decoder, path string) error {
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return fmt.Errorf("%s: %v %w", path, tok, err)
	}
	list := members(s)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		for len(list) > 0 && list[0].Desc.Key != key && list[0].Tag >= 0 {
			list = list[1:]
		}
		if len(list) == 0 || list[0].Desc.Key != key {
			return fmt.Errorf("%s: member %v is not expected", path, key)
		}
		if err := fieldFits(list[0], d, path+"."+list[0].Desc.Key); err != nil {
			return err
		}
		list = list[1:]
	}
	for _, f := range list {
		if f.Tag < 0 {
			return fmt.Errorf("%s: member %s is missing", path, f.Desc.Key)
		}
	}
	_, err := d.Token()
	return err
}

func fieldFits(f *Field, d *json.Decoder, path string) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	if string(raw) == "null" {
		if !f.Nullable {
			return fmt.Errorf("%s: null", path)
		}
		return nil
	}
	switch {
	case f.Op == OpStruct:
		return fits(f.Struct, json.NewDecoder(bytes.NewReader(raw)), path)
	case f.Op == OpArray:
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return err
		}
		for _, item := range items {
			if f.Elem.Struct != nil {
				if err := fits(f.Elem.Struct, json.NewDecoder(bytes.NewReader(item)), path+"[]"); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var form byte // of the first character
	switch f.Op {
	case OpString, OpBytes, OpRecords, OpUUID:
		form = '"'
	case OpBool:
		form = 'b'
	default:
		form = '0'
	}
	is := raw[0]
	switch {
	case is == 't' || is == 'f':
		is = 'b'
	case is == '-' || is >= '0' && is <= '9':
		is = '0'
	}
	if is != form {
		return fmt.Errorf("%s: %s for %s", path, raw, f.Desc.Type)
	}
	return nil
}

func TestPlansFitWhatKafkaWrites(t *testing.T) {
	c := Default()
	for _, file := range append(corpus.APIVectors(), "payloads-4.4.0.ndjson.gz") {
		t.Run(file, func(t *testing.T) {
			fitting, exact := 0, 0
			corpus.Vectors(t, file, func(_ int, v *corpus.Vector) {
				var candidates []*Plan
				switch v.Kind {
				case "request":
					candidates = append(c.Older(v.Key, v.Version, Request), c.Plan(v.Key, v.Version, Request))
				case "response":
					candidates = append(c.Older(v.Key, v.Version, Response), c.Plan(v.Key, v.Version, Response))
				default:
					if v.Name == "AssignmentInfo" { // written by hand, without a schema
						return
					}
					candidates = []*Plan{c.Data(v.Name, v.Version)}
				}
				var p *Plan
				var err error
				for _, p = range candidates {
					require.NotNil(t, p, "%s%s v%d", v.API, v.Name, v.Version)
					if err = fits(p.Root, json.NewDecoder(bytes.NewReader(v.Body)), ""); err == nil {
						break
					}
				}
				require.NoError(t, err, "%s%s %s v%d %s", v.API, v.Name, v.Kind, v.Version, v.Shape)
				fitting++
				if p.HeaderVersion >= 0 {
					assert.Equal(t, v.HeaderVersion, p.HeaderVersion, "%s v%d", p.Name, v.Version)
				}
				size := len(v.Bytes) - v.BodyOffset
				assert.LessOrEqual(t, p.Root.MinSize, size, "%s v%d %s", p.Name, v.Version, v.Shape)
				if p.Root.FixedSize >= 0 {
					assert.Equal(t, p.Root.FixedSize, size, "%s v%d %s", p.Name, v.Version, v.Shape)
				}
				if v.Shape == "min" {
					assert.Equal(t, p.Root.MinSize, size, "%s v%d", p.Name, v.Version)
					exact++
				}
			})
			t.Logf("%d vectors fit, %d of them are the smallest of their kind", fitting, exact)
			assert.Greater(t, exact, 50)
		})
	}
}

// wireLayout writes a plan in the form of the shared tables: fields in the order of the wire,
// tagged ones last.
func wireLayout(p *Plan, defaults bool) string {
	text := structLayout(p.Root, defaults)
	if p.Flexible {
		return "F " + text
	}
	return text
}

func structLayout(s *Struct, defaults bool) string {
	var parts []string
	for _, list := range [][]Field{s.Fields, s.Tags} {
		for i := range list {
			f, value := &list[i], &list[i]
			text := f.Desc.Name + ":"
			if f.Op == OpArray {
				text, value = text+"[]", f.Elem
			}
			if value.Op == OpStruct {
				text += "struct"
			} else {
				text += value.Desc.Type
			}
			if f.Nullable {
				text += "?"
			}
			if f.Tag >= 0 {
				text += fmt.Sprintf("@%d", f.Tag)
			}
			if defaults && f.Desc.Default != "" {
				text += "=" + f.Desc.Default
			}
			if value.Op == OpStruct {
				text += "{" + structLayout(value.Struct, defaults) + "}"
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

func TestLayoutsAreThoseOfTheDecidingRelease(t *testing.T) {
	c := Default()
	deciding := func(key, version int16, d Direction, releases string) bool {
		for _, r := range strings.Split(releases, ",") {
			r = strings.TrimSuffix(r, "*")
			if r == "4.4.0" || r == "3.9.2" && !inRelease(c.API(key), "4.4.0", version) {
				return true
			}
		}
		return false
	}
	compared := 0
	for _, row := range corpus.Table(t, corpus.Path(t, "vectors", "layout-differences.tsv")) {
		key, version, d := atoi16(t, row[0]), atoi16(t, row[1]), Request
		if row[2] == "response" {
			d = Response
		}
		if deciding(key, version, d, row[7]) {
			compared++
			p := c.Plan(key, version, d)
			assert.Equal(t, row[9], wireLayout(p, false), "%s v%d", p.Name, version)
		}
		for _, o := range c.Older(key, version, d) {
			if strings.Contains(row[4], o.Older) {
				compared++
				assert.Equal(t, row[6], wireLayout(o, false), "%s v%d of %s", o.Name, version, o.Older)
			}
		}
	}
	for _, row := range corpus.Table(t, corpus.Path(t, "vectors", "default-differences.tsv")) {
		key, version, d := atoi16(t, row[0]), atoi16(t, row[1]), Request
		if row[2] == "response" {
			d = Response
		}
		if p := c.Plan(key, version, d); deciding(key, version, d, row[6]) {
			compared++
			assert.Equal(t, row[7], wireLayout(p, true), "%s v%d", p.Name, version)
		}
	}
	assert.Greater(t, compared, 150)
}

func inRelease(a *API, release string, version int16) bool {
	for _, x := range a.Accepted {
		if x.Release == release {
			return x.Versions.Contains(version)
		}
	}
	return false
}
