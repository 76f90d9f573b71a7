package cli

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kdissect/kdissect/dissect/records"
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/dissect/walk"
)

// encodeBatch answers each line with {"hex":".."}, or {"error":".."} where it cannot be encoded.
func encodeBatch(e *env, c *schema.Catalogue, files []string, sets records.Encoder) error {
	bad := 0
	err := eachLine(e, files, func(line []byte) error {
		b, err := encodeLine(c, line, sets)
		var answer []byte
		if err != nil {
			bad++
			answer = appendError(nil, err)
		} else {
			answer = append(answer, `{"hex":"`...)
			answer = hex.AppendEncode(answer, b)
			answer = append(answer, '"', '}', '\n')
		}
		_, err = e.stdout.Write(answer)
		return err
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d lines could not be encoded; their answers say why", bad)
	}
	return err
}

func encodeLine(c *schema.Catalogue, line []byte, sets records.Encoder) ([]byte, error) {
	v, err := parseObject(line)
	if err != nil {
		return nil, err
	}
	if isRecordSet(v) {
		return encodeRecordSet(v, sets)
	}
	m, err := lineMessage(c, v)
	if err != nil {
		return nil, err
	}
	m.records = sets
	return m.encode(c)
}

// lineMessage takes a line that decode --batch wrote.
func lineMessage(c *schema.Catalogue, v map[string]any) (*message, error) {
	version, err := int16Of(v, "version")
	if err != nil {
		return nil, err
	}
	m := &message{body: v["body"]}
	if m.encoding, err = encodingOf(v); err != nil {
		return nil, err
	}
	m.header, _ = v["header"].(map[string]any)
	if name, ok := v["name"].(string); ok {
		m.bare = true
		m.plan, err = dataPlan(c, name, version, m.body)
		return m, err
	}
	key, err := int16Of(v, "api_key")
	if err != nil {
		return nil, err
	}
	layout, _ := v["layout"].(string)
	dir := schema.Request
	switch v["kind"] {
	case "request":
	case "response":
		dir = schema.Response
	default:
		return nil, errors.New(`want a kind ("request" or "response") or a name`)
	}
	if _, raw := m.wire[walk.BodyPath]; raw {
		m.plan = rawPlan(c, key, version, dir)
	} else {
		m.plan, err = apiPlan(c, key, version, dir, layout, m.body)
	}
	m.bare = m.header == nil
	return m, err
}

// rawPlan stands for a body of unknown layout.
func rawPlan(c *schema.Catalogue, key, version int16, dir schema.Direction) *schema.Plan {
	p := &schema.Plan{API: &schema.API{Key: key}, Version: version, Direction: dir, Root: &schema.Struct{}}
	if dir == schema.Request {
		// As decoding does: a header of an unknown API is read as version 1.
		p.HeaderVersion = max(c.RequestHeaderVersion(key, version), 0)
		if c.API(key) == nil {
			p.HeaderVersion = 1
		}
	}
	return p
}

// encodingOf reads the unknown tags and the deviations of a line.
func encodingOf(v map[string]any) (encoding, error) {
	var x encoding
	var err error
	if x.tags, err = tagsOf(v, "unknownTags", "unknown_tags"); err != nil {
		return x, err
	}
	if x.headerTags, err = tagsOf(v, "headerUnknownTags", "header_unknown_tags"); err != nil {
		return x, err
	}
	wire, _ := v["wire"].([]any)
	for i, item := range wire {
		o, _ := item.(map[string]any)
		path, ok := o["path"].(string)
		b, err := hexOf(o)
		if !ok || err != nil {
			return x, fmt.Errorf("wire[%d]: want {\"path\":\"..\",\"hex\":\"..\"}", i)
		}
		if rest, ok := strings.CutPrefix(path, walk.HeaderPath); ok {
			x.headerWire = put(x.headerWire, rest, b)
		} else {
			x.wire = put(x.wire, path, b)
		}
	}
	return x, nil
}

func put(m map[string][]byte, path string, b []byte) map[string][]byte {
	if m == nil {
		m = map[string][]byte{}
	}
	m[path] = b
	return m
}

func hexOf(o map[string]any) ([]byte, error) {
	s, ok := o["hex"].(string)
	if !ok {
		return nil, errors.New("hex is missing")
	}
	return hex.DecodeString(s)
}

// tagsOf reads unknown tagged fields, under either spelling of the member.
func tagsOf(v map[string]any, names ...string) (map[string][]walk.RawTag, error) {
	var m map[string][]walk.RawTag
	for _, name := range names {
		list, _ := v[name].([]any)
		for i, item := range list {
			o, _ := item.(map[string]any)
			path, isPath := o["path"].(string)
			number, isNumber := o["tag"].(json.Number)
			tag, err := number.Int64()
			b, hexErr := hexOf(o)
			if !isPath || !isNumber || err != nil || hexErr != nil || tag != int64(uint32(tag)) {
				return nil, fmt.Errorf("%s[%d]: want {\"path\":\"..\",\"tag\":N,\"hex\":\"..\"}", name, i)
			}
			if m == nil {
				m = map[string][]walk.RawTag{}
			}
			m[path] = append(m[path], walk.RawTag{Tag: uint32(tag), Data: b})
		}
	}
	return m, nil
}
