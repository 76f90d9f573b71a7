//go:build libpcap

package capture

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	libpcap "github.com/google/gopacket/pcap"
)

// pcapDevice captures on an interface through libpcap, which drops the outgoing copies of
// loopback's packets itself and puts VLAN tags back.
type pcapDevice struct {
	info   LiveInterface
	iface  int
	handle *libpcap.Handle
	lost   int64
}

func openDevice(i int, opts *LiveOptions) (device, error) {
	name := opts.Interfaces[i]
	h, err := activate(name, opts)
	if err != nil {
		if strings.Contains(err.Error(), "Permission Denied") || strings.Contains(err.Error(), "Operation not permitted") {
			err = fmt.Errorf("%w: %w", ErrNoRight, err)
		}
		return nil, fmt.Errorf("interface %s: %w", name, err)
	}
	expression := opts.Expression
	if expression == "" {
		expression = opts.Filter.expression(LinkType(h.LinkType()))
	}
	if err := h.SetBPFFilter(expression); err != nil {
		h.Close()
		return nil, fmt.Errorf("%w %q: %w", ErrFilter, expression, err)
	}
	return &pcapDevice{info: LiveInterface{name, LinkType(h.LinkType()), h.SnapLen()}, iface: i, handle: h}, nil
}

func activate(name string, opts *LiveOptions) (*libpcap.Handle, error) {
	inactive, err := libpcap.NewInactiveHandle(name)
	if err != nil {
		return nil, err
	}
	defer inactive.CleanUp()
	promiscuous := opts.Promiscuous && name != AnyInterface
	for _, err := range []error{
		inactive.SetSnapLen(opts.SnapLen),
		inactive.SetPromisc(promiscuous),
		inactive.SetTimeout(handOver),
		inactive.SetImmediateMode(opts.Immediate),
		inactive.SetBufferSize(opts.Buffer),
	} {
		if err != nil {
			return nil, err
		}
	}
	h, err := inactive.Activate()
	if err != nil {
		// libpcap's own words say more, where there are any.
		if why := inactive.Error(); why != nil && why.Error() != "" {
			err = fmt.Errorf("%w (%w)", err, why)
		}
		return nil, err
	}
	return h, nil
}

func (d *pcapDevice) about() LiveInterface { return d.info }

func (d *pcapDevice) lag() int64 { return 2 * int64(handOver) }

// readAtOnce is how many packets read gives at most.
const readAtOnce = 256

func (d *pcapDevice) read(take func(*arrival) error) (quiet bool, err error) {
	for range readAtOnce {
		data, ci, err := d.handle.ZeroCopyReadPacketData()
		switch {
		case err == libpcap.NextErrorTimeoutExpired:
			return true, nil
		case err == libpcap.NextErrorReadError:
			return true, d.failed()
		case err != nil:
			return true, fmt.Errorf("interface %s: %w", d.info.Name, err)
		}
		if err := take(&arrival{tail: data, wire: ci.Length, time: ci.Timestamp.UnixNano(), iface: d.iface}); err != nil {
			return false, err
		}
	}
	return false, nil
}

// failed returns the error of a read. libpcap ends the capture of an interface that goes down
// as it does that of one that vanishes.
func (d *pcapDevice) failed() error {
	why := d.handle.Error()
	if d.info.Name != AnyInterface {
		if _, err := net.InterfaceByName(d.info.Name); err != nil {
			return fmt.Errorf("interface %s has vanished (%w)", d.info.Name, why)
		}
	}
	return fmt.Errorf("interface %s: %w", d.info.Name, why)
}

func (d *pcapDevice) drops() int64 {
	if s, err := d.handle.Stats(); err == nil {
		d.lost = int64(s.PacketsDropped) + int64(s.PacketsIfDropped)
	}
	return d.lost
}

func (d *pcapDevice) close() { d.handle.Close() }

// ListInterfaces describes what libpcap can capture on.
func ListInterfaces() ([]InterfaceInfo, error) {
	list, err := libpcap.FindAllDevs()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	var all []InterfaceInfo
	for _, in := range list {
		info := InterfaceInfo{Name: in.Name, About: in.Description}
		for _, a := range in.Addresses {
			if addr, ok := netip.AddrFromSlice(a.IP); ok {
				info.Addresses = append(info.Addresses, addr.Unmap())
			}
		}
		all = append(all, info)
	}
	return all, nil
}
