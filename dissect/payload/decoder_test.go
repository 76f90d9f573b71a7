package payload_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kdissect/kdissect/dissect/payload"
	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
	"github.com/kdissect/kdissect/tree"
)

// decode decodes a body, checks that its leaves tile it, and returns its text.
func decode(t testing.TB, d *payload.Decoder, body []byte, p *schema.Plan) string {
	t.Helper()
	w := d.Decoder()
	var check tree.TilingSink
	w.Body(body, 0, p, &check)
	// Bytes behind the body are the caller's.
	r := w.Body(body, 0, p, nil)
	require.NoError(t, check.Err(r.End), "%x", body)
	var b tree.Builder
	b.Reset(body)
	w.Body(body, 0, p, &b)
	x := tree.Text{Full: true}
	return string(x.Append(nil, b.Tree()))
}

func plan(t testing.TB, api string, version int16, dir schema.Direction) *schema.Plan {
	t.Helper()
	p := schema.Default().Plan(schema.Default().APIByName(api).Key, version, dir)
	require.NotNil(t, p)
	return p
}

// encode encodes a body from its JSON form.
func encode(t testing.TB, p *schema.Plan, v any) []byte {
	t.Helper()
	var e walk.Encoder
	b, err := e.Body(nil, p, v)
	require.NoError(t, err)
	return b
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// join is a JoinGroup v5 request of a group of some type with one protocol.
func join(t testing.TB, protocolType, protocol string, metadata []byte) ([]byte, *schema.Plan) {
	p := plan(t, "JoinGroup", 5, schema.Request)
	return encode(t, p, map[string]any{
		"groupId": "g", "memberId": "m", "protocolType": protocolType,
		"protocols": []any{map[string]any{"name": protocol, "metadata": b64(metadata)}},
	}), p
}

func TestMemberMetadata(t *testing.T) {
	sticky := "00000001 0001 74 00000002 00000000 00000003 00000007" // t: 0, 3; generation 7
	for _, c := range []struct {
		name, protocolType, protocol, metadata string
		want                                   []string
		not                                    string
	}{
		{"v0 of kafkajs", "consumer", "RoundRobinAssigner", "0000 00000001 0009 74657374746f706963 00000000",
			[]string{"ConsumerProtocolSubscription v0", `"testtopic"`}, "!!"},
		{"v1 without what it added", "consumer", "range", "0001 00000001 0001 74 ffffffff",
			[]string{"ConsumerProtocolSubscription v1", "!! payload: the fields that versions behind 0 added are missing"}, "OwnedPartitions"},
		{"unknown version", "consumer", "range", "0063 00000001 0001 74 ffffffff",
			[]string{"Metadata bytes = 0x0063", "!! payload: ConsumerProtocolSubscription has no version 99"}, "Subscription v"},
		{"no consumer data at all", "consumer", "range", "0000 7fffffff", []string{"!! payload: cannot be read as version 0"}, "Subscription v0 ["},
		{"trailing bytes", "consumer", "range", "0000 00000000 ffffffff 2a",
			[]string{"ConsumerProtocolSubscription v0", "!! trailing: 1 bytes behind the end of ConsumerProtocolSubscription"}, ""},
		{"sticky v1", "consumer", "sticky", "0000 00000000 00000017" + sticky,
			[]string{"StickyAssignorUserData v1", "Generation int32 = 7"}, "!!"},
		{"sticky v0", "consumer", "sticky", "0000 00000000 00000013" + sticky[:len(sticky)-9], []string{"StickyAssignorUserData v0"}, "!!"},
		{"cooperative-sticky", "consumer", "cooperative-sticky", "0000 00000000 00000004 ffffffff",
			[]string{"CooperativeStickyAssignorUserData v0", "Generation int32 = -1"}, "!!"},
		{"user data of an assignor that is not known", "consumer", "mine", "0000 00000000 00000004 ffffffff",
			[]string{"UserData bytes = 0xffffffff"}, "!!"},
		{"connect v0", "connect", "default", "0000 0004 68747470 0000000000000005",
			[]string{"ConnectWorkerState v0", "ConfigOffset int64 = 5"}, "!!"},
		{"connect v2 with an allocation", "connect", "sessioned",
			"0002 0001 75 0000000000000005 0000002f 0001 0000 0001 6c 0001 75 0000000000000005 00000001 0003 666f6f 00000002 ffffffff 00000000 ffffffff 00000000",
			[]string{"ConnectWorkerState v2", "Allocation ConnectAssignment v1", `Connector string = "foo"`, "int32[0] int32 = -1"}, "!!"},
		{"another type", "sr", "v0", "7b7d", []string{`Metadata bytes = "{}"`}, "!!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, p := join(t, c.protocolType, c.protocol, unhex(t, c.metadata))
			text := decode(t, payload.New(nil, records.Limits{}), body, p)
			for _, want := range c.want {
				assert.Contains(t, text, want)
			}
			if c.not != "" {
				assert.NotContains(t, text, c.not)
			}
		})
	}
}

