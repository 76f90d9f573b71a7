package payload_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
)

func num(s string) json.Number { return json.Number(s) }

// Pieces of the wire format of Protocol Buffers.
func message(num byte, parts ...[]byte) []byte {
	inside := bytes.Join(parts, nil)
	return append(binary.AppendUvarint([]byte{num<<3 | 2}, uint64(len(inside))), inside...)
}
func text(num byte, s string) []byte { return message(num, []byte(s)) }
func double(num byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{num<<3 | 1}, math.Float64bits(v))
}
func fixed(num byte, v uint64) []byte  { return binary.LittleEndian.AppendUint64([]byte{num<<3 | 1}, v) }
func varint(num byte, v uint64) []byte { return binary.AppendUvarint([]byte{num << 3}, v) }

// otlp is a push with a sum, a gauge and a histogram.
func otlp() []byte {
	attribute := message(7, text(1, "node"), message(2, text(1, "n1")))
	sum := message(2, text(1, "records.total"), message(7, message(1, attribute, fixed(3, 17), fixed(6, 42)), varint(2, 2), varint(3, 1)))
	gauge := message(2, text(1, "lag.max"), message(5, message(1, fixed(3, 18), double(4, 2.5))))
	histogram := message(2, text(1, "latency"), message(9, message(1, fixed(4, 3), double(5, 7.5),
		message(6, fixed(0, 1)[1:], fixed(0, 2)[1:]), message(7, double(0, 10)[1:]), double(11, 1), double(12, 5)), varint(2, 1)))
	return message(1, message(1, text(15, "a field of tomorrow")), message(2, message(1, text(1, "lib")), sum, gauge, histogram))
}

func TestMetrics(t *testing.T) {
	push := plan(t, "PushTelemetry", 0, schema.Request)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err := w.Write(otlp())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for name, c := range map[string]struct {
		codec string
		data  []byte
	}{"plain": {"0", otlp()}, "gzip": {"1", zipped.Bytes()}} {
		t.Run(name, func(t *testing.T) {
			body := encode(t, push, map[string]any{"compressionType": num(c.codec), "metrics": b64(c.data)})
			got := decode(t, payload.New(nil, records.Limits{}), body, push)
			for _, want := range []string{
				`name string = "records.total"`, "asInt fixed64 = 42", "aggregationTemporality varint = 2 (CUMULATIVE)", "isMonotonic bool = true",
				`name string = "lag.max"`, "asDouble double = 2.5", "bucketCounts []fixed64 = 2 elements", "fixed64[1] fixed64 = 2",
				"explicitBounds []double = 1 element", "unknown field", `stringValue string = "n1"`,
			} {
				assert.Contains(t, got, want)
			}
			assert.NotContains(t, got, "!!")
		})
	}
}

func TestMetricsThatCannotBeRead(t *testing.T) {
	push := plan(t, "PushTelemetry", 0, schema.Request)
	deep := text(1, "x")
	for range 100 {
		deep = message(5, message(1, deep)) // arrays of arrays
	}
	bomb := func() []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(make([]byte, 64<<20))
		_ = w.Close()
		return b.Bytes()
	}()
	for name, c := range map[string]struct {
		codec, want string
		data        []byte
	}{
		"no metrics":    {"0", "!! payload: cannot be read as OTLP metrics", []byte{0xff, 0xff}},
		"not gzip":      {"1", "!! payload: gzip:", []byte{1, 2, 3}},
		"unknown codec": {"9", "!! unsupported: codec 9", []byte{1, 2, 3}},
		"bomb":          {"1", "!! limit: gzip:", bomb},
		"too deep":      {"0", "!! payload: cannot be read as OTLP metrics", message(1, message(1, message(1, message(2, deep))))},
	} {
		t.Run(name, func(t *testing.T) {
			body := encode(t, push, map[string]any{"compressionType": num(c.codec), "metrics": b64(c.data)})
			assert.Contains(t, decode(t, payload.New(nil, records.Limits{}), body, push), c.want)
		})
	}
}
