package scrub

// handshake follows the records at the start of a direction of a TLS connection, up to the first
// that is encrypted (RFC 5246, RFC 8446). They can be read by all, and name the server: in the
// client's hello, and in certificates.
type handshake struct {
	over   bool
	header []byte
	left   int64 // bytes of the record under way
	hidden []hole
}

// hole is a run of a stream's bytes that are not given on; to is -1 for all that follow.
type hole struct{ from, to int64 }

const (
	recordHeader     = 5
	changeCipherSpec = 20
	applicationData  = 23
)

// chunk takes the bytes from off on, the next ones.
func (h *handshake) chunk(off int64, b []byte) {
	for len(b) > 0 && !h.over {
		if h.left == 0 {
			n := min(recordHeader-len(h.header), len(b))
			h.header = append(h.header, b[:n]...)
			off, b = off+int64(n), b[n:]
			if h.over = h.foreign(); h.over || len(h.header) < recordHeader {
				continue
			}
			h.left = int64(h.header[3])<<8 | int64(h.header[4])
			h.hidden = append(h.hidden, hole{off, off + h.left})
			h.header = h.header[:0]
			continue
		}
		n := min(h.left, int64(len(b)))
		h.left -= n
		off, b = off+n, b[n:]
	}
}

// foreign reports whether what begins is no record in the clear.
func (h *handshake) foreign() bool {
	t := h.header[0]
	return t <= changeCipherSpec || t >= applicationData || len(h.header) > 1 && h.header[1] != 3
}

// gap takes note that bytes before off are missing: where the next record begins is not known.
func (h *handshake) gap(off int64) {
	if !h.over && off > 0 {
		h.over = true
		h.hidden = append(h.hidden, hole{off, -1})
	}
}

// hide makes zeros of what is hidden in b, the bytes from off on.
func (h *handshake) hide(off int64, b []byte) {
	end := off + int64(len(b))
	for _, x := range h.hidden {
		to := x.to
		if to < 0 {
			to = end
		}
		if from, to := max(x.from, off), min(to, end); from < to {
			fill(b[from-off:to-off], 0)
		}
	}
}
