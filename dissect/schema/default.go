package schema

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// zeroUUID is the value of a uuid without a default.
var zeroUUID = strings.Repeat("\x00", 16)

// intSizes gives the bits of the integer types; unsigned ones are negative.
var intSizes = map[Op]int{OpInt8: 8, OpInt16: 16, OpInt32: 32, OpInt64: 64, OpUint16: -16, OpUint32: -32}

// parseDefault returns the default of f as a value.
func parseDefault(f *FieldDef) (Value, error) {
	if f.Default == "null" {
		if f.Nullable.Empty() {
			return Value{}, fmt.Errorf("default null, but no version is nullable")
		}
		return Value{Null: true}, nil
	}
	op, base := ops[f.Type]
	if !base { // arrays and structs are empty by default
		if f.Default != "" {
			return Value{}, fmt.Errorf("default %q of a %s", f.Default, f.Type)
		}
		return Value{}, nil
	}
	if op == OpUUID {
		return uuidDefault(f.Default)
	}
	if f.Default == "" {
		return Value{}, nil
	}
	switch op {
	case OpBool:
		b, err := strconv.ParseBool(f.Default)
		if err != nil {
			return Value{}, fmt.Errorf("default %q of a bool", f.Default)
		}
		v := Value{}
		if b {
			v.Num = 1
		}
		return v, nil
	case OpFloat64:
		x, err := strconv.ParseFloat(f.Default, 64)
		if err != nil {
			return Value{}, fmt.Errorf("default %q of a float64", f.Default)
		}
		return Value{Num: int64(math.Float64bits(x))}, nil
	case OpString:
		return Value{Str: f.Default}, nil
	case OpBytes, OpRecords:
		return Value{}, fmt.Errorf("default %q of %s", f.Default, f.Type)
	}
	n, err := strconv.ParseInt(f.Default, 0, 64)
	size := intSizes[op]
	if err == nil {
		switch {
		case size < 0 && (n < 0 || n >= 1<<-size):
			err = strconv.ErrRange
		case size > 0 && size < 64 && (n < -1<<(size-1) || n >= 1<<(size-1)):
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return Value{}, fmt.Errorf("default %q of %s", f.Default, f.Type)
	}
	return Value{Num: n}, nil
}

func uuidDefault(s string) (Value, error) {
	if s == "" {
		return Value{Str: zeroUUID}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 16 {
		return Value{}, fmt.Errorf("default %q of a uuid", s)
	}
	return Value{Str: string(b)}, nil
}
