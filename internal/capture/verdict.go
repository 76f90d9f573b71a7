package capture

import "fmt"

// Verdict says what became of a packet.
type Verdict uint8

// Verdicts. All but TCPSegment name the reason why a packet gave no segment.
const (
	TCPSegment       Verdict = iota // gave a segment
	NotIP                           // another network protocol, such as ARP
	NotTCP                          // IP with another transport, such as UDP outside known tunnels
	FragmentWaiting                 // a fragment, held until the datagram's last is there
	FragmentDropped                 // a fragment that repeats or contradicts others, or is beyond a limit
	CutShort                        // the snapshot length cut it inside a header
	Malformed                       // a header contradicts itself or the packet's length
	UnsupportedLink                 // of a link type that we do not know
	TooDeep                         // more layers than we follow
	UnknownInterface                // pcapng: its interface is not described
	DamagedRecord                   // pcapng: its block contradicts itself
	NumVerdicts
)

var verdictWords = [NumVerdicts]string{
	"TCP segment", "not IP", "not TCP", "fragment waiting", "fragment dropped", "cut short", "malformed",
	"unsupported link type", "too many layers", "unknown interface", "damaged record",
}

// String returns the words for people.
func (v Verdict) String() string {
	if v < NumVerdicts {
		return verdictWords[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// Stats accounts for packets.
type Stats struct {
	Packets  int64
	Verdicts [NumVerdicts]int64 // how many of each; they add up to Packets

	// Incomplete counts fragmented datagrams whose rest did not come (so far), Crowded those given up by the
	// limits on their number and bytes.
	Incomplete int64
	Crowded    int64
	// Links counts packets by unsupported link type, for the first few such types.
	Links [4]LinkCount
}

// LinkCount is a number of packets of one link type.
type LinkCount struct {
	Link    LinkType
	Packets int64
}

// Segments returns the number of TCP segments.
func (s Stats) Segments() int64 { return s.Verdicts[TCPSegment] }

func (s *Stats) add(p *Packet, v Verdict) {
	s.Packets++
	s.Verdicts[v]++
	if v != UnsupportedLink {
		return
	}
	for i := range s.Links {
		l := &s.Links[i]
		if l.Packets == 0 || l.Link == p.Link {
			l.Link = p.Link
			l.Packets++
			return
		}
	}
}
