package brokerlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Kind is what a Value is.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is a JSON value whose objects keep the order of their members. Numbers keep their digits.
type Value struct {
	Kind  Kind
	Text  string   // of a string; the words and digits of null, a bool or a number
	Names []string // of an object's members
	Items []Value  // an object's members or an array's elements
}

// Member returns the member of an object with that name, or false.
func (v *Value) Member(name string) (*Value, bool) {
	for i, n := range v.Names {
		if n == name {
			return &v.Items[i], true
		}
	}
	return nil, false
}

// String returns the beginning of v for messages.
func (v *Value) String() string {
	switch v.Kind {
	case Array:
		return fmt.Sprintf("an array of %d", len(v.Items))
	case Object:
		return fmt.Sprintf("an object of %d", len(v.Items))
	case String:
		return fmt.Sprintf("%.80q", v.Text)
	}
	return v.Text
}

// ParseJSON reads one JSON value.
func ParseJSON(b []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := parseValue(d)
	if err != nil {
		return v, err
	}
	if _, err := d.Token(); err != io.EOF {
		return v, fmt.Errorf("more than one value, at offset %d", d.InputOffset())
	}
	return v, nil
}

func parseValue(d *json.Decoder) (Value, error) {
	t, err := d.Token()
	if err != nil {
		return Value{}, err
	}
	switch t := t.(type) {
	case nil:
		return Value{Text: "null"}, nil
	case bool:
		return Value{Kind: Bool, Text: fmt.Sprint(t)}, nil
	case json.Number:
		return Value{Kind: Number, Text: t.String()}, nil
	case string:
		return Value{Kind: String, Text: t}, nil
	}
	v := Value{Kind: Array}
	if t == json.Delim('{') {
		v.Kind = Object
	}
	for d.More() {
		if v.Kind == Object {
			name, err := d.Token()
			if err != nil {
				return v, err
			}
			v.Names = append(v.Names, name.(string))
		}
		item, err := parseValue(d)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
	}
	_, err = d.Token()
	return v, err
}
