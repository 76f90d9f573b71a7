package tls

import (
	"bytes"
	"encoding/hex"
	"sync"
)

// label is what a secret of TLS 1.2 or 1.3 is for.
type label uint8

const (
	masterSecret label = iota // of TLS 1.2
	clientEarly
	clientHandshake
	serverHandshake
	clientTraffic
	serverTraffic
	labels
)

// words are the labels as they stand in key logs (RFC 9850).
var words = [labels]string{
	"CLIENT_RANDOM", "CLIENT_EARLY_TRAFFIC_SECRET", "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
	"SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0",
}

const (
	masterSize = 48
	maxSecret  = 64  // bytes; the longest hash in use has 48
	maxLine    = 512 // bytes
)

// MaxConnections is how many connections' secrets Keys holds unless told otherwise; each takes
// about 500 bytes.
const MaxConnections = 50_000

// Keys holds the secrets of key logs. It can be used from several goroutines.
type Keys struct {
	mu       sync.Mutex
	limit    int
	random   map[[32]byte]*[labels][]byte
	session  map[string][]byte // master secrets by session id
	oldest   []known           // in the order of their coming, from next on in a ring
	next     int
	dropped  int64
	mistakes int64
}

// known is what an entry is found by: a client random, or else a session id.
type known struct {
	random  [32]byte
	session string
}

// NewKeys returns a Keys that holds the secrets of the latest limit connections; 0 is
// MaxConnections.
func NewKeys(limit int) *Keys {
	if limit <= 0 {
		limit = MaxConnections
	}
	return &Keys{limit: limit, random: map[[32]byte]*[labels][]byte{}, session: map[string][]byte{}}
}

// Add takes in the lines of text: a whole key log or whole lines of one. Comments, empty lines
// and labels of no use here are passed over, as is what is no line of a key log.
func (k *Keys) Add(text []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for line := range bytes.Lines(text) {
		k.line(bytes.TrimSpace(line))
	}
}

// Len returns of how many connections secrets are held.
func (k *Keys) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.random) + len(k.session)
}

// Dropped returns of how many connections secrets were dropped for newer ones.
func (k *Keys) Dropped() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dropped
}

// Mistakes returns how many lines were neither secrets nor comments.
func (k *Keys) Mistakes() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mistakes
}

func (k *Keys) line(line []byte) {
	if len(line) == 0 || line[0] == '#' {
		return
	}
	if len(line) > maxLine {
		k.mistakes++
		return
	}
	word, rest, _ := bytes.Cut(line, []byte(" "))
	if string(word) == "RSA" {
		k.sessionLine(rest)
		return
	}
	first, second, _ := bytes.Cut(rest, []byte(" "))
	random, ok := unhex(first, 32, 32)
	secret, ok2 := unhex(bytes.TrimSpace(second), 1, maxSecret)
	if !ok || !ok2 {
		k.mistakes++
		return
	}
	for l, w := range words {
		if string(word) == w {
			if label(l) == masterSecret && len(secret) != masterSize {
				k.mistakes++
				return
			}
			k.put([32]byte(random), label(l), secret)
			return
		}
	}
}

// sessionLine reads what follows RSA in "RSA Session-ID:.. Master-Key:..". The older form, with
// an encrypted premaster secret, is of no use here.
func (k *Keys) sessionLine(rest []byte) {
	id, ok := bytes.CutPrefix(rest, []byte("Session-ID:"))
	if !ok {
		return
	}
	id, master, _ := bytes.Cut(id, []byte(" "))
	master, named := bytes.CutPrefix(master, []byte("Master-Key:"))
	session, ok := unhex(id, 1, 32)
	secret, ok2 := unhex(master, masterSize, masterSize)
	if !named || !ok || !ok2 {
		k.mistakes++
		return
	}
	if _, had := k.session[string(session)]; !had {
		k.enter(known{session: string(session)})
	}
	k.session[string(session)] = secret
}

func (k *Keys) put(random [32]byte, l label, secret []byte) {
	s := k.random[random]
	if s == nil {
		k.enter(known{random: random})
		s = new([labels][]byte)
		k.random[random] = s
	}
	s[l] = secret
}

// enter makes room for a new entry and notes it as the latest.
func (k *Keys) enter(e known) {
	if len(k.oldest) < k.limit {
		k.oldest = append(k.oldest, e)
		return
	}
	old := &k.oldest[k.next]
	if old.session != "" {
		delete(k.session, old.session)
	} else {
		delete(k.random, old.random)
	}
	*old = e
	k.next = (k.next + 1) % k.limit
	k.dropped++
}

// secret returns a secret of the connection with that client random, or nil.
func (k *Keys) secret(random *[32]byte, l label) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.random[*random]; s != nil {
		return s[l]
	}
	return nil
}

// resumable returns the master secret of a session of TLS 1.2, or nil.
func (k *Keys) resumable(session []byte) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session[string(session)]
}

// unhex decodes a number of bytes in hex.
func unhex(b []byte, least, most int) ([]byte, bool) {
	if len(b) < 2*least || len(b) > 2*most {
		return nil, false
	}
	out, err := hex.AppendDecode(make([]byte, 0, len(b)/2), b)
	return out, err == nil
}
