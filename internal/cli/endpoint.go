package cli

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kdissect/kdissect/reassembly"
)

// connPattern tells which connections --connection means: one by number, or those between
// the endpoints given.
type connPattern struct {
	number int64 // 0: any
	ends   []endPattern
}

// endPattern is an address, a port, or both. Without brackets the end of an IPv6 address may be
// a port as well: then there are two readings, and either may match.
type endPattern []endReading

type endReading struct {
	addr netip.Addr // zero: any
	port uint16     // 0: any
}

// parseConnPattern reads a connection's number, ADDRESS, ADDRESS:PORT, :PORT, or two of these
// joined by a hyphen, as the JSON member "connection" has them. The addresses of IPv6 stand with
// or without brackets.
func parseConnPattern(s string) (connPattern, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		return connPattern{number: n}, nil
	}
	var p connPattern
	for part := range strings.SplitSeq(s, "-") {
		end, err := parseEndPattern(part)
		if err != nil || len(p.ends) == 2 {
			return connPattern{}, fmt.Errorf("connection %q: want a number, ADDRESS, ADDRESS:PORT, :PORT, or two of these with - between", s)
		}
		p.ends = append(p.ends, end)
	}
	return p, nil
}

// parseEndPattern reads ADDRESS, ADDRESS:PORT or :PORT.
func parseEndPattern(s string) (endPattern, error) {
	var p endPattern
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")); err == nil {
		p = append(p, endReading{addr: addr.Unmap()})
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		port, err := strconv.ParseUint(s[i+1:], 10, 16)
		addr, addrErr := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s[:i], "["), "]"))
		if err == nil && (i == 0 || addrErr == nil) {
			p = append(p, endReading{addr.Unmap(), uint16(port)})
		}
	}
	if p == nil {
		return nil, fmt.Errorf("%q is no address", s)
	}
	return p, nil
}

// match reports whether c is meant.
func (p connPattern) match(c *reassembly.Conn) bool {
	if p.number != 0 {
		return c.ID == p.number
	}
	a, b := c.Flow.Src.AddrPort(), c.Flow.Dst.AddrPort()
	if len(p.ends) == 1 {
		return p.ends[0].match(a) || p.ends[0].match(b)
	}
	return p.ends[0].match(a) && p.ends[1].match(b) || p.ends[0].match(b) && p.ends[1].match(a)
}

// match reports whether ap is meant.
func (e endPattern) match(ap netip.AddrPort) bool {
	for _, r := range e {
		if (!r.addr.IsValid() || r.addr == ap.Addr()) && (r.port == 0 || r.port == ap.Port()) {
			return true
		}
	}
	return false
}