// TestAssignmentIsGuessed: SyncGroup has no protocol type before version 5.
func TestAssignmentIsGuessed(t *testing.T) {
	p := plan(t, "SyncGroup", 1, schema.Response)
	for name, c := range map[string]struct{ assignment, want string }{
		"consumer": {"0001 00000001 0001 74 00000001 00000000 ffffffff", "ConsumerProtocolAssignment v1"},
		"connect":  {"0000 0000 0001 6c 0001 75 0000000000000005 00000000", "ConnectAssignment v0"},
		"neither":  {"0102030405", "Assignment bytes = 0x0102030405"},
	} {
		t.Run(name, func(t *testing.T) {
			text := decode(t, payload.New(nil, records.Limits{}), encode(t, p, map[string]any{"assignment": b64(unhex(t, c.assignment))}), p)
			assert.Contains(t, text, c.want)
			assert.NotContains(t, text, "!!")
		})
	}
}

// TestProtocolTypeOfTheRequest: a response before version 7 takes it from the request.
func TestProtocolTypeOfTheRequest(t *testing.T) {
	body := encode(t, plan(t, "JoinGroup", 5, schema.Response), map[string]any{
		"protocolName": "default", "leader": "m", "memberId": "m",
		"members": []any{map[string]any{"memberId": "m", "metadata": b64(unhex(t, "0000 0004 68747470 0000000000000005"))}},
	})
	request, requestPlan := join(t, "connect", "default", nil)
	header := schema.Default().Header(schema.Request, 1)
	frame := append(binary.BigEndian.AppendUint32(nil, 0), encode(t, header, map[string]any{})...)
	w := payload.New(nil, records.Limits{}).Decoder()
	w.Context = walk.Context{Request: append(frame, request...), RequestHeader: header, RequestBody: requestPlan}
	var b tree.Builder
	b.Reset(body)
	w.Body(body, 0, plan(t, "JoinGroup", 5, schema.Response), &b)
	var x tree.Text
	assert.Contains(t, string(x.Append(nil, b.Tree())), "ConnectWorkerState v0")
}

// forwarded is an Envelope around a request.
func forwarded(t testing.TB, api string, version int16, header map[string]any, body any) ([]byte, *schema.Plan) {
	p := plan(t, api, version, schema.Request)
	inner := encode(t, schema.Default().Header(schema.Request, p.HeaderVersion), header)
	inner = append(inner, encode(t, p, body)...)
	e := plan(t, "Envelope", 0, schema.Request)
	return encode(t, e, map[string]any{"requestData": b64(inner), "requestPrincipal": b64(unhex(t, "0000 0555736572 06616c696365 00 00")), "clientHostAddress": "fwAAAQ=="}), e
}

func scram(t testing.TB) ([]byte, *schema.Plan) {
	return forwarded(t, "AlterUserScramCredentials", 0, map[string]any{"requestApiKey": num("51"), "requestApiVersion": num("0"), "correlationId": num("7")}, map[string]any{
		"upsertions": []any{map[string]any{"name": "alice", "mechanism": num("1"), "iterations": num("4096"), "salt": b64([]byte("pepper&salt")), "saltedPassword": b64([]byte("hunter2-salted"))}},
	})
}

