package output

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kdissect/kdissect/reassembly"
)

// TestColumnsFollowTheirConnection shows that remembered text is that of the exchange at hand.
func TestColumnsFollowTheirConnection(t *testing.T) {
	line := func(s *Summary, change func(*reassembly.Conn), client string) string {
		x := testExchange()
		tcp := *x.Conn.TCP
		change(&tcp)
		x.Conn.TCP = &tcp
		x.Request.ClientID = []byte(client)
		return string(s.appendColumns(nil, x))
	}
	s := NewSummary(nil, Options{})
	for name, change := range map[string]func(*reassembly.Conn){
		"the same":                      func(*reassembly.Conn) {},
		"other ports":                   func(c *reassembly.Conn) { c.Flow.Src.Port++ },
		"another connection":            func(c *reassembly.Conn) { c.ID++ },
		"one that has the same place":   func(c *reassembly.Conn) { c.ID += recentPeers; c.Flow.Src.IP[15]++ },
		"the broker on the other side":  func(c *reassembly.Conn) { c.Flow = c.Flow.Reverse() },
		"an address longer than before": func(c *reassembly.Conn) { c.Flow.Src.IP = [16]byte{0x20, 1: 1, 15: 1} },
	} {
		for _, client := range []string{"", "a", "\u00e4\n", strings.Repeat("\u00e4", 20), strings.Repeat("c", 40)} {
			assert.Equal(t, line(NewSummary(nil, Options{}), change, client), line(s, change, client), "%s, client %q", name, client)
		}
	}
}
