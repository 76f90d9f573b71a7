package cli

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/internal/corpus"
	"github.com/kdissect/kdissect/internal/output"
)

// answer decodes one line as decode --batch does.
func answer(t *testing.T, d *decoder, kind string, key, version int16, frame []byte) []byte {
	t.Helper()
	b, err := d.appendAnswer(nil, &decodeLine{Kind: kind, Key: key, Version: version, Hex: hex.EncodeToString(frame)})
	require.NoError(t, err)
	return b
}

func batchDecoder(t *testing.T, plain bool, bytes string) *decoder {
	t.Helper()
	f := &decodeFlags{as: newChoice("frames", "records"), format: newChoice("json"), bytes: newChoice(bytes), color: newChoice("never"), plain: plain, batch: true}
	f.schema.loaded = schema.Default()
	d, err := newFrameDecoder(&env{stdout: newStdout(io.Discard), stderr: io.Discard}, f)
	require.NoError(t, err)
	return d
}

func TestEncodeGivesDamagedFramesBack(t *testing.T) {
	// Frames that were changed here and there, but have no malformed or truncated part, come back
	// byte for byte: varints too long, tags out of order or sent with their default, odd bools,
	// nulls where none are allowed, text that is not UTF-8, bytes behind the end.
	forms := []struct {
		*decoder
		records records.Encoder
	}{
		{batchDecoder(t, true, "base64"), records.Encoder{}},              // record sets as their bytes
		{batchDecoder(t, true, "auto"), records.Encoder{}},                // as their sizes
		{batchDecoder(t, false, "auto"), records.Encoder{}},               // as arrays, payloads opened
		{batchDecoder(t, false, "base64"), records.Encoder{Base64: true}}, // likewise
	}
	rng := rand.New(rand.NewPCG(1, 2))
	tried, odd := 0, 0
	corpus.Vectors(t, "api-4.4.0.ndjson.gz", func(_ int, v *corpus.Vector) {
		if len(v.Bytes) > 4000 {
			return
		}
		for i := range 8 {
			d := forms[i%len(forms)]
			bad := damage(rng, v.Bytes)
			line := answer(t, d.decoder, v.Kind, v.Key, v.Version, bad)
			if hopeless(t, line) {
				continue
			}
			tried++
			if strings.Contains(string(line), `"wire"`) {
				odd++
			}
			got, err := encodeLine(schema.Default(), line, d.records)
			if !assert.NoError(t, err, "%s\n%x", line, bad) {
				t.FailNow()
			}
			if !assert.Equal(t, hex.EncodeToString(bad), hex.EncodeToString(got), "%s", line) {
				t.FailNow()
			}
		}
	})
	assert.Greater(t, tried, 5000)
	assert.Greater(t, odd, 500)
}

// damage changes a byte, stretches one into a varint of two, or adds bytes behind the end.
func damage(rng *rand.Rand, frame []byte) []byte {
	b := append([]byte(nil), frame...)
	if len(b) < 16 {
		return b
	}
	at := 12 + rng.IntN(len(b)-12)
	switch rng.IntN(4) {
	case 0:
		b[at] = byte(rng.Uint32())
	case 1:
		b[at] = byte(rng.IntN(3))
	case 2:
		b = append(b[:at], append([]byte{b[at] | 0x80, 0}, b[at+1:]...)...)
	default:
		b = append(b, byte(rng.Uint32()), 1)
	}
	n := len(b) - 4
	b[0], b[1], b[2], b[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return b
}

// hopeless reports whether a frame has a malformed or truncated part.
func hopeless(t *testing.T, line []byte) bool {
	var v struct {
		Header map[string]any
		Issues []struct{ Severity, Code string }
	}
	require.NoError(t, json.Unmarshal(line, &v), "%s", line)
	for _, i := range v.Issues {
		if i.Severity == "error" || i.Code == "unsupported" {
			return true
		}
	}
	return v.Header == nil
}

func TestEncodeBatchErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{`, "unexpected EOF"},
		{`{"version":1}`, "api_key is missing"},
		{`{"kind":"request","api_key":1,"version":99,"body":{}}`, "Fetch has no request v99"},
		{`{"kind":"answer","api_key":1,"version":12,"body":{}}`, "want a kind"},
		{`{"name":"Nope","version":1,"body":{}}`, "unknown definition"},
		{`{"kind":"request","api_key":1,"version":12,"body":{"x":1}}`, `no field "x"`},
		{`{"kind":"request","api_key":1,"version":12,"body":{},"wire":[{"path":1}]}`, "wire[0]"},
		{`{"kind":"request","api_key":1,"version":12,"body":{},"unknownTags":[{"path":"","tag":-1,"hex":""}]}`, "unknownTags[0]"},
	} {
		_, err := encodeLine(schema.Default(), []byte(c.line), records.Encoder{})
		assert.ErrorContains(t, err, c.want, c.line)
	}
}

func TestDecodeHidesSecretsAsTheyWereSent(t *testing.T) {
	// A salt behind a length that is a byte longer than it need be: "wire" would give it back.
	frame, err := encodeLine(schema.Default(), []byte(`{"kind":"request","api_key":51,"version":0,"header":{},"body":{"deletions":[],
		"upsertions":[{"name":"u","mechanism":1,"iterations":4096,"salt":"","saltedPassword":""}]},
		"wire":[{"path":"upsertions[0].salt","hex":"870073616c743132"}]}`), records.Encoder{})
	require.NoError(t, err)
	d := batchDecoder(t, true, "base64")
	line := func() string { return string(d.appendFrame(nil, "request", d.frames.Request(frame))) }
	require.Contains(t, line(), `"path":"upsertions[0].salt","hex":"870073616c743132"`)
	d.f.batch = false
	d.json = output.NewFragments(output.Options{Plain: true})
	d.canon.Next = d.json
	assert.NotContains(t, line(), "73616c743132")
	assert.Contains(t, line(), "hidden, 6 bytes")
}