func TestEnvelope(t *testing.T) {
	body, p := forwarded(t, "DeleteGroups", 2, map[string]any{"requestApiKey": num("42"), "requestApiVersion": num("2"), "correlationId": num("9"), "clientId": "adm"}, map[string]any{"groupsNames": []any{"g1"}})
	text := decode(t, payload.New(nil, records.Limits{}), body, p)
	for _, want := range []string{"RequestData DeleteGroupsRequest v2", `client_id nullable_string = "adm"`, `"g1"`, "DefaultPrincipalData v0", `Name string = "alice"`} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "!!")
}

// TestSecretsWithin: bytes that hold a secret are one themselves.
func TestSecretsWithin(t *testing.T) {
	body, p := scram(t)
	shown := func(body []byte) string {
		var b tree.Builder
		b.Reset(body)
		payload.New(nil, records.Limits{}).Decoder().Body(body, 0, p, &b)
		var x tree.Text
		var g tree.Grid
		text := x.Append(nil, b.Tree())
		return string(g.Append(text, b.Tree()))
	}
	text := shown(body)
	assert.Contains(t, text, "SaltedPassword bytes = <hidden, 14 bytes>")
	assert.NotContains(t, text, "hunter2")
	assert.NotContains(t, text, hex.EncodeToString([]byte("hunter2")))
	// What cannot be read may be anything.
	broken := []byte(strings.Replace(string(body), "\x00\x33\x00\x00", "\x00\x33\x00\x09", 1))
	text = shown(broken)
	assert.Contains(t, text, "!! payload: API 51 version 9 is not known")
	assert.Contains(t, text, "RequestData bytes = <hidden")
	assert.NotContains(t, text, "hunter2")
}

// TestSecretRecords: records of the metadata log go by their type, so that a version of
// tomorrow shows no more than today's.
func TestSecretRecords(t *testing.T) {
	record := encode(t, schema.Default().Data("UserScramCredentialRecord", 0), map[string]any{
		"name": "alice", "mechanism": num("1"), "salt": b64([]byte("saltsalt")), "storedKey": b64([]byte("storedstored")), "serverKey": b64([]byte("serverserver")), "iterations": num("4096"),
	})
	for name, value := range map[string][]byte{
		"known":           append([]byte{1, 11, 0}, record...),
		"unknown version": append([]byte{1, 11, 9}, record...),
		"no frame":        append([]byte{0xff}, record...),
	} {
		t.Run(name, func(t *testing.T) {
			set := batch(t, nil, value)
			var b tree.Builder
			b.Reset(set)
			root := tree.Event{Desc: &tree.Desc{Name: "set", Kind: tree.KindGroup}, Span: tree.Span{Len: int32(len(set))}}
			b.Begin(root)
			payload.New(nil, records.Limits{}).Records(set, root.Span, "__cluster_metadata", &b, records.Options{})
			b.End(root)
			var x tree.Text
			text := string(x.Append(nil, b.Tree()))
			assert.Contains(t, text, "hidden")
			for _, secret := range []string{"saltsalt", "storedstored", "serverserver"} {
				assert.NotContains(t, text, secret)
				assert.NotContains(t, text, hex.EncodeToString([]byte(secret)))
			}
		})
	}
}

// batch encodes a batch with one record.
func batch(t testing.TB, key, value []byte) []byte {
	t.Helper()
	r := map[string]any{"value": b64(value)}
	if key != nil {
		r["key"] = b64(key)
	}
	b, err := records.Encoder{Base64: true}.Encode(nil, []any{map[string]any{"records": []any{r}}})
	require.NoError(t, err)
	return b
}

