package livetest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inject sends the frames of a file, one a line in hex, on an interface.
func inject(iface, file string) error {
	in, err := net.InterfaceByName(iface)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	for line := range strings.Lines(string(text)) {
		frame, err := hex.DecodeString(strings.TrimSpace(line))
		if err != nil {
			return err
		}
		if err := syscall.Sendto(fd, frame, 0, &syscall.SockaddrLinklayer{Ifindex: in.Index}); err != nil {
			return fmt.Errorf("frame of %d bytes: %w", len(frame), err)
		}
	}
	return nil
}

// frames returns those of a capture file in the classic format, of Ethernet.
func frames(t *testing.T, name string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, uint32(1), binary.LittleEndian.Uint32(b[20:]), "link type")
	var all [][]byte
	for b = b[24:]; len(b) > 0; {
		n := binary.LittleEndian.Uint32(b[8:])
		all = append(all, b[16:16+n])
		b = b[16+n:]
	}
	return all
}

// tag puts a VLAN tag of that type into a frame.
func tag(kind uint16, frame []byte) []byte {
	b := append([]byte(nil), frame[:12]...)
	b = binary.BigEndian.AppendUint16(b, kind)
	b = binary.BigEndian.AppendUint16(b, 5)
	return append(b, frame[12:]...)
}

// fragments splits the IPv4 datagram of a frame into pieces of 64 bytes.
func fragments(number int, frame []byte) [][]byte {
	const header, size = 14 + 20, 64
	payload := frame[header:]
	total := int(binary.BigEndian.Uint16(frame[16:])) - 20
	payload = payload[:total] // without padding
	var all [][]byte
	for off := 0; off < len(payload); off += size {
		piece := payload[off:min(off+size, len(payload))]
		b := append([]byte(nil), frame[:header]...)
		field := uint16(off / 8)
		if off+size < len(payload) {
			field |= 0x2000
		}
		binary.BigEndian.PutUint16(b[16:], uint16(20+len(piece)))
		binary.BigEndian.PutUint16(b[18:], uint16(number))
		binary.BigEndian.PutUint16(b[20:], field)
		all = append(all, append(b, piece...))
	}
	return all
}

// TestTagsAndFragments sends a known conversation in VLANs and in fragments past a filter for its
// port: what is shown is the same as of the conversation as it was.
func TestTagsAndFragments(t *testing.T) {
	original := filepath.Join("..", "..", "testdata", "pcaps", "consumer-group-describe.pcap")
	plain := frames(t, original)
	times := regexp.MustCompile(`"totalTimeMs":[0-9.]+,`)
	for name, change := range map[string]func(int, []byte) [][]byte{
		"plain":     func(_ int, f []byte) [][]byte { return [][]byte{f} },
		"tagged":    func(_ int, f []byte) [][]byte { return [][]byte{tag(0x8100, f)} },
		"two tags":  func(_ int, f []byte) [][]byte { return [][]byte{tag(0x88a8, tag(0x8100, f))} },
		"fragments": fragments,
		"tagged fragments": func(n int, f []byte) (all [][]byte) {
			for _, piece := range fragments(n, f) {
				all = append(all, tag(0x8100, piece))
			}
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachBuild(t, func(t *testing.T, program string) {
				far := newPair(t)
				list := filepath.Join(t.TempDir(), "frames")
				var lines []string
				for i, f := range plain {
					for _, piece := range change(i, f) {
						lines = append(lines, hex.EncodeToString(piece))
					}
				}
				require.NoError(t, os.WriteFile(list, []byte(strings.Join(lines, "\n")), 0o666))
				for _, iface := range []string{nearName, "any"} {
					if name == "two tags" && iface == "any" && program == binaries["libpcap"] {
						continue // libpcap believes the kernel, which hides the second one
					}
					kept := filepath.Join(t.TempDir(), "kept.pcapng")
					l := start(t, program, "-i", iface, "--port", "29092", "-j", "--plain", "-w", kept)
					far.do("inject " + remoteName + " " + list)
					require.Equal(t, 0, l.interrupt(), l.stderr.String())
					want := times.ReplaceAllString(read(t, program, "-j", "--plain", original), "")
					got := times.ReplaceAllString(l.stdout.String(), "")
					assert.Equal(t, strings.Count(want, "\n"), strings.Count(got, "\n"), iface)
					assert.True(t, want == got, "%s: the exchanges differ", iface)
					raw, err := os.ReadFile(kept)
					require.NoError(t, err)
					assert.Equal(t, strings.Contains(name, "tag"), strings.Contains(string(raw), "\x00\x05\x08\x00\x45"), "%s: tags are kept", iface)
				}
			})
		})
	}
}
