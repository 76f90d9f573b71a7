package cli

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/internal/corpus"
)

// decodedSpecial is what decode makes of a frame of special.ndjson.gz.
type decodedSpecial struct {
	answers []string // flags, for a response
	tree    []string // expressions that the tree has
	json    string   // with answers: the body, which the vectors give
	fails   string   // what stderr says where the frame is not decoded whole
}

// decodedSpecials has the frames by case, in order; what no frame can be decoded of by itself is
// for the test of conversations, in package dissect.
var decodedSpecials = map[string][]decodedSpecial{
	"apiversions-fallback": {
		{tree: []string{`api_key int16 = 18 \(ApiVersions\)`, `api_version int16 = 99`, `correlation_id int32 = 808453682`, `client_id nullable_string = "cli"`,
			`!! unsupported: ApiVersions version 99 is not known`, `body bytes = 0x046c696204312e3000 .* body of unknown layout`}},
		{answers: []string{"18", "99"}, tree: []string{`^ApiVersionsResponse message v0 `, `ErrorCode int16 = 35 \(UNSUPPORTED_VERSION\)`, `!! fallback: `},
			json: `{"errorCode":35,"apiKeys":[{"apiKey":18,"minVersion":0,"maxVersion":5}]}`},
	},
	"apiversions-v3-response-header": {
		{tree: []string{`^ApiVersionsRequest message v3 `}},
		{answers: []string{"18", "3"}, tree: []string{`^ApiVersionsResponse message v3 `, `ResponseHeader v0 `},
			json: `{"errorCode":0,"apiKeys":[{"apiKey":0,"minVersion":3,"maxVersion":13}],"throttleTimeMs":0}`},
	},
	"sasl-handshake-v0-raw-tokens": {
		{tree: []string{`^SaslHandshakeRequest message v0 `}}, {answers: []string{"17", "0"}, tree: []string{`^SaslHandshakeResponse message v0 `}},
		{}, {}, {tree: []string{`^MetadataRequest message v4 `}},
	},
	"sasl-handshake-v1": {
		{tree: []string{`^SaslHandshakeRequest message v1 `}}, {answers: []string{"17", "1"}, tree: []string{`^SaslHandshakeResponse message v1 `}},
		{tree: []string{`^SaslAuthenticateRequest message v2 `}}, {answers: []string{"36", "2"}, tree: []string{`^SaslAuthenticateResponse message v2 `}},
	},
	"produce-acks-0": {
		{tree: []string{`^ProduceRequest message v9 `, `Acks int16 = 0 `}},
		{tree: []string{`^MetadataRequest message v12 `, `Topics \[\]MetadataRequestTopic = null `}},
		{answers: []string{"3", "12"}, tree: []string{`^MetadataResponse message v12 `}},
	},
	"unknown-api-key": {{tree: []string{`api_key int16 = 999 `, `api_version int16 = 0 `, `correlation_id int32 = 5 `, `client_id nullable_string = "x"`,
		`body bytes = 0x01020304 .* 4B\] body of unknown layout`, `!! unsupported: api key 999 is not known`}}},
	"future-version": {{tree: []string{`api_key int16 = 3 \(Metadata\)`, `api_version int16 = 99`, `body bytes = 0x01010000 .* body of unknown layout`}}},
	"trailing-bytes": {{tree: []string{`^MetadataRequest message v12 `, `trailing bytes = 0x000000 \[0x0016, 3B\]`, `!! trailing: `}}},
	"body-cut-short": {{tree: []string{`^MetadataRequest message v12 `, `!! malformed: `}, fails: `offset 0x0013: value of 1 bytes, 0 left`}},
	"huge-array-length": {{tree: []string{`^MetadataRequest message v1 `, `!! malformed: count 2147483647 needs more than the 0 bytes left`,
		`undecoded bytes = 0x7fffffff \[0x0011, 4B\]`}, fails: `offset 0x0011: count 2147483647`}},
	"negative-array-length-2":          {{tree: []string{`!! malformed: negative length -2$`}, fails: `offset 0x0011: negative length -2`}},
	"negative-array-length-2147483648": {{tree: []string{`!! malformed: negative length -2147483648$`}, fails: `negative length -2147483648`}},
	"overlong-uvarint":                 {{tree: []string{`^MetadataRequest message v12 `, `!! malformed: varint too long`, `undecoded bytes = .* \[0x0011, 8B\]`}, fails: `offset 0x0011: varint too long`}},
	"size-zero":                        {{tree: []string{`size int32 = 0 `}, fails: `no frame`}},
	"size-negative":                    {{tree: []string{`size int32 = -1 `}, fails: `no frame`}},
	"http-on-kafka-port":               {{tree: []string{`size int32 = 1195725856 `}, fails: `no frame`}},
	"pipelined": {
		{tree: []string{`(?s)HeartbeatRequest message v4 .*HeartbeatRequest message v4 .*HeartbeatRequest message v4 `}},
		{answers: []string{"12", "4"}, tree: []string{`(?s)HeartbeatResponse message v4 .*HeartbeatResponse message v4 .*27 \(REBALANCE_IN_PROGRESS\).*HeartbeatResponse message v4 `}},
	},
}

func TestSpecialVectors(t *testing.T) {
	seen := 0
	corpus.Lines(t, corpus.Path(t, "vectors/special.ndjson.gz"), func(_ int, v struct {
		Case   string
		Frames []struct {
			Hex, Expect string
			Body        map[string]any
		}
	}) {
		seen++
		want := decodedSpecials[v.Case]
		require.Len(t, want, len(v.Frames), v.Case)
		for i, f := range v.Frames {
			w := want[i]
			if w.tree == nil {
				continue
			}
			args := []string{"decode", "-t", f.Hex}
			if w.answers != nil {
				args = append(args, "--response", "--api", w.answers[0], "--api-version", w.answers[1])
			}
			stdout, stderr, status := runMain(t, args...)
			for _, line := range w.tree {
				assert.Regexp(t, regexp.MustCompile("(?m)"+line), stdout, "%s: %s", v.Case, f.Expect)
			}
			if w.fails == "" {
				assert.Equal(t, exitDone, status, "%s: %s: %s", v.Case, f.Expect, stderr)
				assert.Empty(t, stderr)
			} else {
				assert.Equal(t, exitFailed, status, v.Case)
				assert.Contains(t, stderr, w.fails, v.Case)
			}
			assert.Equal(t, f.Body != nil, w.json != "", "the vectors give the body of %s", v.Case)
			if w.json != "" {
				args[1] = "-j"
				stdout, _, _ = runMain(t, args...)
				assert.Contains(t, stdout, `"body":`+w.json, v.Case)
			}
		}
	})
	assert.Equal(t, len(decodedSpecials), seen)
}
