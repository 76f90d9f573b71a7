package cli

import (
	"sync/atomic"
	"syscall"
)

// largePages asks the kernel to map memory in large pages where that is left to programs: a page
// of 2 MiB is mapped at once, where 512 small ones interrupt the program each, and is one entry
// of the processor's table of pages, which the memory of many connections does not fit in else. It
// is a matter of speed alone.
type largePages struct{ last atomic.Uintptr }

const (
	// heapPiece is what the Go runtime has its heap grow by, at multiples of it: what else lies in
	// the piece is mapped in large pages with what is asked for.
	heapPiece = 4 << 20

	adviseHugePage = 14 // MADV_HUGEPAGE
)

// want asks for memory that is about to be used.
func (l *largePages) want(address, size uintptr) {
	from := address &^ (heapPiece - 1)
	if l.last.Swap(from) == from && address+size <= from+heapPiece {
		return
	}
	to := (address + size + heapPiece - 1) &^ (heapPiece - 1)
	// What the kernel answers changes nothing: it may not know of them.
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, adviseHugePage)
}
