package output

import (
	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/tree"
)

// details writes the end of a summary line: what a person would ask next about the exchange.
type details struct {
	b     []byte
	from  int // where the details start
	width int
	wide  bool
	f     *Facts
	x     *dissect.Exchange

	topic  int32 // of the last entry; -1 for none
	listed bool  // the last entry has no more than its index, so that further ones join its brackets
}

// noTopic is the topic of no entry.
const noTopic = -2

func (d *details) write() {
	d.topic = noTopic
	d.errors()
	d.halves()
	f := d.f
	if f.throttle > 0 {
		d.word("throttled ")
		d.num(f.throttle)
		d.text(" ms")
	}
	d.client()
	d.session()
	d.list("group ", &f.groups)
	d.list("member ", &f.members)
	d.list("instance ", &f.instances)
	if f.set&setGeneration != 0 {
		d.word("generation ")
		d.num(f.generation)
	}
	if f.set&setMemberEpoch != 0 {
		d.word("epoch ")
		d.num(f.memberEpoch)
	}
	d.list("txn ", &f.transactions)
	if f.set&setProducerID != 0 {
		d.word("pid ")
		d.num(f.producerID)
	}
	if f.set&setBroker != 0 {
		d.word("broker ")
		d.num(f.broker)
	}
	if f.apis > 0 {
		d.word("")
		d.count(f.apis, " API")
	}
	d.list("", &f.coordinators)
	d.place()
	d.resources()
	d.topics()
	d.issue()
	if d.x.Overtook {
		d.word("overtook")
	}
}

// full reports whether the line is as long as it should get.
func (d *details) full() bool { return !d.wide && len(d.b)-d.from > d.width }

// word begins a new detail.
func (d *details) word(s string) {
	d.b = append(d.b, ' ', ' ')
	d.b = append(d.b, s...)
}

func (d *details) text(s string) { d.b = append(d.b, s...) }

func (d *details) num(n int64) { d.b = appendInt(d.b, n) }

// more says how many were left out.
func (d *details) more(n int64, what string) {
	if n > 0 {
		d.text(" +")
		d.num(n)
		d.text(" more")
		d.text(what)
	}
}

// halves shows the packets and sizes of what is incomplete or alone.
func (d *details) halves() {
	x := d.x
	if !incomplete(x) {
		if x.Request != nil && x.Request.Kind == dissect.TokenFrame {
			d.word("token ")
			d.b = appendSize(d.b, int64(x.Request.Size))
			d.login()
		}
		return
	}
	d.half("request", x.Request)
	d.half("response", x.Response)
}

// login says who logs in by which mechanism, and whom the broker takes the client for once the
// login is complete.
func (d *details) login() {
	s := &d.x.Conn.SASL
	if s.State == dissect.LoginNone {
		return
	}
	d.word("")
	d.b = appendVisible(d.b, []byte(s.Mechanism))
	switch {
	case s.State == dissect.LoginDone && d.x.Conn.Principal != "":
		d.word("")
		d.b = appendVisible(d.b, []byte(d.x.Conn.Principal))
	case s.User != "":
		d.word("user=")
		d.b = appendVisible(d.b, []byte(s.User))
	}
}

func (d *details) half(side string, f *dissect.Frame) {
	if f == nil {
		return
	}
	d.word(side)
	d.text(" ")
	if f.Cut() {
		d.b = appendSize(d.b, int64(len(f.Bytes)))
		d.text(" of ")
	}
	d.b = appendSize(d.b, 4+int64(f.Size))
	d.text(" in packet ")
	d.num(f.FirstPacket)
	if f.LastPacket != f.FirstPacket {
		d.text("-")
		d.num(f.LastPacket)
	}
}

// errors shows the error codes that the state does not name.
func (d *details) errors() {
	list := d.f.errors
	if len(list) > 0 && !incomplete(d.x) { // the state names the first
		if list[0].Count > 1 {
			d.text(" x")
			d.num(int64(list[0].Count))
		}
		list = list[1:]
	}
	for _, e := range list {
		if d.full() {
			return
		}
		d.word("")
		d.b = appendError(d.b, d.f, e.Code)
		if e.Count > 1 {
			d.text(" x")
			d.num(int64(e.Count))
		}
	}
}

