package tls

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// KeyFile reads a key log that may still grow. It serves one goroutine.
type KeyFile struct {
	name string
	keys *Keys
	at   int64  // bytes taken in
	buf  []byte // of one read
}

// keyFileRead is how many bytes of a key log are read at a time; a line has to fit.
const keyFileRead = 64 << 10

// NewKeyFile returns a KeyFile that fills keys from the file name.
func NewKeyFile(name string, keys *Keys) *KeyFile { return &KeyFile{name: name, keys: keys} }

// Read takes in what the file has more than at the last call, without a last line that is not
// whole. A file that has become shorter is read from its beginning.
func (f *KeyFile) Read() error { return f.read(false) }

// ReadAll is Read for a file that grows no more: its last line needs no end.
func (f *KeyFile) ReadAll() error { return f.read(true) }

// Poll is Read for a file that may not be there yet.
func (f *KeyFile) Poll() error {
	err := f.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f *KeyFile) read(last bool) error {
	st, err := os.Stat(f.name)
	if err != nil {
		return fmt.Errorf("key log: %w", err)
	}
	if st.Mode().IsRegular() {
		if st.Size() < f.at {
			f.at = 0
		}
		if st.Size() == f.at {
			return nil
		}
	}
	file, err := os.Open(f.name)
	if err != nil {
		return fmt.Errorf("key log: %w", err)
	}
	defer file.Close()
	if f.at > 0 {
		if _, err := file.Seek(f.at, io.SeekStart); err != nil {
			return fmt.Errorf("key log: %w", err)
		}
	}
	if f.buf == nil {
		f.buf = make([]byte, keyFileRead)
	}
	have := 0
	for {
		n, err := file.Read(f.buf[have:])
		have += n
		whole := bytes.LastIndexByte(f.buf[:have], '\n') + 1
		if whole == 0 && have == len(f.buf) || last && err == io.EOF {
			whole = have // no line, or the last one
		}
		f.keys.Add(f.buf[:whole])
		f.at += int64(whole)
		have = copy(f.buf, f.buf[whole:have])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("key log: %s: byte %d: %w", f.name, f.at, err)
		}
	}
}
