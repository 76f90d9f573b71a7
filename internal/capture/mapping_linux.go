package capture

import (
	"os"

	"golang.org/x/sys/unix"
)

const canMap = true

// mapFile maps a part of f for reading, all pages of it at once.
func mapFile(f *os.File, off int64, length int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), off, length, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_POPULATE)
}

func unmap(b []byte) { _ = unix.Munmap(b) }
