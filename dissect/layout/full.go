package layout

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// sampleTime is the time in full samples: 2023-11-14T22:13:20Z, in milliseconds.
const sampleTime = 1_700_000_000_000

// FullValue returns the JSON form of an instance of p in which every field has a value that
// differs from its default, so that every tagged field is sent.
func FullValue(p *schema.Plan) map[string]any {
	g := full{records: base64.StdEncoding.EncodeToString(sampleRecords(p))}
	return g.object(p.Root, 0, 0)
}

// full makes values by the rule of RuleOf(Full).
type full struct{ records string }

// object fills a struct that is the index-th element of an array; depth counts the arrays around it.
func (g *full) object(s *schema.Struct, depth, index int) map[string]any {
	v := make(map[string]any, len(s.Fields)+len(s.Tags))
	for i := range s.Fields {
		v[s.Fields[i].Desc.Key] = g.value(&s.Fields[i], depth, index)
	}
	for i := range s.Tags {
		v[s.Tags[i].Desc.Key] = g.value(&s.Tags[i], depth, index)
	}
	return v
}

func (g *full) value(f *schema.Field, depth, index int) any {
	switch f.Op {
	case schema.OpArray:
		n := 1
		if depth == 0 {
			n = 2
		}
		elems := make([]any, n)
		for i := range elems {
			elems[i] = g.element(f, depth+1, i)
		}
		return elems
	case schema.OpStruct:
		return g.object(f.Struct, depth, index)
	case schema.OpRecords:
		return g.records
	}
	return scalar(f, f.Desc, index)
}

// element makes an element of the array f; a scalar takes its meaning from the array's name.
func (g *full) element(f *schema.Field, depth, index int) any {
	switch f.Elem.Op {
	case schema.OpStruct:
		return g.object(f.Elem.Struct, depth, index)
	case schema.OpRecords:
		return g.records
	}
	d := *f.Elem.Desc
	d.Name = strings.TrimSuffix(f.Desc.Name, "s")
	return scalar(f.Elem, &d, index)
}

// scalar makes a value of f, whose meaning d tells.
func scalar(f *schema.Field, d *tree.Desc, index int) any {
	switch f.Op {
	case schema.OpBool:
		return f.Zero.Num == 0
	case schema.OpFloat64:
		return json.Number(strconv.FormatFloat(0.25+float64(index), 'g', -1, 64))
	case schema.OpUUID:
		return base64.RawURLEncoding.EncodeToString(sampleUUID(d, index))
	case schema.OpString:
		s := sampleText(d, index)
		if s == f.Zero.Str {
			s += "-2"
		}
		return s
	case schema.OpBytes:
		return base64.StdEncoding.EncodeToString([]byte{0xca, 0xfe, byte(f.Member), byte(index)})
	}
	n := sampleNumber(f, d, index)
	if n == f.Zero.Num {
		n++
	}
	return number(n)
}

// sampleUUID returns a random-looking id (version 4) that depends on the name and index only.
func sampleUUID(d *tree.Desc, index int) []byte {
	h := fnv.New128a()
	h.Write([]byte(d.Name + strconv.Itoa(index)))
	b := h.Sum(nil)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return b
}

// texts are sample strings by role: one for the first element of an array, one for the others.
var texts = map[schema.Role][2]string{
	schema.RoleErrorMessage:          {"The request timed out.", "The request timed out again."},
	schema.RoleTopicName:             {"orders", "payments"},
	schema.RoleGroupID:               {"billing", "shipping"},
	schema.RoleMemberID:              {"member-1", "member-2"},
	schema.RoleTransactionalID:       {"orders-tx-1", "orders-tx-2"},
	schema.RoleClientSoftwareName:    {"kdissect", "kdissect"},
	schema.RoleClientSoftwareVersion: {"1.0", "1.1"},
	schema.RoleMechanism:             {"SCRAM-SHA-256", "PLAIN"},
	schema.RoleCoordinatorKey:        {"billing", "shipping"},
	schema.RoleHost:                  {"broker-1.example", "broker-2.example"},
	schema.RoleResourceName:          {"orders", "payments"},
	schema.RolePrincipal:             {"User:alice", "User:bob"},
	schema.RoleGroupInstanceID:       {"instance-1", "instance-2"},
	schema.RoleClusterID:             {"Q3Bp7iHsTgyC4ZhmFv0NYA", "Q3Bp7iHsTgyC4ZhmFv0NYB"},
	schema.RoleProtocolType:          {"consumer", "connect"},
	schema.RoleClientID:              {"app-1", "app-2"},
}

// sampleText returns a string for a field: by its role, else words of its own name.
func sampleText(d *tree.Desc, index int) string {
	if t, ok := texts[schema.Role(d.Role)]; ok {
		return t[min(index, 1)]
	}
	var b strings.Builder
	for i, c := range d.Name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	s := strings.ToLower(b.String())
	if index > 0 {
		s += "-" + strconv.Itoa(index+1)
	}
	return s
}

// timedOut is an error code that any API may answer with.
const timedOut = 7

// sampleNumber returns an integer for a field that its type can hold.
func sampleNumber(f *schema.Field, d *tree.Desc, index int) int64 {
	most := int64(math.MaxInt64)
	switch f.Op {
	case schema.OpInt8:
		most = math.MaxInt8
	case schema.OpInt16:
		most = math.MaxInt16
	}
	n := plausible(f, d, index)
	if n >= most { // leaves room for one more
		n = 1 + int64(index)
	}
	return n
}

func plausible(f *schema.Field, d *tree.Desc, index int) int64 {
	at := int64(index)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(d.Name, p) {
				return true
			}
		}
		return false
	}
	switch {
	case schema.Role(d.Role) == schema.RoleErrorCode:
		return timedOut
	case d.Names != nil:
		for v := 1 + at; v < 12+at; v++ {
			if d.Names.Name(v) != "" {
				return v
			}
		}
		return 1
	case d.Time:
		return sampleTime + at*1000
	case schema.Role(d.Role) == schema.RolePort:
		return 9092 + at
	case schema.Role(d.Role) == schema.RolePartition:
		return 1 + at
	case has("Epoch"):
		return 5 + at
	case has("Offset"):
		return 42 + at
	case has("Version"):
		return 1 + at
	case strings.HasSuffix(d.Name, "Ms"):
		return 30_000 + at
	case has("Bytes", "Size"):
		return 1 << 20
	case has("Id", "Replica", "Isr", "ISR"):
		return 1 + at
	}
	return int64(f.Member) + 2 + at
}
