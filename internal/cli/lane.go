package cli

import (
	"math"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

// lane is what one worker has of each stage.
type lane struct {
	assembler *reassembly.Assembler
	dissector *dissect.Dissector
	limits    limitCount
	faults    faultCount
	place     int64 // of what happens now
	epoch     int64 // place where it began
	ended     bool  // the capture
}

// newLane returns the stages in front of handler. What p has for its lanes is there. report is told of
// TLS connections at their end; nil is not. gather says that segments live until dissector.Passed.
func (p *pipeline) newLane(handler dissect.Handler, decrypt *decryption, tap tap, report func(*reassembly.Conn), gather bool) *lane {
	l := &lane{limits: limitCount{Handler: handler}}
	l.faults.Handler = &l.limits
	options := p.source.options(&l.faults)
	p.source.limits.dissect(&options.Limits)
	options.Facts, options.Buffers, options.Gather = p.facts, p.buffers, gather
	if p.adjust != nil {
		p.adjust(&options)
	}
	l.dissector = dissect.New(options)
	chunks := decrypt.layer(l, grows(p.files), report)
	if tap != nil {
		chunks = tap(chunks)
	}
	l.assembler = reassembly.New(p.source.limits.reassembly(p.workers()), chunks)
	if p.tick == nil { // a broker's machine is left to the broker
		l.assembler.Fresh(p.pages.want)
	}
	return l
}

// begin begins an epoch.
func (l *lane) begin(m mark) {
	l.place = placeOfEpoch(m.packet)
	l.epoch = l.place
	l.dissector.At(l.place, l.epoch)
	l.assembler.Advance(m.time)
}

// segment takes the next segment of the lane's connections.
func (l *lane) segment(s *reassembly.Segment) {
	l.place = placeOfPacket(s.Packet)
	horizon := l.epoch
	if s.Packet <= exactPackets {
		horizon = l.place
	}
	l.dissector.At(l.place, horizon)
	l.assembler.Segment(s)
}

// end ends the capture at a place behind all packets.
func (l *lane) end(place int64) {
	l.place, l.ended = place, true
	l.dissector.Passed(l.place)
	l.dissector.At(l.place, l.place)
	l.assembler.Flush()
	l.dissector.Passed(math.MaxInt64)
}
