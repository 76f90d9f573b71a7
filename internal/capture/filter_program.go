package capture

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
)

// maxTags is how many VLAN tags in a row are looked behind.
const maxTags = 2

// program writes f for the kernel: as cBPF, which keeps snap bytes of the packets that pass. With
// ethernet, packets begin with an Ethernet header, else with the network layer's, whose protocol
// the kernel tells. dropEchoes has the outgoing copies of loopback's packets dropped, which come
// in as well.
//
// The kernel takes the outermost VLAN tag off before the program sees a packet, whatever its
// interface; further ones are in the packet.
func (f LiveFilter) program(ethernet, dropEchoes bool, snap int) ([]bpf.RawInstruction, error) {
	var p filterProgram
	if dropEchoes {
		p.emit(bpf.LoadExtension{Num: bpf.ExtType})
		p.unless(bpf.JumpEqual, packetOutgoing, "network")
		p.emit(bpf.LoadExtension{Num: extHardwareType})
		p.when(bpf.JumpEqual, hardwareLoopback, "reject")
		p.label("network")
	}
	base := uint32(0)
	if ethernet {
		base = 14
		p.emit(bpf.LoadAbsolute{Off: 12, Size: 2})
	} else {
		p.emit(bpf.LoadExtension{Num: bpf.ExtProto})
	}
	// X and scratch 0 hold where the network layer begins.
	for tag := range uint32(maxTags + 1) {
		at := base + 4*tag
		next := string(rune('a' + tag))
		p.emit(bpf.LoadConstant{Dst: bpf.RegX, Val: at})
		if tag == maxTags {
			break
		}
		for _, kind := range []uint32{etherVLAN, etherVLANService, etherVLAN9100, etherVLAN9200} {
			p.when(bpf.JumpEqual, kind, next)
		}
		p.jump("untagged")
		p.label(next)
		p.emit(bpf.LoadAbsolute{Off: at + 2, Size: 2})
	}
	p.label("untagged")
	p.emit(bpf.StoreScratch{Src: bpf.RegX, N: 0})
	p.when(bpf.JumpEqual, etherIPv4, "ipv4")
	p.when(bpf.JumpEqual, etherIPv6, "ipv6")
	for _, tunnel := range []uint32{etherMPLS, etherMPLSMulti, etherPPPoE} {
		p.when(bpf.JumpEqual, tunnel, "accept")
	}
	p.jump("reject")

	p.label("ipv4")
	p.emit(bpf.LoadIndirect{Off: 9, Size: 1})
	p.emit(bpf.StoreScratch{Src: bpf.RegA, N: 1})
	for _, tunnel := range []uint32{protoIPv4, protoIPv6, protoGRE, protoAH, protoMPLS} {
		p.when(bpf.JumpEqual, tunnel, "accept")
	}
	p.emit(bpf.LoadIndirect{Off: 6, Size: 2})
	p.when(bpf.JumpBitsSet, 0x1fff, "ipv4 fragment")
	p.emit(bpf.LoadIndirect{Off: 0, Size: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf},
		bpf.ALUOpConstant{Op: bpf.ALUOpMul, Val: 4},
		bpf.ALUOpX{Op: bpf.ALUOpAdd},
		bpf.TAX{},
		bpf.LoadScratch{Dst: bpf.RegA, N: 1})
	p.transport(f.Ports, "ipv4 hosts")
	p.label("ipv4 fragment")
	p.emit(bpf.LoadScratch{Dst: bpf.RegA, N: 1})
	p.unless(bpf.JumpEqual, protoTCP, "reject")
	p.label("ipv4 hosts")
	p.hosts(f, 12, 4)

	p.label("ipv6")
	p.emit(bpf.LoadIndirect{Off: 6, Size: 1})
	for _, extension := range []uint32{protoHopByHop, protoRouting, protoFragment, protoAH, protoDestination} {
		p.when(bpf.JumpEqual, extension, "ipv6 hosts")
	}
	for _, tunnel := range []uint32{protoIPv4, protoIPv6, protoGRE, protoMPLS} {
		p.when(bpf.JumpEqual, tunnel, "accept")
	}
	p.emit(bpf.StoreScratch{Src: bpf.RegA, N: 1},
		bpf.TXA{},
		bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: 40},
		bpf.TAX{},
		bpf.LoadScratch{Dst: bpf.RegA, N: 1})
	p.transport(f.Ports, "ipv6 hosts")
	p.label("ipv6 hosts")
	p.hosts(f, 8, 16)

	p.label("accept")
	p.emit(bpf.RetConstant{Val: uint32(snap)})
	p.label("reject")
	p.emit(bpf.RetConstant{Val: 0})
	return bpf.Assemble(p.resolved())
}