// client shows what says who the client is.
func (d *details) client() {
	f := d.f
	if f.software != nil {
		d.word("")
		d.b = appendVisible(d.b, f.software)
		d.text(" ")
		d.b = appendVisible(d.b, f.softwareVersion)
	}
	if f.mechanism != nil {
		d.word("")
		d.b = appendVisible(d.b, f.mechanism)
	}
	if r := d.x.Request; r != nil && r.APIKey == keySaslAuthenticate {
		d.login()
	}
	if f.principal != nil {
		d.word("")
		d.b = appendVisible(d.b, f.principal)
	}
	if f.set&setAcks != 0 && f.acks != -1 {
		d.word("acks=")
		d.num(int64(f.acks))
	}
}

// session says what a fetch means to its session (KIP-227): without one, the first of one, an
// increment, or the last.
func (d *details) session() {
	f := d.f
	if f.set&setSessionEpoch == 0 {
		return
	}
	id := f.sessionID
	switch {
	case f.sessionEpoch > 0:
		d.word("session")
		d.session64(id)
		d.text("/")
		d.num(int64(f.sessionEpoch))
	case f.sessionEpoch == 0:
		d.word("new session")
		if id == 0 {
			id = f.newSessionID
		}
		d.session64(id)
	case id != 0 || f.set&setSession == 0: // a share session has no id of its own
		d.word("close session")
		d.session64(id)
	default:
		d.word("full")
	}
}

func (d *details) session64(id int32) {
	if d.f.set&setSession != 0 && id != 0 {
		d.text(" ")
		d.num(int64(id))
	}
}

// list shows names.
func (d *details) list(what string, n *names) {
	if len(n.list) > 0 {
		d.names(what, n)
	}
}

func (d *details) names(what string, n *names) {
	for i, name := range n.list {
		if d.full() {
			d.more(int64(n.count)-int64(i), "")
			return
		}
		if i == 0 {
			d.word(what)
		} else {
			d.text(", ")
		}
		d.b = appendVisible(d.b, name)
	}
}

// resources shows names of resources with their types.
func (d *details) resources() {
	f := d.f
	for i, name := range f.resources.list {
		if d.full() {
			d.more(int64(f.resources.count)-int64(i), "")
			return
		}
		d.word("")
		if f.resourceTypes != nil && i < len(f.resourceType) {
			if t := f.resourceTypes.Name(f.resourceType[i]); t != "" {
				d.text(t)
				d.text(" ")
			}
		}
		d.b = appendVisible(d.b, name)
	}
}

// place shows the broker that an answer or a registration names, or how many there are.
func (d *details) place() {
	f := d.f
	switch key := d.key(); {
	case len(f.hosts.list) == 0:
	case key == keyMetadata || key == keyDescribeCluster || key == keyUpdateMetadata:
		d.word("")
		d.count(int64(f.hosts.count), " broker")
	case f.set&setPort != 0 && len(f.hosts.list[0]) > 0:
		d.word("at ")
		if f.set&setNode != 0 {
			d.num(f.node)
			d.text("=")
		}
		d.b = appendVisible(d.b, f.hosts.list[0])
		d.text(":")
		d.num(f.port)
		d.more(int64(f.hosts.count)-1, "")
	}
}

// count shows a number of things, in the plural unless it is one.
func (d *details) count(n int64, what string) {
	d.num(n)
	d.text(what)
	if n != 1 {
		d.text("s")
	}
}

// key returns the API's key, or -1.
func (d *details) key() int16 {
	if d.x.Request == nil || d.x.Request.Kind != dissect.KafkaFrame {
		return -1
	}
	return d.x.Request.APIKey
}

// issue shows the worst issue of decoding, and why an answer is missing.
func (d *details) issue() {
	for i := range d.x.Issues {
		if at := &d.x.Issues[i]; at.Code == tree.CodeClosed {
			d.word("! ")
			d.text(at.Text)
			return
		}
	}
	i := d.f.WorstIssue()
	if i == nil || i.Severity == tree.Info {
		return
	}
	d.word("! ")
	d.text(string(i.Code))
	d.text(": ")
	d.b = appendVisible(d.b, []byte(i.Text))
}

// appendSize appends a number of bytes with a unit of powers of 1000.
func appendSize(b []byte, n int64) []byte {
	const units = "kMGTPE"
	if n < 1000 {
		return append(appendInt(b, n), 'B')
	}
	i, div := 0, int64(1000)
	for n/div >= 1000 && i < len(units)-1 {
		div *= 1000
		i++
	}
	b = appendInt(b, n/div)
	if n/div < 100 {
		b = append(b, '.', byte('0'+n%div/(div/10)))
	}
	return append(b, units[i], 'B')
}
