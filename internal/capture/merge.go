package capture

import (
	"container/heap"
	"io"
)

// head is a capture file with its next packet, in the order of merging. A file that lies ahead
// in time is closed (file is nil) until its first packet's turn comes, so that a long row of
// rotated files costs neither memory nor file descriptors.
type head struct {
	index int
	time  int64 // of the next packet
	file  *file
	pkt   Packet
}

func (h *head) shut() {
	if h.file != nil {
		h.file.close()
		h.file = nil
	}
}

// heads is a heap by time, then by order of names.
type heads []*head

func (h heads) Len() int { return len(h) }
func (h heads) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].index < h[j].index
}
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *heads) Push(x any) { *h = append(*h, x.(*head)) }

// Pop implements heap.Interface.
func (h *heads) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return x
}

// add opens a file for the first time.
func (r *Reader) add(index int, name string) error {
	several := len(r.names) > 1
	f, size, regular, err := r.openFile(index, several)
	if err != nil {
		return err
	}
	if size < 0 || r.total < 0 {
		r.total = -1
	} else {
		r.total += size
	}
	h := &head{index: index, file: f}
	if several {
		switch err := f.next(&h.pkt); {
		case err == io.EOF && !regular:
			h.shut()
			return nil
		case err != nil && err != io.EOF:
			h.shut()
			return err
		}
		h.time = h.pkt.Time
		if regular {
			h.shut()
		}
	}
	heap.Push(&r.heads, h)
	return nil
}

// advance moves the first file on to its next packet.
func (r *Reader) advance() error {
	h := r.heads[0]
	switch err := h.file.next(&h.pkt); {
	case err == io.EOF:
		h.shut()
		heap.Pop(&r.heads)
	case err != nil:
		return err
	default:
		h.time = h.pkt.Time
		heap.Fix(&r.heads, 0)
	}
	return nil
}

// wake opens the first file where its turn has come.
func (r *Reader) wake() error {
	for len(r.heads) > 0 && r.heads[0].file == nil {
		f, _, _, err := r.openFile(r.heads[0].index, false)
		if err != nil {
			return err
		}
		r.heads[0].file = f
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}
