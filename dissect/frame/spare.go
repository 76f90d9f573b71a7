package frame

// Spares are values that are kept to be used again. The zero value is ready; it serves one
// goroutine.
type Spares[T any] struct{ list []T }

// Take returns the value given last, which ok says there is one of.
func (s *Spares[T]) Take() (v T, ok bool) {
	n := len(s.list)
	if n == 0 {
		return v, false
	}
	v = s.list[n-1]
	s.list = s.list[:n-1]
	return v, true
}

// Full reports whether there are most already.
func (s *Spares[T]) Full(most int) bool { return len(s.list) >= most }

// Give keeps v, unless there are most already.
func (s *Spares[T]) Give(v T, most int) {
	if len(s.list) < most {
		s.list = append(s.list, v)
	}
}
