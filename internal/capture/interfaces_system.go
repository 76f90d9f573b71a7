//go:build !libpcap

package capture

import (
	"fmt"
	"net"
	"net/netip"
)

// hostInterfaces asks the system, without libpcap.
func hostInterfaces() ([]InterfaceInfo, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	var all []InterfaceInfo
	for _, in := range list {
		info := InterfaceInfo{Name: in.Name, About: "down"}
		if in.Flags&net.FlagUp != 0 {
			info.About = "up"
		}
		if in.Flags&net.FlagLoopback != 0 {
			info.About += ", loopback"
		}
		addrs, err := in.Addrs()
		if err != nil {
			return nil, fmt.Errorf("addresses of %s: %w", in.Name, err)
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				info.Addresses = append(info.Addresses, p.Addr())
			}
		}
		all = append(all, info)
	}
	return all, nil
}
