package cli

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kdissect/kdissect/dissect"
	"github.com/kdissect/kdissect/reassembly"
)

var connectionsVerb = verb{
	name:     "connections",
	operands: "FILE...",
	brief:    "List the TCP connections of capture files",
	about: `
Prints a line for each TCP connection, Kafka or not, in order of appearance: its number, client and
server, the protocol found on it (Kafka, TLS, HTTP, unknown, empty), packets and bytes of each direction,
bytes that are missing, the exchanges counted, the client's software, and how it ended. Gaps are listed
below their connection.

The client is the side that sent the SYN. Where the capture begins behind that, the server is the
Kafka broker, or else the side that did not speak first.

--digest adds the SHA-256 of each direction's bytes in stream order, to which a gap adds nothing.

--format json writes one object a line.`,
	examples: []example{
		{"connections capture.pcap", "who talks to whom, and what was lost"},
		{"connections --digest a.pcap", "checksums, to compare two captures of the same traffic"},
		{"connections --format json a.pcap b.pcap", "for other programs"},
	},
	define: func(fs *pflag.FlagSet) action {
		f := &connectionsFlags{format: newChoice("table", "json")}
		fs.Var(f.format, "format", "table for people or json for programs")
		fs.BoolVar(&f.digest, "digest", false, "add the SHA-256 of each direction's bytes")
		fs.BoolVar(&f.strict, "strict", false, "end with status 3 when issues (warnings or errors) were found")
		f.source.define(fs)
		return f.run
	},
}

type connectionsFlags struct {
	format         *choice
	digest, strict bool
	source         sourceFlags
}

func (f *connectionsFlags) run(e *env, files []string) error {
	if len(files) == 0 {
		return usagef("no file given; - is stdin")
	}
	if err := f.source.check(); err != nil {
		return err
	}
	list := &connectionList{out: e.stdout, json: f.format.value == "json"}
	list.digest = f.digest
	p := &pipeline{env: e, source: &f.source, files: files, handler: list, whole: list, stopped: list.done, tap: list.tap()}
	err := p.run()
	list.write()
	list.issues.warnings += p.warnings
	switch {
	case list.done():
		return list.out.failed()
	case err != nil:
		return err
	case f.strict:
		return list.issues.err()
	}
	return nil
}

// connection is a connection as connections --format json writes it.
type connection struct {
	Number          int64       `json:"connection"`
	Client          string      `json:"client"`
	Server          string      `json:"server"`
	Protocol        string      `json:"protocol"`
	Software        string      `json:"softwareName,omitempty"`
	SoftwareVersion string      `json:"softwareVersion,omitempty"`
	Principal       string      `json:"principal,omitempty"`
	SASL            *login      `json:"sasl,omitempty"`
	TLS             *encryption `json:"tls,omitempty"`
	Exchanges       int64       `json:"exchanges"`
	FirstPacket     int64       `json:"firstPacket"`
	LastPacket      int64       `json:"lastPacket"`
	FirstTime       string      `json:"firstTime"`
	LastTime        string      `json:"lastTime"`
	End             string      `json:"end"`
	FromClient      direction   `json:"fromClient"`
	FromServer      direction   `json:"fromServer"`
	Gaps            []stretch   `json:"gaps"`  // not captured
	Skips           []stretch   `json:"skips"` // captured, and part of no frame
	Issues          []connIssue `json:"issues"`
}

// encryption is what is known of the TLS of a connection.
type encryption struct {
	Version      string   `json:"version,omitempty"`
	Suite        string   `json:"suite,omitempty"`
	ServerName   string   `json:"serverName,omitempty"`
	Protocols    []string `json:"alpn,omitempty"`
	ClientRandom string   `json:"clientRandom,omitempty"` // what a key log names the connection by
	Resumed      bool     `json:"resumed,omitempty"`
	Renegotiated bool     `json:"renegotiated,omitempty"`
	Decrypted    bool     `json:"decrypted"`
	FromClient   int64    `json:"plaintextFromClient"` // bytes of application data
	FromServer   int64    `json:"plaintextFromServer"`
	Failure      string   `json:"failure,omitempty"` // why not all was decrypted

	line string // for people
}

func newEncryption(c *dissect.Connection) *encryption {
	s := c.TCP.TLS
	if s == nil {
		return nil
	}
	client := c.Broker.Other()
	e := &encryption{
		Version: s.Version, Suite: s.Suite, ServerName: s.ServerName, Protocols: s.Protocols,
		Resumed: s.Resumed, Renegotiated: s.Renegotiated, Decrypted: s.Decrypted,
		FromClient: s.Plain[client], FromServer: s.Plain[c.Broker], Failure: s.Failure,
		line: describeTLS(c.TCP, client),
	}
	if s.Hello {
		e.ClientRandom = hex.EncodeToString(s.ClientRandom[:])
	}
	return e
}

