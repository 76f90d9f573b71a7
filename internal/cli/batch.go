package cli

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/kdissect/kdissect/dissect/schema"
)

// maxBatchLine bounds a line of JSON.
const maxBatchLine = 512 << 20

// eachLine calls f with every line of the files that are named, or of stdin.
func eachLine(e *env, files []string, f func(line []byte) error) error {
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		r := e.stdin
		if name != "-" {
			file, err := os.Open(name)
			if err != nil {
				return err
			}
			defer file.Close()
			r = file
		}
		if err := linesOf(r, name, f); err != nil {
			return err
		}
	}
	return nil
}

func linesOf(r io.Reader, name string, f func([]byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxBatchLine)
	n := 1
	for ; s.Scan(); n++ {
		if len(s.Bytes()) == 0 {
			continue
		}
		if err := f(s.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n, err)
	}
	return nil
}

// decodeLine is a line that decode --batch takes.
type decodeLine struct {
	Kind       string `json:"kind"`
	Key        int16  `json:"api_key"`
	Name       string `json:"name"`
	Version    int16  `json:"version"`
	Topic      string `json:"topic"`
	Hex        string `json:"hex"`
	BodyOffset int    `json:"body_offset"`
}

// batch answers each line with one. A line that cannot be understood is answered with
// {"error":".."}, so that answers stay beside their questions.
func (d *decoder) batch(files []string) error {
	bad := 0
	err := eachLine(d.e, files, func(line []byte) error {
		var l decodeLine
		err := json.Unmarshal(line, &l)
		d.buf = d.buf[:0]
		if err == nil {
			d.buf, err = d.appendAnswer(d.buf, &l)
		}
		if err != nil {
			bad++
			d.buf = appendError(d.buf[:0], err)
		}
		_, err = d.e.stdout.Write(d.buf)
		return err
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d lines could not be understood; their answers say why", bad)
	}
	return err
}

func appendError(b []byte, err error) []byte {
	text, _ := json.Marshal(err.Error())
	b = append(b, `{"error":`...)
	b = append(b, text...)
	return append(b, '}', '\n')
}

// appendAnswer appends the answer to a line.
func (d *decoder) appendAnswer(b []byte, l *decodeLine) ([]byte, error) {
	buf, err := hex.DecodeString(l.Hex)
	if err != nil {
		return b, fmt.Errorf("hex: %w", err)
	}
	switch {
	case d.f.as.value == "records":
		topic := l.Topic
		if topic == "" {
			topic = d.f.topic
		}
		return d.sets.Append(b, buf, topic), nil
	case l.Kind == schema.Request.String():
		return d.appendFrame(b, l.Kind, d.frames.Request(buf)), nil
	case l.Kind == schema.Response.String():
		return d.appendFrame(b, l.Kind, d.frames.Response(buf, l.Key, l.Version)), nil
	case l.Name == "":
		return b, fmt.Errorf("want a kind (request or response) or a name")
	}
	p := d.catalogue.Data(l.Name, l.Version)
	switch {
	case d.catalogue.DataMessage(l.Name) == nil:
		return b, fmt.Errorf("unknown definition %q", l.Name)
	case p == nil:
		return b, fmt.Errorf("%s has the versions %s, not %s", l.Name, d.catalogue.DataMessage(l.Name).Versions, strconv.Itoa(int(l.Version)))
	case l.BodyOffset < 0 || l.BodyOffset > len(buf):
		return b, fmt.Errorf("body_offset %d of %d bytes", l.BodyOffset, len(buf))
	}
	if r := d.walk.Body(buf, l.BodyOffset, p, nil); !r.Fits() || r.End != len(buf) {
		for _, o := range d.catalogue.OlderData(l.Name, l.Version) {
			if r := d.walk.Body(buf, l.BodyOffset, o, nil); r.Fits() && r.End == len(buf) {
				p = o
			}
		}
	}
	b, _ = d.appendBody(b, buf, l.BodyOffset, p)
	return b, nil
}
