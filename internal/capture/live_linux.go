//go:build linux && !libpcap

package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	// ringBlock is the least size of a block of the ring; the largest packet must fit.
	ringBlock = 512 << 10

	// pollFor bounds how long read waits, and with it how long Stop takes.
	pollFor = 50 * time.Millisecond

	cookedHeader = 20
	vlanTag      = 4
)

// ring captures on an interface, or on all, through a buffer that it shares with the kernel:
// AF_PACKET's TPACKET_V3, see packet(7) and the kernel's packet_mmap.rst. Packets of Ethernet and
// loopback interfaces are given whole; on all others, and on any, they get the header of a Linux
// cooked capture, version 2, in place of the one they had.
type ring struct {
	name    string
	index   int // of the interface in the kernel, 0: any
	iface   int // of the interface in LiveOptions
	link    LinkType
	snap    int
	fd      int
	mem     []byte
	size    int // bytes of a block
	blocks  int
	current int
	lost    int64
	down    bool
	scratch [cookedHeader + vlanTag]byte
}

func openDevice(i int, opts *LiveOptions) (device, error) {
	if opts.Expression != "" {
		return nil, fmt.Errorf("%w: %w", ErrFilter, ErrNotBuilt)
	}
	r := &ring{name: opts.Interfaces[i], iface: i, snap: opts.SnapLen, link: LinkLinuxSLL2, fd: -1}
	loopback := true // any has it, too
	if r.name != AnyInterface {
		in, err := net.InterfaceByName(r.name)
		if err != nil {
			return nil, fmt.Errorf("interface %s: %w", r.name, noSuch(err))
		}
		r.index = in.Index
		loopback = in.Flags&net.FlagLoopback != 0
		if in.Flags&net.FlagUp == 0 {
			return nil, fmt.Errorf("interface %s is down", r.name)
		}
		hardware, err := hardwareType(r.name)
		if err != nil {
			return nil, fmt.Errorf("interface %s: %w", r.name, err)
		}
		if hardware == unix.ARPHRD_ETHER || hardware == unix.ARPHRD_LOOPBACK {
			r.link = LinkEthernet
		}
	}
	if err := r.open(opts, loopback); err != nil {
		r.close()
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			err = fmt.Errorf("%w: %w", ErrNoRight, err)
		}
		return nil, fmt.Errorf("interface %s: %w", r.name, err)
	}
	return r, nil
}

// noSuch shortens what net says about a name that no interface has.
func noSuch(err error) error {
	if op := new(net.OpError); errors.As(err, &op) {
		return op.Err
	}
	return err
}

// hardwareType returns the number of if_arp.h for an interface.
func hardwareType(name string) (uint16, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(name)
	if err != nil {
		return 0, err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFHWADDR, req); err != nil {
		return 0, fmt.Errorf("SIOCGIFHWADDR: %w", err)
	}
	return req.Uint16(), nil
}

// open makes the socket, and binds it last: no packet comes by before the filter is in place.
func (r *ring) open(opts *LiveOptions, loopback bool) error {
	kind := unix.SOCK_RAW
	if r.link != LinkEthernet {
		kind = unix.SOCK_DGRAM
	}
	fd, err := unix.Socket(unix.AF_PACKET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("packet socket: %w", err)
	}
	r.fd = fd
	code, err := opts.Filter.program(r.link == LinkEthernet, loopback, r.snap)
	if err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	if err := attach(fd, code); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return fmt.Errorf("PACKET_VERSION: %w", err)
	}
	r.size = ringBlock
	for r.size < opts.SnapLen+4096 {
		r.size *= 2
	}
	r.blocks = max(opts.Buffer/r.size, 2)
	retire := handOver
	if opts.Immediate {
		retire = time.Millisecond // the least there is
	}
	req := unix.TpacketReq3{
		Block_size:     uint32(r.size),
		Block_nr:       uint32(r.blocks),
		Frame_size:     2048, // unused by version 3, but checked
		Frame_nr:       uint32(r.size / 2048 * r.blocks),
		Retire_blk_tov: uint32(retire.Milliseconds()),
	}
	if err := unix.SetsockoptTpacketReq3(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return fmt.Errorf("buffer of %d bytes: %w", r.size*r.blocks, err)
	}
	r.mem, err = unix.Mmap(fd, 0, r.size*r.blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	if opts.Promiscuous && r.index != 0 {
		member := unix.PacketMreq{Ifindex: int32(r.index), Type: unix.PACKET_MR_PROMISC}
		if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &member); err != nil {
			return fmt.Errorf("promiscuous mode: %w", err)
		}
	}
	all := uint16(unix.ETH_P_ALL)
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all<<8 | all>>8, Ifindex: r.index}); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	return nil
}

