package reassembly

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// hashTable finds connections by their addresses: open addressing with linear probing. A slot is
// the hash, whose top bits are the place where it belongs, and the index of the connection; 0 is
// an empty one. It knows nothing of what it finds: the caller compares.
type hashTable struct {
	seed  [3]uint64 // secret, lest a sender choose addresses that collide
	slots []uint64
	shift int // of a hash, to its place
	n     int
}

const (
	minSlots    = 256
	pageOfSlots = 4096 / 8
)

func newHashTable() hashTable {
	t := hashTable{seed: [3]uint64{rand.Uint64(), rand.Uint64(), rand.Uint64()}}
	t.resize(minSlots)
	return t
}

// hash returns the same for both directions of a connection.
func (t *hashTable) hash(f *Flow) uint32 {
	return uint32(fold(t.mix(&f.Src)+t.mix(&f.Dst), t.seed[2]) >> 32)
}

func (t *hashTable) mix(e *Endpoint) uint64 {
	high, low := binary.LittleEndian.Uint64(e.IP[:]), binary.LittleEndian.Uint64(e.IP[8:])
	return fold(fold(high^t.seed[0], low^t.seed[1])^uint64(e.Port), t.seed[2])
}

func fold(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return high ^ low
}

func slot(hash uint32, i index) uint64 { return uint64(hash)<<32 | uint64(i) }

func (t *hashTable) place(hash uint32) int { return int(hash >> t.shift) }

// probe is a walk over the connections that a hash may stand for.
type probe struct {
	hash uint32
	at   int
}

func (t *hashTable) probe(hash uint32) probe { return probe{hash, t.place(hash)} }

// next returns the next one, or 0.
func (p *probe) next(t *hashTable) index {
	for {
		s := t.slots[p.at]
		if s == 0 {
			return 0
		}
		p.at = (p.at + 1) & (len(t.slots) - 1)
		if uint32(s>>32) == p.hash {
			return index(s)
		}
	}
}

func (t *hashTable) add(hash uint32, i index) {
	if t.n++; t.n > len(t.slots)/2 {
		t.resize(2 * len(t.slots))
	}
	t.put(slot(hash, i))
}

func (t *hashTable) put(s uint64) {
	at := t.place(uint32(s >> 32))
	for t.slots[at] != 0 {
		at = (at + 1) & (len(t.slots) - 1)
	}
	t.slots[at] = s
}

func (t *hashTable) remove(hash uint32, i index) {
	mask := len(t.slots) - 1
	at := t.place(hash)
	for t.slots[at] != slot(hash, i) {
		if t.slots[at] == 0 {
			return
		}
		at = (at + 1) & mask
	}
	t.n--
	// Those behind it that would not be found across an empty slot move up.
	for next := (at + 1) & mask; t.slots[next] != 0; next = (next + 1) & mask {
		home := t.place(uint32(t.slots[next] >> 32))
		if (next-home)&mask >= (next-at)&mask {
			t.slots[at] = t.slots[next]
			at = next
		}
	}
	t.slots[at] = 0
}

// replace puts b in the place of a.
func (t *hashTable) replace(hash uint32, a, b index) {
	at := t.place(hash)
	for t.slots[at] != slot(hash, a) {
		at = (at + 1) & (len(t.slots) - 1)
	}
	t.slots[at] = slot(hash, b)
}

func (t *hashTable) resize(n int) {
	old := t.slots
	t.slots, t.shift = make([]uint64, n), 32-bits.Len(uint(n-1))
	// Memory that is read before it is written to is mapped twice, and the second time interrupts
	// all processors: so each page is written to first.
	for i := 0; i < n; i += pageOfSlots {
		t.slots[i] = 0
	}
	for _, s := range old {
		if s != 0 {
			t.put(s)
		}
	}
}
