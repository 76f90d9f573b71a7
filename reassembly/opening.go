package reassembly

// opening is a connection of which nothing but the beginning of an ordinary handshake was seen. Many
// never become more: those of a scan, or of clients that open them in advance. It takes a quarter
// of a conn's memory and holds no pointers; a conn takes its place with the first segment that is
// anything else.
type opening struct {
	flow            Flow // of the SYN
	isn             [2]uint32
	segments        uint8 // 1: the SYN; 2: it was answered; 3: and that acknowledged
	id              int64
	first, last     int64 // packets
	firstTime, time int64
	stamp           int64 // as a conn's
}

// early marks the index of an opening.
const early index = 1 << 31

func (a *Assembler) opening(i index) *opening { return a.openings.at(i &^ early) }

// opens says whether s is a SYN and nothing else.
func (s *Segment) opens() bool {
	return s.Flags == SYN && s.WireLen == 0 && len(s.Payload) == 0 && s.Flow.Src != s.Flow.Dst
}

// embark takes s, which opens a connection whose addresses have that hash.
func (a *Assembler) embark(s *Segment, hash uint32) {
	a.makeRoom(s)
	a.opened++
	i := a.openings.take() | early
	*a.opening(i) = opening{flow: s.Flow, isn: [2]uint32{s.Seq}, segments: 1, id: a.opened,
		first: s.Packet, last: s.Packet, firstTime: s.Time, time: s.Time, stamp: max(s.Time, a.now)}
	a.table.add(hash, i)
	a.recent.push(i)
	a.last = i
}

// follow takes s if it is what comes next in the handshake of opening i.
func (a *Assembler) follow(i index, d Dir, s *Segment) bool {
	o := a.opening(i)
	switch {
	case s.WireLen > 0 || len(s.Payload) > 0:
		return false
	case o.segments == 1 && d == Backward && s.Flags == SYN|ACK && s.Ack == o.isn[Forward]+1:
		o.isn[Backward] = s.Seq
	case o.segments == 2 && d == Forward && s.Flags == ACK && s.Seq == o.isn[Forward]+1 && s.Ack == o.isn[Backward]+1:
	default:
		return false
	}
	o.segments++
	o.last, o.time, o.stamp = s.Packet, s.Time, max(s.Time, a.now)
	a.recent.renew(i)
	return true
}

// grow makes opening i the conn that it would have been.
func (a *Assembler) grow(i index) *conn {
	o, c := a.opening(i), a.conns.take()
	a.table.replace(a.table.hash(&o.flow), i, c.index)
	a.enter(c, o.id, &o.flow, o.first, o.firstTime)
	for n := range o.segments {
		s := Segment{Packet: o.last, Time: o.time, Flags: ACK, Seq: o.isn[Forward] + 1, Ack: o.isn[Backward] + 1}
		switch n {
		case 0:
			s.Flags, s.Seq, s.Ack = SYN, o.isn[Forward], 0
		case 1:
			s.Flags, s.Seq, s.Ack = SYN|ACK, o.isn[Backward], o.isn[Forward]+1
		}
		a.take(c, Dir(n&1), &s)
	}
	a.discard(i)
	return c
}

// abandon tells of the end of opening i, of which nothing is missing or held.
func (a *Assembler) abandon(i index, why End, packet, time int64) {
	o, t := a.opening(i), &a.told
	t.ID, t.Flow, t.SawSYN, t.SawSYNACK = o.id, o.flow, true, o.segments > 1
	t.FirstPacket, t.FirstTime, t.LastPacket, t.LastTime = o.first, o.firstTime, o.last, o.time
	t.Dirs[Forward].Packets, t.Dirs[Backward].Packets = int64(o.segments+1)/2, int64(o.segments)/2
	t.User, t.Layer, t.TLS = nil, nil, nil // of the one before
	a.handler.Open(t)
	a.handler.Close(t, why, packet, time)
}

// drop forgets opening i.
func (a *Assembler) drop(i index) {
	a.table.remove(a.table.hash(&a.opening(i).flow), i)
	a.discard(i)
}

// discard gives up the memory of opening i, which is not to be found any more.
func (a *Assembler) discard(i index) {
	a.recent.remove(i)
	a.openings.give(i &^ early)
	if a.last == i {
		a.last = 0
	}
}
