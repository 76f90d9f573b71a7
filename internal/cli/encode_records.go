package cli

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/kdissect/kdissect/dissect/records"
)

// records returns the encoder of record sets that the flags ask for.
func (f *encodeFlags) records() records.Encoder {
	return records.Encoder{Base64: f.bytes.value == "base64"}
}

// isRecordSet reports whether v is what decode --as records wrote.
func isRecordSet(v map[string]any) bool {
	_, ok := v["batches"].([]any)
	return ok
}

// encodeRecordSet returns the bytes of what decode --as records wrote.
func encodeRecordSet(v map[string]any, sets records.Encoder) ([]byte, error) {
	b, err := sets.Encode(nil, v["batches"])
	if err != nil {
		return nil, err
	}
	if text, ok := v["trailing"].(string); ok {
		rest, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("trailing: %w", err)
		}
		b = append(b, rest...)
	}
	return b, nil
}

// writeRecords writes a record set in the form asked for.
func (f *encodeFlags) writeRecords(e *env, v map[string]any) error {
	b, err := encodeRecordSet(v, f.records())
	if err != nil {
		return err
	}
	switch f.format.value {
	case "binary":
	case "hex":
		b = append(hex.AppendEncode(nil, b), '\n')
	default:
		return errors.New("a record set is no tree here; 'kdissect decode --as records' shows one")
	}
	_, err = e.stdout.Write(b)
	return err
}
