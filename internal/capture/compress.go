package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// decompressed returns the plain bytes of src, which is gzip- or zstd-compressed where its first
// bytes say so, and a function that frees what it needs. Bytes come out as they arrive.
func decompressed(src io.Reader, maxWindow int) (io.Reader, func(), error) {
	head := make([]byte, 6)
	n, err := io.ReadFull(src, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, nil, err
	}
	whole := &prefixed{head: head[:n], rest: src}
	nothing := func() {}
	switch kind := compression(head[:n]); kind {
	case "":
		return whole, nothing, nil
	case "gzip":
		z, err := gzip.NewReader(&byteReader{src: whole})
		if err != nil {
			return nil, nil, fmt.Errorf("gzip: %w", err)
		}
		return z, nothing, nil
	case "zstd":
		z, err := zstd.NewReader(&byteReader{src: whole}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(maxWindow)))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd: %w", err)
		}
		return z, z.Close, nil
	default:
		return nil, nil, fmt.Errorf("%w: it is %s-compressed; decompress it first", ErrFormat, kind)
	}
}

// compression names the compression whose magic number head begins with, or "".
func compression(head []byte) string {
	for _, m := range []struct{ name, magic string }{
		{"gzip", "\x1f\x8b"},
		{"zstd", "\x28\xb5\x2f\xfd"},
		{"lz4", "\x04\x22\x4d\x18"},
		{"bzip2", "BZh"},
		{"xz", "\xfd7zXZ\x00"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.name
		}
	}
	// A skippable frame of zstd, as parallel compressors write first.
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18 {
		return "zstd"
	}
	return ""
}

// prefixed gives head, then rest. Unlike io.MultiReader it never waits for rest's end.
type prefixed struct {
	head []byte
	rest io.Reader
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.rest.Read(b)
}

// byteReader buffers src for a decompressor that reads it in small pieces.
type byteReader struct {
	src  io.Reader
	buf  [64 << 10]byte
	r, n int
	err  error
}

func (b *byteReader) fill() error {
	for b.r == b.n {
		if b.err != nil {
			return b.err
		}
		b.r, b.n = 0, 0
		b.n, b.err = b.src.Read(b.buf[:])
	}
	return nil
}

func (b *byteReader) Read(p []byte) (int, error) {
	if err := b.fill(); err != nil {
		return 0, err
	}
	n := copy(p, b.buf[b.r:b.n])
	b.r += n
	return n, nil
}

func (b *byteReader) ReadByte() (byte, error) {
	if err := b.fill(); err != nil {
		return 0, err
	}
	c := b.buf[b.r]
	b.r++
	return c, nil
}

// damaged tells a fault of the compressed bytes from one of the medium or an interruption.
func damaged(err error) bool {
	var medium *readError
	return !errors.As(err, &medium)
}
