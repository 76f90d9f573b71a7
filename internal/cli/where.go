package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// where is a compiled --where expression over the JSON form of an exchange.
type where struct {
	program *vm.Program
	machine vm.VM
	failed  int64 // exchanges on which it could not be evaluated
	failure error // the first of these
}

// whereNames are the names that an expression may use, with values of their types: the members
// of the JSON form and short names for what is asked most.
func whereNames() map[string]any {
	object := map[string]any{}
	return map[string]any{
		"requestHeader":     object,
		"request":           object,
		"response":          object,
		"connection":        "",
		"totalTimeMs":       0.0,
		"clientInformation": object,
		"principal":         "",
		"capture":           object,
		"issues":            []any{},

		"api":       "",
		"version":   0,
		"clientId":  "",
		"latencyMs": 0.0,
		"error":     "",
	}
}

// compileWhere compiles src; its errors show the expression and the place.
func compileWhere(src string) (*where, error) {
	program, err := expr.Compile(src, expr.Env(whereNames()), expr.AsBool())
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			// file.Error's columns count from 0.
			return nil, usagef("--where: %s at column %d\n  %s\n  %s^", at.Message, at.Column+1,
				strings.ReplaceAll(src, "\n", " "), strings.Repeat(" ", at.From))
		}
		return nil, usagef("--where: %w in %s", err, src)
	}
	return &where{program: program}, nil
}

// match evaluates the expression on an exchange's line of JSON and the name of its first error.
// An expression that cannot be evaluated, such as one that looks into a member that is not
// there, does not match; this is counted.
func (w *where) match(line []byte, firstError string) (bool, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var names map[string]any
	if err := dec.Decode(&names); err != nil {
		return false, fmt.Errorf("--where: reading our own JSON: %w", err)
	}
	exactNumbers(names)
	header, _ := names["requestHeader"].(map[string]any)
	names["api"], _ = header["requestApiKeyName"].(string)
	names["version"], _ = header["requestApiVersion"].(int)
	names["clientId"], _ = header["clientId"].(string)
	ms, _ := names["totalTimeMs"].(float64)
	if n, ok := names["totalTimeMs"].(int); ok {
		ms = float64(n)
	}
	names["totalTimeMs"], names["latencyMs"] = ms, ms
	names["error"] = firstError
	if _, ok := names["principal"]; !ok {
		names["principal"] = ""
	}
	got, err := w.machine.Run(w.program, names)
	if err != nil {
		if w.failed++; w.failure == nil {
			w.failure = err
		}
		return false, nil
	}
	return got.(bool), nil
}

// exactNumbers turns each json.Number below v into an int where it is one, else a float64, and
// returns v's own replacement.
func exactNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = exactNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = exactNumbers(x)
		}
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return v
}
