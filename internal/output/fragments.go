package output

import (
	"github.com/kdissect/kdissect/dissect/schema"
	"github.com/kdissect/kdissect/tree"
)

// Fragments is a Sink that keeps the header and the body of one frame as JSON objects, with the
// unknown tagged fields and the issues beside them. What its methods return is alive until Reset.
type Fragments struct {
	body
	hits int64
}

// NewFragments returns a sink that is ready.
func NewFragments(opt Options) *Fragments {
	f := &Fragments{}
	f.plain, f.bytes, f.showSecrets, f.values, f.wantHeader = opt.Plain, opt.Bytes, opt.ShowSecrets, opt.Values, true
	return f
}

var _ tree.Sink = (*Fragments)(nil)

// Reset makes f ready for the next frame; key is that of its API, or -1.
func (f *Fragments) Reset(key int16) {
	f.hits = f.Limited()
	f.limited = false
	f.reset(f.buf[:0])
	f.issues = f.issues[:0]
	f.hideRest = schema.HoldsSecrets(key)
}

// Limited returns of how many frames not all was decoded, because of limits of ours.
func (f *Fragments) Limited() int64 {
	if f.limited {
		return f.hits + 1
	}
	return f.hits
}

// Header returns the header's object; empty where there was none.
func (f *Fragments) Header() []byte { return f.header.in(f.buf) }

// Body returns the body's object; empty where there was none.
func (f *Fragments) Body() []byte { return f.root.in(f.buf) }

// AppendUnknownTags appends the body's unknown tagged fields as a JSON array of
// {"path":"topics[0]","tag":9,"hex":"00"}; the path of the body itself is "".
func (f *Fragments) AppendUnknownTags(b []byte) []byte { return appendArray(b, f.tags) }

// AppendHeaderUnknownTags does the same for the header's.
func (f *Fragments) AppendHeaderUnknownTags(b []byte) []byte { return appendArray(b, f.headerTags) }

// AppendIssues appends the issues as a JSON array.
func (f *Fragments) AppendIssues(b []byte) []byte { return appendArray(b, f.issues) }

func appendArray(b, list []byte) []byte {
	b = append(b, '[')
	b = appendList(b, list)
	return append(b, ']')
}
