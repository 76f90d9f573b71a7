package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
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

// countPackets returns how many packets a capture in the format of pcap has, little-endian as they
// are made here.
func countPackets(path string) (n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	if _, err := r.Discard(24); err != nil {
		return 0, err
	}
	for {
		head, err := r.Peek(16)
		if err == io.EOF && len(head) == 0 {
			return n, nil
		} else if err != nil {
			return 0, err
		}
		if _, err := r.Discard(16 + int(binary.LittleEndian.Uint32(head[8:]))); err != nil {
			return 0, err
		}
		n++
	}
}