func attach(fd int, code []bpf.RawInstruction) error {
	filter := make([]unix.SockFilter, len(code))
	for i, c := range code {
		filter[i] = unix.SockFilter{Code: c.Op, Jt: c.Jt, Jf: c.Jf, K: c.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &prog); err != nil {
		return fmt.Errorf("filter of %d instructions: %w", len(filter), err)
	}
	return nil
}

func (r *ring) about() LiveInterface { return LiveInterface{r.name, r.link, r.snap} }

// lag is twice the time that the kernel may fill a block: it looks at it now and then.
func (r *ring) lag() int64 { return 2 * int64(handOver) }

func (r *ring) read(take func(*arrival) error) (quiet bool, err error) {
	if !r.ready() {
		quiet = true
		if err := r.wait(); err != nil {
			return true, err
		}
	}
	// No more than one round, so that Stop is seen.
	for n := 0; n < r.blocks && r.ready(); n++ {
		if err := r.block(take); err != nil {
			return quiet, err
		}
	}
	return quiet, nil
}

func (r *ring) status() *uint32 {
	desc := (*unix.TpacketBlockDesc)(unsafe.Pointer(&r.mem[r.current*r.size]))
	return &(*unix.TpacketHdrV1)(unsafe.Pointer(&desc.Hdr)).Block_status
}

// ready reports whether the kernel has handed over the current block.
func (r *ring) ready() bool { return atomic.LoadUint32(r.status())&unix.TP_STATUS_USER != 0 }

// wait waits for a block.
func (r *ring) wait() error {
	fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, int(pollFor.Milliseconds())); err != nil && err != unix.EINTR {
		return fmt.Errorf("interface %s: poll: %w", r.name, err)
	}
	if fds[0].Revents&unix.POLLERR != 0 {
		code, err := unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		switch {
		case err != nil:
			return fmt.Errorf("interface %s: SO_ERROR: %w", r.name, err)
		case unix.Errno(code) == unix.ENETDOWN:
			r.down = true
		case code != 0:
			return fmt.Errorf("interface %s: %w", r.name, unix.Errno(code))
		}
	}
	if r.down {
		return r.gone()
	}
	return nil
}

// gone tells an interface that is down, and may come up again, from one that is no more.
func (r *ring) gone() error {
	in, err := net.InterfaceByIndex(r.index)
	if err != nil {
		return fmt.Errorf("interface %s has vanished", r.name)
	}
	r.down = in.Flags&net.FlagUp == 0
	return nil
}

// block gives the packets of the current block, and the block back to the kernel.
func (r *ring) block(take func(*arrival) error) error {
	at := r.current * r.size
	mem := r.mem[at : at+r.size]
	desc := (*unix.TpacketBlockDesc)(unsafe.Pointer(&mem[0]))
	header := (*unix.TpacketHdrV1)(unsafe.Pointer(&desc.Hdr))
	off := int(header.Offset_to_first_pkt)
	var a arrival
	var err error
	for range header.Num_pkts {
		h := (*unix.Tpacket3Hdr)(unsafe.Pointer(&mem[off]))
		if r.arrival(mem[off:], h, &a) {
			if err = take(&a); err != nil {
				break
			}
		}
		off += int(h.Next_offset)
	}
	atomic.StoreUint32(&header.Block_status, unix.TP_STATUS_KERNEL)
	r.current = (r.current + 1) % r.blocks
	return err
}

