package tls

// Content types of records (RFC 8446, section 5.1).
const (
	changeCipherSpec = 20
	alert            = 21
	handshake        = 22
	applicationData  = 23
)

const (
	headerSize = 5
	// maxFragment is what a record may hold behind its header (RFC 5246, section 6.2.3).
	maxFragment = 1<<14 + 2048
)

// answer is what is known of a question.
type answer uint8

const (
	undecided answer = iota
	no
	yes
)

// looksLikeTLS reports whether the beginning of a stream may be a record's header.
func looksLikeTLS(b []byte) answer {
	switch {
	case len(b) >= 1 && (b[0] < changeCipherSpec || b[0] > applicationData),
		len(b) >= 2 && b[1] != 3,
		len(b) >= 3 && b[2] > 4:
		return no
	case len(b) < headerSize:
		return undecided
	case fragment(b) == 0 || fragment(b) > maxFragment:
		return no
	}
	return yes
}

// plausible reports whether b, of at least headerSize bytes, looks like the header of a record
// behind the first ones.
func plausible(b []byte) bool {
	return b[0] >= changeCipherSpec && b[0] <= applicationData && b[1] == 3 && b[2] <= 4 && fragment(b) <= maxFragment
}

// fragment returns how many bytes follow a header.
func fragment(header []byte) int { return int(header[3])<<8 | int(header[4]) }
