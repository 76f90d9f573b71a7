package kmsgtest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kdissect/kdissect/dissect/layout"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/internal/cli"
	"github.com/kdissect/kdissect/tree"
)

// message is what requests and responses of kmsg have in common.
type message interface {
	Key() int16
	MaxVersion() int16
	SetVersion(int16)
	GetVersion() int16
	IsFlexible() bool
	AppendTo([]byte) []byte
	ReadFrom([]byte) error
}

// newMessage returns the request or response of a key, or nil.
func newMessage(key int16, d schema.Direction) message {
	if d == schema.Request {
		if r := kmsg.RequestForKey(key); r != nil {
			return r
		}
		return nil
	}
	if r := kmsg.ResponseForKey(key); r != nil {
		return r
	}
	return nil
}

// each calls f with every message that kmsg knows, at every version.
func each(f func(key, version int16, d schema.Direction)) {
	for key := range int16(kmsg.MaxKey + 1) {
		for _, d := range []schema.Direction{schema.Request, schema.Response} {
			m := newMessage(key, d)
			if m == nil {
				continue
			}
			for v := range m.MaxVersion() + 1 {
				f(key, v, d)
			}
		}
	}
}

// Keys of APIs with a header of their own.
const (
	controlledShutdown = 7
	apiVersions        = 18
)

// wrongInKmsg are the layouts in which kmsg 1.15.1 has a field at another place than Kafka has:
// IsKRaftController behind ControllerEpoch, where Kafka's definition has it before.
var wrongInKmsg = map[string]bool{"StopReplica v4 request": true}

// frame encodes a message of kmsg with a header by kmsg.
func frame(m message) []byte {
	if r, ok := m.(kmsg.Request); ok {
		b := kmsg.NewRequestFormatter(kmsg.FormatterClientID("app")).AppendRequest(nil, r, 7)
		if m.Key() == controlledShutdown && m.GetVersion() == 0 { // a formatter stops behind that header
			b = m.AppendTo(b)
			binary.BigEndian.PutUint32(b, uint32(len(b)-4))
		}
		return b
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 4), 7)
	if m.IsFlexible() && m.Key() != apiVersions { // ApiVersions: a client must be able to read any answer
		b = append(b, 0)
	}
	b = m.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// fill sets the fields of v to random values; n is the number of elements of arrays.
func fill(r *rand.Rand, v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.Struct:
		if tags, ok := v.Addr().Interface().(*kmsg.Tags); ok {
			tags.Set(uint32(10_000+r.IntN(1000)), []byte("unknown"))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Type().Field(i).Name != "Version" {
				fill(r, v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), n)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(strings.Repeat("b", 1+r.IntN(200))))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i), max(1, n-1))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), n)
		}
	case reflect.Map:
	case reflect.String:
		v.SetString(strings.Repeat("ä", 1+r.IntN(100)))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 1)
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		bits := v.Type().Bits()
		v.SetInt(int64(r.Uint64()) >> (64 - bits))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(r.Uint64() & (math.MaxUint64 >> (64 - v.Type().Bits())))
	default:
		panic("no value for " + v.Type().String())
	}
}

// What kmsg encodes decodes whole and tiles, and comes out of our encoder as it was.
func TestFramesOfKmsg(t *testing.T) {
	c := schema.Default()
	r := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	var frames []string
	pairs := 0
	each(func(key, version int16, d schema.Direction) {
		plan := c.Plan(key, version, d)
		name := fmt.Sprintf("%s v%d %s", kmsg.NameForKey(key), version, d)
		if wrongInKmsg[name] || !assert.NotNil(t, plan, "%s is not in the catalogue", name) {
			return
		}
		pairs++
		for shape := range 4 {
			m := newMessage(key, d)
			m.SetVersion(version)
			if shape > 0 {
				fill(r, reflect.ValueOf(m).Elem(), shape)
			}
			b := frame(m)
			var check tree.TilingSink
			var dec walk.Decoder
			res := dec.Frame(b, int32(len(b)-4), c.Header(d, plan.HeaderVersion), plan, &check)
			if !assert.True(t, res.Fits() && res.End == len(b), "%s shape %d: %d of %d bytes: %s", name, shape, res.End, len(b), res.Err.Error()) {
				continue
			}
			assert.NoError(t, check.Err(len(b)), "%s shape %d", name, shape)
			fmt.Fprintf(&lines, `{"kind":"%s","api_key":%d,"version":%d,"hex":"%x"}`+"\n", d, key, version, b)
			frames = append(frames, hex.EncodeToString(b))
		}
	})
	t.Logf("%d combinations of API, version and direction, %d frames", pairs, len(frames))
	assert.Greater(t, pairs, 600)

	decoded := run(t, lines.Bytes(), "decode", "--batch")
	var asked bytes.Buffer
	lined := bytes.Split(bytes.TrimSpace(decoded), []byte("\n"))
	require.Len(t, lined, len(frames))
	given := bytes.Split(bytes.TrimSpace(lines.Bytes()), []byte("\n"))
	for i := range lined {
		var from, to map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(given[i], &from))
		require.NoError(t, json.Unmarshal(lined[i], &to))
		delete(from, "hex")
		for k, v := range to {
			from[k] = v
		}
		line, err := json.Marshal(from)
		require.NoError(t, err)
		asked.Write(append(line, '\n'))
	}
	encoded := bytes.Split(bytes.TrimSpace(run(t, asked.Bytes(), "encode", "--batch")), []byte("\n"))
	require.Len(t, encoded, len(frames))
	for i := range encoded {
		var got struct{ Hex string }
		require.NoError(t, json.Unmarshal(encoded[i], &got))
		if got.Hex != frames[i] {
			assert.Fail(t, "encoded bytes differ", "%s\nwant %s\ngot %s", given[i][:60], frames[i], encoded[i])
		}
	}
}

// run runs a command line of kdissect with stdin and returns its stdout.
func run(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	require.Zero(t, cli.Main(args, bytes.NewReader(stdin), &out, &errs), errs.String())
	return out.Bytes()
}

// kmsg reads our samples, and writes them as they were.
func TestSamplesInKmsg(t *testing.T) {
	maker := &layout.Maker{Catalogue: schema.Default()}
	n := 0
	each(func(key, version int16, d schema.Direction) {
		s := layout.Subject{API: maker.Catalogue.API(key), Version: version, Only: &d}
		for _, sample := range []layout.Sample{layout.Smallest, layout.Full} {
			page, err := maker.Page(s, sample)
			require.NoError(t, err)
			side := page.Sides[0]
			m := newMessage(key, d)
			m.SetVersion(version)
			body := bodyOf(t, side)
			name := fmt.Sprintf("%s %s", page.Title, d)
			if wrongInKmsg[name] {
				continue
			}
			if !assert.NoError(t, m.ReadFrom(body), name) {
				continue
			}
			assert.Equal(t, hex.EncodeToString(body), hex.EncodeToString(m.AppendTo(nil)), "%s sample %d", name, sample)
			n++
		}
	})
	t.Logf("%d samples", n)
	assert.Greater(t, n, 1400)
}

// bodyOf returns what follows the header.
func bodyOf(t *testing.T, s *layout.Side) []byte {
	t.Helper()
	for i := range s.Tree.Nodes {
		if s.Tree.Nodes[i].Flags&tree.FlagBody != 0 {
			return s.Bytes[s.Tree.Nodes[i].Span.Off:]
		}
	}
	require.Fail(t, "no body")
	return nil
}