// direction counts what one side sent.
type direction struct {
	Packets       int64  `json:"packets"`
	Bytes         int64  `json:"bytes"`
	Missing       int64  `json:"missing"`
	Gaps          int64  `json:"gaps"`
	Frames        int64  `json:"frames"`     // of Kafka, whole
	Incomplete    int64  `json:"incomplete"` // frames that lack bytes
	Skipped       int64  `json:"skipped"`    // bytes that are part of no frame
	Retransmitted int64  `json:"retransmitted"`
	OutOfOrder    int64  `json:"outOfOrder"`
	SHA256        string `json:"sha256,omitempty"`
}

// stretch is a run of bytes in a direction.
type stretch struct {
	From   string `json:"from"` // client or server
	Offset int64  `json:"offset"`
	Length *int64 `json:"length"` // null where unknown
	Reason string `json:"reason"`
	Packet int64  `json:"packet"` // that made it known
}

// connIssue is an issue about a connection as a whole.
type connIssue struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Text     string `json:"text"`
}

// newConnection describes c, which ended as why says. sums are the digests of its directions, or
// nil.
func newConnection(c *dissect.Connection, why reassembly.End, sums *digests) connection {
	client := c.Broker.Other()
	v := connection{
		Number:          c.TCP.ID,
		Client:          endpointOf(c.TCP, client).String(),
		Server:          endpointOf(c.TCP, c.Broker).String(),
		Protocol:        c.Protocol.String(),
		Software:        c.Software,
		SoftwareVersion: c.SoftwareVersion,
		Principal:       c.Principal,
		SASL:            newLogin(c),
		TLS:             newEncryption(c),
		Exchanges:       c.Exchanges,
		FirstPacket:     c.TCP.FirstPacket,
		LastPacket:      c.TCP.LastPacket,
		FirstTime:       rfc3339(c.TCP.FirstTime),
		LastTime:        rfc3339(c.TCP.LastTime),
		End:             why.String(),
		FromClient:      newDirection(c, client),
		FromServer:      newDirection(c, c.Broker),
		Gaps:            []stretch{},
		Skips:           []stretch{},
		Issues:          []connIssue{},
	}
	if sums != nil {
		v.FromClient.SHA256 = hex.EncodeToString(sums[client].Sum(nil))
		v.FromServer.SHA256 = hex.EncodeToString(sums[c.Broker].Sum(nil))
	}
	sender := func(d reassembly.Dir) string {
		if d == c.Broker {
			return "server"
		}
		return "client"
	}
	for _, g := range c.Gaps {
		missing := stretch{From: sender(g.Dir), Offset: g.Off, Reason: g.Reason.String(), Packet: g.Packet}
		if g.Len >= 0 {
			missing.Length = &g.Len
		}
		v.Gaps = append(v.Gaps, missing)
	}
	for _, s := range c.Skips {
		v.Skips = append(v.Skips, stretch{sender(s.Dir), s.Off, &s.Len, s.Why.String(), s.Last})
	}
	for _, i := range c.Issues {
		v.Issues = append(v.Issues, connIssue{i.Severity.String(), string(i.Code), i.Text})
	}
	return v
}

// newDirection counts what came in direction d of c.
func newDirection(c *dissect.Connection, d reassembly.Dir) direction {
	tcp, odd, counts := &c.TCP.Dirs[d], &c.TCP.Odd[d], &c.Counts[d]
	return direction{Packets: tcp.Packets, Bytes: tcp.Bytes, Missing: odd.Missing, Gaps: odd.Gaps,
		Frames: counts.Frames, Incomplete: counts.Incomplete, Skipped: counts.Skipped,
		Retransmitted: odd.Retransmitted, OutOfOrder: odd.OutOfOrder}
}

// endpointOf returns the side of c that sends in direction d.
func endpointOf(c *reassembly.Conn, d reassembly.Dir) netip.AddrPort {
	if d == reassembly.Forward {
		return c.Flow.Src.AddrPort()
	}
	return c.Flow.Dst.AddrPort()
}

// rfc3339 writes ns, nanoseconds since 1970, with all nine digits in UTC.
func rfc3339(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z")
}

// maxListed bounds how many connections are kept to be sorted by number and put in columns.
// Beyond it they are written in batches of this many.
const maxListed = 50_000

// connectionList gathers connections, which end in any order, to write them by number. It is the
// dissect.Handler of connections.
type connectionList struct {
	out      *stdout
	json     bool
	digest   bool
	digester *digester // nil: none
	listed   []connection
	issues   issueCount
}

// done reports whether nothing more is wanted.
func (l *connectionList) done() bool { return l.out.failed() != nil }

// Exchange implements dissect.Handler.
func (l *connectionList) Exchange(*dissect.Exchange) {}

