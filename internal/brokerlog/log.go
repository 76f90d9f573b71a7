package brokerlog

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Request is one line of a broker's log.
type Request struct {
	Client     string // address and port
	APIKey     int16
	APIVersion int16
	ID         int32
	ClientID   *string // nil is null
	Forwarded  bool    // it came in an Envelope, with the connection of that

	Request  Value // null where the log does not have it
	Response Value
}

// String names the request.
func (r *Request) String() string {
	id := "null"
	if r.ClientID != nil {
		id = strconv.Quote(*r.ClientID)
	}
	return fmt.Sprintf("key %d v%d #%d of %s (client id %s)", r.APIKey, r.APIVersion, r.ID, r.Client, id)
}

// ReadJSON reads a log of JSON lines.
func ReadJSON(path string) ([]Request, error) {
	return read(path, func(line []byte) (Request, error) {
		v, err := ParseJSON(line)
		if err != nil {
			return Request{}, err
		}
		return FromLine(&v)
	})
}

// ReadText reads a log of text lines, of Kafka 0.8 to 0.10.
func ReadText(path string) ([]Request, error) {
	return read(path, func(line []byte) (Request, error) { return parseText(string(line)) })
}

func read(path string, parse func([]byte) (Request, error)) ([]Request, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var all []Request
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		q, err := parse(s.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		all = append(all, q)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// FromLine takes the members of a line of the log, or of ours, which has the same.
func FromLine(v *Value) (r Request, err error) {
	if h, ok := v.Member("requestHeader"); ok && h.Kind == Object {
		for i, name := range h.Names {
			m := &h.Items[i]
			switch name {
			case "requestApiKey":
				r.APIKey, err = number[int16](m, 16, err)
			case "requestApiVersion":
				r.APIVersion, err = number[int16](m, 16, err)
			case "correlationId":
				r.ID, err = number[int32](m, 32, err)
			case "clientId":
				if m.Kind == String {
					r.ClientID = &m.Text
				}
			}
		}
	}
	if c, ok := v.Member("connection"); ok {
		r.Client = clientOf(c.Text)
	}
	if f, ok := v.Member("isForwarded"); ok {
		r.Forwarded = f.Text == "true"
	}
	if q, ok := v.Member("request"); ok {
		r.Request = *q
	}
	if a, ok := v.Member("response"); ok {
		r.Response = *a
	}
	return r, err
}

func number[T int16 | int32](v *Value, bits int, before error) (T, error) {
	n, err := strconv.ParseInt(v.Text, 10, bits)
	if before != nil {
		err = before
	}
	return T(n), err
}

// clientOf returns the client of "SERVER:PORT-CLIENT:PORT[-n-m]".
func clientOf(connection string) string {
	if parts := strings.Split(connection, "-"); len(parts) > 1 {
		return parts[1]
	}
	return connection
}
