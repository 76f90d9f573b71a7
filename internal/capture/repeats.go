package capture

import (
	"encoding/binary"
	"hash/maphash"
)

const (
	// repeatWithin is how long, in nanoseconds, a packet takes from one interface of the host to
	// the next; less than the least time after which TCP sends again.
	repeatWithin = 100e6
	repeatSlots  = 8192
)

// repeats finds packets that were seen before on another interface: a packet to a container, say,
// passes the host's interface, a bridge and one end of a pair. Copies have the same addresses,
// identification and TCP header; what is sent again has not.
type repeats struct {
	seed  maphash.Seed
	slots []repeatSlot
	key   []byte
}

type repeatSlot struct {
	sum  uint64
	time int64
}

func newRepeats() *repeats {
	return &repeats{seed: maphash.MakeSeed(), slots: make([]repeatSlot, repeatSlots)}
}

// seen reports whether a is a copy of a packet seen a moment ago.
func (r *repeats) seen(a *arrival, link LinkType) bool {
	if !r.identify(a, link) {
		return false
	}
	sum := maphash.Bytes(r.seed, r.key)
	s := &r.slots[sum%repeatSlots]
	age := a.time - s.time
	if s.sum == sum && age > -repeatWithin && age < repeatWithin {
		return true
	}
	*s = repeatSlot{sum, a.time}
	return false
}

// identify sets key to what the copies of a packet share, and reports whether there is enough of
// it: hop count and checksums are left out, which routers and devices change.
func (r *repeats) identify(a *arrival, link LinkType) bool {
	at, kind := 0, 0
	switch link {
	case LinkEthernet:
		at, kind = 14, a.be16(12)
	case LinkLinuxSLL2:
		at, kind = 20, a.be16(0)
	case LinkLinuxSLL:
		at, kind = 16, a.be16(14)
	default:
		return false
	}
	for kind == etherVLAN || kind == etherVLANService {
		kind = a.be16(at + 2)
		at += 4
	}
	r.key = r.key[:0]
	transport := 0
	switch kind {
	case etherIPv4:
		header := int(a.at(at)&0xf) * 4
		if header < 20 || a.at(at+9) != protoTCP {
			return false
		}
		r.add(a, at+2, 6) // length, identification, fragment
		r.add(a, at+12, 8)
		transport = at + header
	case etherIPv6:
		if a.at(at+6) != protoTCP {
			return false
		}
		r.add(a, at+1, 5) // flow label, length
		r.add(a, at+8, 32)
		transport = at + 40
	default:
		return false
	}
	before := len(r.key)
	r.add(a, transport, 16)    // up to the window
	r.add(a, transport+20, 12) // where time stamps stand
	return len(r.key)-before >= 16
}

// add appends n bytes of a from off on, or what there is of them.
func (r *repeats) add(a *arrival, off, n int) {
	for i := off; i < off+n && i < len(a.head)+len(a.tail); i++ {
		r.key = append(r.key, a.at(i))
	}
}

// at returns the captured byte at off, 0 where there is none.
func (a *arrival) at(off int) byte {
	if off < len(a.head) {
		return a.head[off]
	}
	if off -= len(a.head); off < len(a.tail) {
		return a.tail[off]
	}
	return 0
}

func (a *arrival) be16(off int) int {
	return int(binary.BigEndian.Uint16([]byte{a.at(off), a.at(off + 1)}))
}
