package dissect

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/kdissect/kdissect/dissect/schema"
)

// Offsets in a frame.
const (
	keyOff      = 4
	versionOff  = 6
	corrOff     = 8 // of a request
	clientOff   = 12
	respCorrOff = 4 // of a response
)

// maxClientID bounds the client ids that are believed where it is not certain that a header is one.
const maxClientID = 1024

func int16At(b []byte, off int) int16 { return int16(binary.BigEndian.Uint16(b[off:])) }
func int32At(b []byte, off int) int32 { return int32(binary.BigEndian.Uint32(b[off:])) }

// header is what a request's header says, as far as its bytes are there.
type header struct {
	key, version int16
	corr         int32
	hasKey       bool // key and version are there
	hasCorr      bool
	plan         *schema.Plan // of the body; nil where key or version are unknown
	layout       int16        // header version; -1 where unknown
	client       []byte
	clientFits   bool // the client id is there, or the layout has none
	body         int  // offset of the body; 0 where the header is not whole
}

// parseHeader reads the header of the request that b begins with. Frames of unknown keys are
// read as header v1, whose fields v2 begins with too.
func parseHeader(c *schema.Catalogue, b []byte) (h header) {
	h.parse(c, b)
	return h
}

// parse is parseHeader into h, which is zero.
func (h *header) parse(c *schema.Catalogue, b []byte) {
	h.key, h.version, h.layout = -1, -1, -1
	if len(b) < corrOff {
		return
	}
	h.key, h.version, h.hasKey = int16At(b, keyOff), int16At(b, versionOff), true
	if h.plan = c.Plan(h.key, h.version, schema.Request); h.plan != nil {
		h.layout = h.plan.HeaderVersion
	} else {
		h.layout = c.RequestHeaderVersion(h.key, h.version)
	}
	if len(b) < clientOff {
		return
	}
	h.corr, h.hasCorr = int32At(b, corrOff), true
	if h.layout == 0 {
		h.clientFits, h.body = true, clientOff
		return
	}
	if len(b) < clientOff+2 {
		return
	}
	n := int(int16At(b, clientOff))
	if n < -1 || n > len(b)-clientOff-2 {
		return
	}
	h.clientFits = true
	off := clientOff + 2
	if n >= 0 {
		h.client = b[off : off+n : off+n]
		off += n
	}
	if h.layout >= 2 {
		off = skipTags(b, off)
	}
	if off >= 0 && h.layout > 0 {
		h.body = off
	}
}

// skipTags returns the offset behind the tag section at off, or -1.
func skipTags(b []byte, off int) int {
	count, off := uvarintAt(b, off)
	for ; off >= 0 && count > 0; count-- {
		var size uint64
		_, off = uvarintAt(b, off)
		size, off = uvarintAt(b, off)
		if off < 0 || size > uint64(len(b)-off) {
			return -1
		}
		off += int(size)
	}
	return off
}

// uvarintAt reads a uvarint of at most 32 bits and returns the offset behind it, or -1.
func uvarintAt(b []byte, off int) (uint64, int) {
	if off < 0 || off > len(b) {
		return 0, -1
	}
	v, n := binary.Uvarint(b[off:])
	if n <= 0 || n > 5 {
		return 0, -1
	}
	return v, off + n
}

// saneClientID reports whether b is text without control characters, as clients name
// themselves. cut says that b may end inside a character.
func saneClientID(b []byte, cut bool) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			return cut && !utf8.FullRune(b)
		}
		if unicode.IsControl(r) {
			return false
		}
		b = b[n:]
	}
	return true
}

// field reads the leading fields of a body, which lie before anything nested. visit gets each
// with its bytes (of a string: the text) and returns false to stop.
func leadingFields(p *schema.Plan, b []byte, off int, visit func(f *schema.Field, v []byte) bool) {
	for i := range p.Root.Fields {
		f := &p.Root.Fields[i]
		n, from := f.FixedSize, off
		switch f.Op {
		case schema.OpStruct, schema.OpArray, schema.OpRecords:
			return
		case schema.OpBytes:
			if f.Compact {
				u, next := uvarintAt(b, off)
				if next < 0 {
					return
				}
				n, from = int(u)-1, next
			} else {
				if off > len(b)-4 {
					return
				}
				n, from = int(int32At(b, off)), off+4
			}
			n = max(n, 0)
		case schema.OpString:
			if f.Compact {
				u, next := uvarintAt(b, off)
				if next < 0 {
					return
				}
				n, from = int(u)-1, next
			} else {
				if off > len(b)-2 {
					return
				}
				n, from = int(int16At(b, off)), off+2
			}
			n = max(n, 0)
		}
		if n < 0 || n > len(b)-from {
			return
		}
		if !visit(f, b[from:from+n]) {
			return
		}
		off = from + n
	}
}
