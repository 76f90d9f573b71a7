package walk

import "strconv"

// where writes a path, such as "responses[3].partitions[0].records". It is made for issues and
// errors only.
func where(path []step) string {
	var b []byte
	for _, s := range path {
		if s.index >= 0 {
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
			continue
		}
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, s.desc.Key...)
	}
	return string(b)
}
