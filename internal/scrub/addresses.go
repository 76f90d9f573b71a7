package scrub

import "encoding/binary"

// addresses replaces IP and MAC addresses: IPv4 by such of 10.0.0.0/8, IPv6 by such of
// fd00::/8, MAC by locally administered ones. Different ones stay different.
type addresses struct {
	from  *standIns
	four  map[[4]byte][4]byte
	taken map[[4]byte]bool
	six   map[[16]byte][16]byte
	mac   map[[6]byte][6]byte
}

func newAddresses(s *standIns) addresses {
	return addresses{
		from: s, four: map[[4]byte][4]byte{}, taken: map[[4]byte]bool{},
		six: map[[16]byte][16]byte{}, mac: map[[6]byte][6]byte{},
	}
}

// bytes replaces an IP address.
func (a *addresses) bytes(b []byte) {
	switch len(b) {
	case 4:
		a.ipv4(b)
	case 16:
		a.ipv6(b)
	default:
		a.from.data(b)
	}
}

func (a *addresses) ipv4(b []byte) {
	key := [4]byte(b)
	if key == [4]byte{} {
		return
	}
	now, known := a.four[key]
	for try := 0; !known; try++ {
		a.from.start(formAddress, b, byte(try))
		now = [4]byte{10, a.from.next(), a.from.next(), a.from.next()}
		if try < 256 && (a.taken[now] || now == key) {
			continue
		}
		a.four[key], a.taken[now] = now, true
		break
	}
	copy(b, now[:])
}

func (a *addresses) ipv6(b []byte) {
	key := [16]byte(b)
	if key == [16]byte{} {
		return
	}
	now, known := a.six[key]
	if !known {
		if binary.BigEndian.Uint64(b) == 0 && binary.BigEndian.Uint32(b[8:]) == 0xffff { // IPv4-mapped
			now = key
			a.ipv4(now[12:])
		} else {
			a.from.start(formAddress, b, 0)
			now[0] = 0xfd
			for i := range now[1:] {
				now[1+i] = a.from.next()
			}
		}
		a.six[key] = now
	}
	copy(b, now[:])
}

// hardware replaces a MAC address; those of groups and zero, which loopback has, are kept.
func (a *addresses) hardware(b []byte) {
	key := [6]byte(b)
	if key == [6]byte{} || key[0]&1 != 0 {
		return
	}
	now, known := a.mac[key]
	if !known {
		a.from.start(formAddress, b, 0)
		now[0] = 0x02
		for i := range now[1:] {
			now[1+i] = a.from.next()
		}
		a.mac[key] = now
	}
	copy(b, now[:])
}
