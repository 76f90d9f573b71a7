//go:build !linux && !libpcap

package capture

func openDevice(int, *LiveOptions) (device, error) { return nil, ErrNotBuilt }

// ListInterfaces describes the interfaces of the host.
func ListInterfaces() ([]InterfaceInfo, error) { return hostInterfaces() }