// arrival sets a to the packet whose header h stands in front of b.
func (r *ring) arrival(b []byte, h *unix.Tpacket3Hdr, a *arrival) bool {
	data := b[h.Mac : int(h.Mac)+int(h.Snaplen)]
	a.time = int64(h.Sec)*1e9 + int64(h.Nsec)
	a.iface = r.iface
	a.head, a.tail, a.wire = nil, data, int(h.Len)
	tagged := h.Status&unix.TP_STATUS_VLAN_VALID != 0
	kind := uint16(etherVLAN)
	if h.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
		kind = h.Hv1.Vlan_tpid
	}
	if r.link == LinkLinuxSLL2 {
		r.cook(b, h, a, tagged, kind)
		return true
	}
	if !tagged {
		return true
	}
	if len(data) < 12 {
		return false
	}
	// The tag that the kernel took off stands between the addresses and the type.
	a.head = append(r.scratch[:0], data[:12]...)
	a.head = binary.BigEndian.AppendUint16(a.head, kind)
	a.head = binary.BigEndian.AppendUint16(a.head, uint16(h.Hv1.Vlan_tci))
	a.tail = data[12:]
	a.wire += vlanTag
	return true
}

// cook puts the header of LINKTYPE_LINUX_SLL2 in front of a packet, from the address that stands
// behind h.
func (r *ring) cook(b []byte, h *unix.Tpacket3Hdr, a *arrival, tagged bool, kind uint16) {
	from := (*unix.RawSockaddrLinklayer)(unsafe.Pointer(&b[(unsafe.Sizeof(*h)+15)&^15]))
	head := r.scratch[:cookedHeader]
	clear(head)
	protocol := from.Protocol<<8 | from.Protocol>>8
	if innerTag(a.tail, protocol, int(h.Len)) {
		protocol = etherVLAN
	}
	if tagged {
		binary.BigEndian.PutUint16(head, kind)
	} else {
		binary.BigEndian.PutUint16(head, protocol)
	}
	binary.BigEndian.PutUint32(head[4:], uint32(from.Ifindex))
	binary.BigEndian.PutUint16(head[8:], from.Hatype)
	head[10] = from.Pkttype
	head[11] = min(from.Halen, 8)
	copy(head[12:], from.Addr[:])
	if tagged {
		head = binary.BigEndian.AppendUint16(head, uint16(h.Hv1.Vlan_tci))
		head = binary.BigEndian.AppendUint16(head, protocol)
	}
	a.head = head
	a.wire += len(head)
}

// innerTag reports whether an IP packet has a second VLAN tag in front, of size bytes as sent with
// it. The kernel tells the protocol behind all tags (since 6.10), and does not tell of that one: it
// ends in that protocol's number, where IPv4 has its length and IPv6 a part of the flow's label.
func innerTag(b []byte, protocol uint16, size int) bool {
	if len(b) < 6 || binary.BigEndian.Uint16(b[2:]) != protocol {
		return false
	}
	first, next := b[0]>>4, b[4]>>4
	switch protocol {
	case etherIPv4:
		return next == 4 && (first != 4 || int(binary.BigEndian.Uint16(b[2:])) != size)
	case etherIPv6:
		return next == 6 && (first != 6 || int(binary.BigEndian.Uint16(b[4:]))+40 != size)
	}
	return false
}

// drops reads the kernel's counter, which reading sets to 0.
func (r *ring) drops() int64 {
	if s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		r.lost += int64(s.Drops)
	}
	return r.lost
}

func (r *ring) close() {
	if r.mem != nil {
		_ = unix.Munmap(r.mem)
		r.mem = nil
	}
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
}

// ListInterfaces describes the interfaces of the host.
func ListInterfaces() ([]InterfaceInfo, error) {
	all := []InterfaceInfo{{Name: AnyInterface, About: "all interfaces"}}
	host, err := hostInterfaces()
	return append(all, host...), err
}
