package walk

import "strconv"

// where writes a path, such as "responses[3].partitions[0].records". It is made for issues and
// errors only.
func where(path []step) string { return string(appendPath(nil, path)) }

// maxPlaces bounds the paths that are remembered.
const maxPlaces = 256

// places remembers paths as text: those of frames that are alike are the same.
type places struct {
	known   map[string]string
	scratch []byte
}

// where is where for a path that is needed often.
func (p *places) where(path []step) string {
	p.scratch = appendPath(p.scratch[:0], path)
	s, ok := p.known[string(p.scratch)]
	if ok {
		return s
	}
	if p.known == nil || len(p.known) >= maxPlaces {
		p.known = make(map[string]string)
	}
	s = string(p.scratch)
	p.known[s] = s
	return s
}

func appendPath(b []byte, path []step) []byte {
	from := len(b)
	for _, s := range path {
		if s.index >= 0 {
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
			continue
		}
		if len(b) > from {
			b = append(b, '.')
		}
		b = append(b, s.desc.Key...)
	}
	return b
}
