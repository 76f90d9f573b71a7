package capture

// Layer is a kind of header that a Step stands at.
type Layer uint8

// Layers. A VLAN tag, a label or a link-layer header without addresses is no Step.
const (
	LayerEthernet  Layer = iota + 1 // destination and source address, EtherType
	LayerIPv4                       // the header, with options
	LayerIPv6                       // the header, with the extensions behind it
	LayerTransport                  // what IP carries; Proto says what
	LayerFragment                   // a part of a datagram, from Offset on
	LayerTCP                        // the header of the segment
)

// Step is a header that a Decoder came to. Bytes go from the header's first byte to the end of
// what the layers around it let it reach; they lie in the packet's Data as long as no datagram
// was put together from fragments.
type Step struct {
	Layer  Layer
	Bytes  []byte
	Proto  uint8 // IP protocol number, of a LayerTransport
	Offset int   // in the datagram, of a LayerFragment
	// Datagram is the number of the datagram that a LayerFragment is a part of, in the order in
	// which the Decoder met them.
	Datagram int64
}

// Trace makes d tell of the headers that it comes to, in the order of the bytes; nil ends that.
func (d *Decoder) Trace(f func(Step)) { d.trace = f }

// layers that are Steps.
var stepLayers = [...]Layer{
	layerEthernet: LayerEthernet, layerIPv4: LayerIPv4, layerIPv6: LayerIPv6,
	layerTransport: LayerTransport, layerSegment: LayerTCP,
}

func (d *Decoder) tell(next layer, c *cursor) {
	if l := stepLayers[next]; l != 0 {
		d.trace(Step{Layer: l, Bytes: c.b, Proto: c.proto})
	}
}