func TestInternalRecords(t *testing.T) {
	group := unhex(t, "0002 0001 67")
	for _, c := range []struct {
		name, topic string
		key, value  []byte
		want        []string
	}{
		{"key and value", "__consumer_offsets", group, unhex(t, "0000 0008 636f6e73756d6572 00000001 ffff ffff 00000000"),
			[]string{"key GroupMetadataKey v0", "value GroupMetadataValue v0", `"consumer"`}},
		{"unknown type", "__consumer_offsets", unhex(t, "7fff 00"), []byte("x"), []string{"!! payload: record type 32767 is not known", `value bytes = "x"`}},
		{"unknown version of the value", "__consumer_offsets", group, unhex(t, "0055"), []string{"key GroupMetadataKey v0", "!! payload: GroupMetadataValue has no version 85"}},
		{"a value that is cut", "__consumer_offsets", group, unhex(t, "0000 0008 63"), []string{"!! payload: cannot be read as version 0 of GroupMetadataValue"}},
		{"user's topic", "orders", group, []byte("x"), []string{`key bytes = 0x0002000167`}},
		{"metadata log", "__cluster_metadata", nil, unhex(t, "01 14 00 00"), []string{"value NoOpRecord v0"}},
		{"frame version of tomorrow", "__cluster_metadata", nil, unhex(t, "02 14 00 00"), []string{"!! payload: frame version 2 is not known"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := batch(t, c.key, c.value)
			text := setText(t, set, c.topic)
			for _, want := range c.want {
				assert.Contains(t, text, want)
			}
		})
	}
}

// setText decodes a record set, checks that its leaves tile it, and returns its text.
func setText(t testing.TB, set []byte, topic string) string {
	t.Helper()
	d := payload.New(nil, records.Limits{})
	root := tree.Event{Desc: &tree.Desc{Name: "set", Kind: tree.KindGroup}, Span: tree.Span{Len: int32(len(set))}}
	var check tree.TilingSink
	var b tree.Builder
	b.Reset(set)
	for _, sink := range []tree.Sink{&check, &b} {
		d.Reset()
		sink.Begin(root)
		d.Records(set, root.Span, topic, sink, records.Options{})
		sink.End(root)
	}
	require.NoError(t, check.Err(len(set)))
	x := tree.Text{Full: true}
	return string(x.Append(nil, b.Tree()))
}

// TestDamage: whatever the bytes, leaves tile and nothing panics.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := payload.New(nil, records.Limits{})
	joinBody, joinPlan := join(t, "consumer", "stream", unhex(t, "0003 00000001 0001 74 0000000c 00000001 00000000 00000000 00000000 ffffffff ffff"))
	envelope, envelopePlan := scram(t)
	push := plan(t, "PushTelemetry", 0, schema.Request)
	metrics := encode(t, push, map[string]any{"metrics": b64(otlp())})
	for _, c := range []struct {
		body []byte
		p    *schema.Plan
	}{{joinBody, joinPlan}, {envelope, envelopePlan}, {metrics, push}} {
		for n := range len(c.body) {
			decode(t, d, c.body[:n], c.p)
		}
		for range 2000 {
			b := append([]byte(nil), c.body...)
			for range 1 + r.IntN(3) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			decode(t, d, b, c.p)
		}
	}
	set := batch(t, unhex(t, "0002 0001 67"), unhex(t, "0000 0008 636f6e73756d6572 00000001 ffff ffff 00000000"))
	for range 2000 {
		b := append([]byte(nil), set...)
		b[61+r.IntN(len(b)-61)] = byte(r.Uint32())
		setText(t, b, "__consumer_offsets")
	}
}

// TestDepth: payloads in payloads come to an end.
func TestDepth(t *testing.T) {
	inner, _ := forwarded(t, "DeleteGroups", 2, map[string]any{"requestApiKey": num("42"), "requestApiVersion": num("2")}, map[string]any{"groupsNames": []any{"deepest"}})
	p := plan(t, "Envelope", 0, schema.Request)
	header := encode(t, schema.Default().Header(schema.Request, 2), map[string]any{"requestApiKey": num("58"), "requestApiVersion": num("0")})
	for range 8 {
		inner = encode(t, p, map[string]any{"requestData": b64(append(append([]byte(nil), header...), inner...)), "clientHostAddress": ""})
	}
	text := decode(t, payload.New(nil, records.Limits{}), inner, p)
	assert.Equal(t, 4, strings.Count(text, "RequestData EnvelopeRequest v0"))
	assert.NotContains(t, text, "deepest")
}
