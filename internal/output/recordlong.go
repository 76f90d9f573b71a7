package output

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"
)

// maxHeaders is the most headers of a record that are kept.
const maxHeaders = 64 << 10

// longJSON appends a long value as f.appendJSON does, and sends on what is done of the line.
func (r *Records) longJSON(b []byte, f ValueForm, p []byte) []byte {
	begin, end, cut, write := `"`, `"`, base64Piece, base64.StdEncoding.AppendEncode
	switch {
	case f == ValueJSON && json.Valid(p), f == ValueConfluent && p[0] == 0:
		return f.appendJSON(b, p)
	case f == ValueHex:
		write = hex.AppendEncode
	case f == ValueBase64:
	case f == ValueText || utf8.Valid(p):
		cut, write = runePiece, appendUnquoted
	default:
		begin, end = `{"base64":"`, `"}`
	}
	b = append(b, begin...)
	b = r.inPieces(b, p, cut, write)
	return append(b, end...)
}

// longText appends a long value as f.appendText does, and sends on what is done of the line.
func (r *Records) longText(b []byte, f ValueForm, p []byte) []byte {
	switch {
	case f == ValueHex:
		return r.inPieces(b, p, base64Piece, hex.AppendEncode)
	case f == ValueText, (f == ValueAuto || f == ValueJSON) && utf8.Valid(p):
		return r.inPieces(b, p, runePiece, appendVisible)
	case f == ValueAuto || f == ValueJSON:
		return r.inPieces(append(b, "0x"...), p, base64Piece, hex.AppendEncode)
	}
	return f.appendText(b, p)
}

func (r *Records) inPieces(b, p []byte, cut func([]byte) int, write func(b, p []byte) []byte) []byte {
	for len(p) > 0 {
		n := cut(p)
		b = r.spill(write(b, p[:n]))
		p = p[n:]
	}
	return b
}

// spill sends on a line that has grown long.
func (r *Records) spill(b []byte) []byte {
	if len(b) >= spillAt {
		b, _ = r.out.Spill(b, len(b))
	}
	return b
}
