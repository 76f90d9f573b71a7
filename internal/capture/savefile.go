package capture

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SaveOptions say how a Savefile is written.
type SaveOptions struct {
	Size        int64         // bytes after which a new file is begun; 0: never
	Every       time.Duration // of capture time, after which a new file is begun; 0: never
	Keep        int           // files to keep, the oldest being removed; 0: all
	Application string        // that writes it, for the file's header; "" is not told
}

// Savefile writes captured packets to a pcapng file, or to a row of them.
type Savefile struct {
	name       string
	opts       SaveOptions
	interfaces []LiveInterface
	file       *os.File
	w          *bufio.Writer
	written    int64 // bytes of this file
	began      int64 // time of its first packet
	packets    int64 // in it
	count      int   // files so far
	kept       []string
	scratch    []byte
}

// NewSavefile begins the file of that name. With opts.Size or opts.Every, numbers stand behind
// its base name: capture.pcapng becomes capture-00001.pcapng and so on. What was in a file of
// that name before is lost. Only the owner may read it, since it holds what clients sent.
func NewSavefile(name string, opts SaveOptions, interfaces []LiveInterface) (*Savefile, error) {
	s := &Savefile{name: name, opts: opts, interfaces: interfaces}
	return s, s.begin()
}

func (s *Savefile) rotates() bool { return s.opts.Size > 0 || s.opts.Every > 0 }

// begin begins the next file.
func (s *Savefile) begin() error {
	s.count++
	name := s.name
	if s.rotates() {
		ext := filepath.Ext(name)
		name = fmt.Sprintf("%s-%05d%s", strings.TrimSuffix(name, ext), s.count, ext)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	s.file, s.written, s.packets = f, 0, 0
	s.w = bufio.NewWriterSize(f, 256<<10)
	s.kept = append(s.kept, name)
	if s.opts.Keep > 0 && len(s.kept) > s.opts.Keep {
		if err := os.Remove(s.kept[0]); err != nil && !os.IsNotExist(err) {
			return err
		}
		s.kept = s.kept[1:]
	}
	return s.header()
}

// Files returns how many files were begun.
func (s *Savefile) Files() int { return s.count }

// Options of pcapng blocks.
const (
	optEnd           = 0
	optApplication   = 4 // of a section
	optName          = 2 // of an interface
	optResolution    = 9
	optNanoseconds   = 9 // value of optResolution
	sectionUnlimited = 1<<64 - 1
)

// header writes the section header and the interfaces' descriptions.
func (s *Savefile) header() error {
	b := binary.LittleEndian.AppendUint32(nil, byteOrderMagic)
	b = binary.LittleEndian.AppendUint16(b, 1) // version 1.0
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint64(b, sectionUnlimited)
	if s.opts.Application != "" {
		b = appendOption(b, optApplication, []byte(s.opts.Application))
		b = appendOption(b, optEnd, nil)
	}
	if err := s.block(blockSection, b, nil, nil); err != nil {
		return err
	}
	for _, in := range s.interfaces {
		b = binary.LittleEndian.AppendUint16(b[:0], uint16(in.Link))
		b = binary.LittleEndian.AppendUint16(b, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(in.SnapLen))
		b = appendOption(b, optName, []byte(in.Name))
		b = appendOption(b, optResolution, []byte{optNanoseconds})
		b = appendOption(b, optEnd, nil)
		if err := s.block(blockInterface, b, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func appendOption(b []byte, code uint16, value []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	return append(b, zeros[:-len(value)&3]...)
}

var zeros [4]byte

// block writes a block whose body comes in three parts, and pads it.
func (s *Savefile) block(kind uint32, body, head, tail []byte) error {
	n := len(body) + len(head) + len(tail)
	pad := -n & 3
	length := uint32(12 + n + pad)
	var fixed [8]byte
	binary.LittleEndian.PutUint32(fixed[:], kind)
	binary.LittleEndian.PutUint32(fixed[4:], length)
	_, _ = s.w.Write(fixed[:]) // an error of the writer sticks
	_, _ = s.w.Write(body)
	_, _ = s.w.Write(head)
	_, _ = s.w.Write(tail)
	_, _ = s.w.Write(zeros[:pad])
	_, err := s.w.Write(fixed[4:])
	s.written += int64(length)
	return err
}

// packet writes a, into the next file where it is time for that.
func (s *Savefile) packet(a *arrival) error {
	if s.full(a.time) {
		if err := s.Close(); err != nil {
			return err
		}
		if err := s.begin(); err != nil {
			return err
		}
	}
	if s.packets == 0 || a.time < s.began { // the clock may be set back
		s.began = a.time
	}
	s.packets++
	n := len(a.head) + len(a.tail)
	b := binary.LittleEndian.AppendUint32(s.scratch[:0], uint32(a.iface))
	b = binary.LittleEndian.AppendUint32(b, uint32(uint64(a.time)>>32))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.time))
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = binary.LittleEndian.AppendUint32(b, uint32(max(a.wire, n)))
	s.scratch = b
	return s.block(blockEnhanced, b, a.head, a.tail)
}

// full reports whether a packet of that time belongs into another file.
func (s *Savefile) full(time int64) bool {
	return s.packets > 0 &&
		(s.opts.Size > 0 && s.written >= s.opts.Size || s.opts.Every > 0 && time-s.began >= int64(s.opts.Every))
}

// flush writes out what is held back.
func (s *Savefile) flush() error { return s.w.Flush() }

// Close ends the file.
func (s *Savefile) Close() error {
	err := s.w.Flush()
	if closed := s.file.Close(); err == nil {
		err = closed
	}
	return err
}
