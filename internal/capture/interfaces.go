package capture

import "net/netip"

// InterfaceInfo describes an interface for people.
type InterfaceInfo struct {
	Name      string
	About     string // such as "up, loopback"
	Addresses []netip.Addr
}