// Numbers of linux/if_packet.h, if_arp.h and filter.h.
const (
	packetOutgoing   = 4
	hardwareLoopback = 772
	extHardwareType  = 28
)

// filterProgram is a program with labels. Those of conditions may be any distance away.
type filterProgram struct {
	code   []bpf.Instruction
	labels map[string]int
	jumps  map[int]string // by index of a bpf.Jump
}

func (p *filterProgram) emit(code ...bpf.Instruction) { p.code = append(p.code, code...) }

func (p *filterProgram) label(name string) {
	if p.labels == nil {
		p.labels = map[string]int{}
	}
	p.labels[name] = len(p.code)
}

func (p *filterProgram) jump(name string) {
	if p.jumps == nil {
		p.jumps = map[int]string{}
	}
	p.jumps[len(p.code)] = name
	p.emit(bpf.Jump{})
}

// when goes to the label if the condition holds for A.
func (p *filterProgram) when(cond bpf.JumpTest, val uint32, name string) {
	p.emit(bpf.JumpIf{Cond: cond, Val: val, SkipFalse: 1})
	p.jump(name)
}

// unless goes to the label if the condition does not hold for A.
func (p *filterProgram) unless(cond bpf.JumpTest, val uint32, name string) {
	p.emit(bpf.JumpIf{Cond: cond, Val: val, SkipTrue: 1})
	p.jump(name)
}

// transport tests the header that X points to, of the protocol in A: TCP on one of the ports goes
// on at the label.
func (p *filterProgram) transport(ports []uint16, selected string) {
	udp, tcp := selected+" udp", selected+" tcp"
	p.when(bpf.JumpEqual, protoUDP, udp)
	p.when(bpf.JumpEqual, protoTCP, tcp)
	p.jump("reject")
	p.label(udp)
	p.emit(bpf.LoadIndirect{Off: 2, Size: 2})
	for _, tunnel := range []uint32{portVXLAN, portVXLANLinux, portGeneve} {
		p.when(bpf.JumpEqual, tunnel, "accept")
	}
	p.jump("reject")
	p.label(tcp)
	if len(ports) == 0 {
		p.jump(selected)
		return
	}
	for side := range uint32(2) {
		p.emit(bpf.LoadIndirect{Off: 2 * side, Size: 2})
		for _, port := range ports {
			p.when(bpf.JumpEqual, uint32(port), selected)
		}
	}
	p.jump("reject")
}

// hosts accepts a packet from or to one of the hosts, and rejects others. Its source address of
// size bytes stands at off, the destination behind it.
func (p *filterProgram) hosts(f LiveFilter, off, size uint32) {
	if len(f.Hosts) == 0 {
		p.jump("accept")
		return
	}
	p.emit(bpf.LoadScratch{Dst: bpf.RegX, N: 0}) // transport has moved X
	for n, host := range f.Hosts {
		addr := host.Unmap().AsSlice()
		if len(addr) != int(size) {
			continue
		}
		for side := range uint32(2) {
			next := string(rune('0'+size)) + string(rune('0'+side)) + string(rune(n))
			for word := uint32(0); word < size; word += 4 {
				p.emit(bpf.LoadIndirect{Off: off + side*size + word, Size: 4})
				p.unless(bpf.JumpEqual, binary.BigEndian.Uint32(addr[word:]), next)
			}
			p.jump("accept")
			p.label(next)
		}
	}
	p.jump("reject")
}

// resolved returns the program with its jumps filled in.
func (p *filterProgram) resolved() []bpf.Instruction {
	for at, name := range p.jumps {
		p.code[at] = bpf.Jump{Skip: uint32(p.labels[name] - at - 1)}
	}
	return p.code
}
