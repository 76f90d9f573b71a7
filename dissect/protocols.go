package dissect

import (
	"bytes"
)

// other names the protocols that are known by their first bytes.
func other(b []byte) Protocol {
	switch {
	case len(b) >= 5 && b[0] >= 0x14 && b[0] <= 0x17 && b[1] == 3 && b[2] <= 4 && (int(b[3])<<8|int(b[4])) <= 1<<14+2048:
		return ProtocolTLS
	case len(b) >= 4 && b[0] >= 'A' && b[0] <= 'Z':
		for _, verb := range httpBegins {
			if bytes.HasPrefix(b, verb) {
				return ProtocolHTTP
			}
		}
	}
	return ProtocolUnknown
}

var httpBegins = [][]byte{
	[]byte("GET "), []byte("POST "), []byte("PUT "), []byte("HEAD "), []byte("DELETE "), []byte("OPTIONS "),
	[]byte("PATCH "), []byte("CONNECT "), []byte("TRACE "), []byte("HTTP/"), []byte("PRI * HTTP/2"),
}