// Closed implements dissect.Handler.
func (l *connectionList) Closed(c *dissect.Connection, why reassembly.End) {
	l.issues.connection(c)
	l.add(l.describe(c, why))
}

// describe describes a connection that was closed.
func (l *connectionList) describe(c *dissect.Connection, why reassembly.End) connection {
	var sums *digests
	if l.digester != nil {
		sums = l.digester.take(c.TCP.ID)
	}
	return newConnection(c, why, sums)
}

func (l *connectionList) add(c connection) {
	l.listed = append(l.listed, c)
	if len(l.listed) == maxListed {
		l.write()
	}
}

// tap returns what digests the bytes on their way; nil where that is not asked for.
func (l *connectionList) tap() tap {
	if !l.digest {
		return nil
	}
	return func(next reassembly.Handler) reassembly.Handler {
		l.digester = newDigester(next)
		return l.digester
	}
}

var _ divisible = (*connectionList)(nil)

// part implements divisible.
func (l *connectionList) part(into **results) (dissect.Handler, tap, error) {
	p := &connectionPart{into: into}
	p.digest = l.digest
	return p, p.tap(), nil
}

// take implements divisible.
func (l *connectionList) take(r *result, number int64, _ []byte) {
	if r.connection == nil {
		return
	}
	l.issues.warnings += r.issues.warnings
	l.issues.errors += r.issues.errors
	r.connection.Number = number
	l.add(*r.connection)
	r.connection = nil
}

// flush implements divisible.
func (l *connectionList) flush() {}

// connectionPart is a worker's part of a connectionList.
type connectionPart struct {
	connectionList
	into **results
}

// Closed implements dissect.Handler.
func (p *connectionPart) Closed(c *dissect.Connection, why reassembly.End) {
	described := p.describe(c, why)
	res := result{kind: closed, first: c.TCP.FirstPacket, id: c.TCP.ID, connection: &described}
	res.issues.connection(c)
	rs := *p.into
	rs.add(res)
	rs.end(res.id)
}

// write writes what was gathered.
func (l *connectionList) write() {
	slices.SortFunc(l.listed, func(a, b connection) int { return int(a.Number - b.Number) })
	if l.json {
		enc := json.NewEncoder(l.out)
		enc.SetEscapeHTML(false)
		for i := range l.listed {
			_ = enc.Encode(&l.listed[i]) // l.out keeps the error
		}
	} else if len(l.listed) > 0 {
		connectionTable(l.out, l.listed)
	}
	l.listed = l.listed[:0]
}

// connectionTable writes connections in columns, and what does not fit there below each.
func connectionTable(w *stdout, cs []connection) {
	t := &table{}
	t.add("#", "CLIENT", "SERVER", "PROTOCOL", "PACKETS", "SENT", "RECEIVED", "MISSING", "EXCHANGES", "SOFTWARE", "ENDED")
	for i := range cs {
		c := &cs[i]
		software := strings.TrimSpace(c.Software + " " + c.SoftwareVersion)
		if software == "" {
			software = "-"
		}
		t.add(c.Number, c.Client, c.Server, c.Protocol,
			c.FromClient.Packets+c.FromServer.Packets, c.FromClient.Bytes, c.FromServer.Bytes,
			c.FromClient.Missing+c.FromServer.Missing, c.Exchanges, software, c.End)
	}
	lines := t.lines()
	fmt.Fprintln(w, lines[0])
	for i := range cs {
		c := &cs[i]
		fmt.Fprintln(w, lines[1+i])
		if c.FromClient.SHA256 != "" {
			fmt.Fprintf(w, "   client sent %s\n   server sent %s\n", c.FromClient.SHA256, c.FromServer.SHA256)
		}
		if c.SASL != nil {
			fmt.Fprintf(w, "   %s\n", c.SASL)
		}
		if c.TLS != nil {
			fmt.Fprintf(w, "   %s\n", c.TLS.line)
		}
		writeStretches(w, "gap", c.Gaps, c.FromClient.Gaps+c.FromServer.Gaps)
		writeStretches(w, "skipped", c.Skips, 0)
		for _, i := range c.Issues {
			fmt.Fprintf(w, "   !! %s: %s\n", i.Code, i.Text)
		}
	}
}

// writeStretches writes a line for each of the stretches that are listed, and one for the rest of
// all.
func writeStretches(w *stdout, what string, listed []stretch, all int64) {
	for _, s := range listed {
		length := "an unknown number of bytes"
		if s.Length != nil {
			length = plural(*s.Length, "byte")
		}
		fmt.Fprintf(w, "   %s: %s of the %s's at offset %d: %s (known at packet %d)\n", what, length, s.From, s.Offset, s.Reason, s.Packet)
	}
	if more := all - int64(len(listed)); more > 0 {
		fmt.Fprintf(w, "   %s: %d more\n", what, more)
	}
}
