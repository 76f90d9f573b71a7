package main

import (
	"bytes"
	"errors"
	"io"
)

// countLines counts the lines of r.
func countLines(r io.Reader) (int64, error) {
	buf := make([]byte, 64<<10)
	n := int64(0)
	for {
		got, err := r.Read(buf)
		n += int64(bytes.Count(buf[:got], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}
