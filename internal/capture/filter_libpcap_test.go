//go:build libpcap

package capture

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	libpcap "github.com/google/gopacket/pcap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFilterExpression holds libpcap's filter against the same packets as the kernel's. Where a
// header is cut, libpcap may look at bytes that are not there, and lets nothing pass.
func TestFilterExpression(t *testing.T) {
	for column, filter := range filtersOf() {
		expression, err := libpcap.NewBPF(layers.LinkTypeEthernet, 1<<18, filter.expression(LinkEthernet))
		require.NoError(t, err)
		_, err = libpcap.NewBPF(layers.LinkTypeLinuxSLL, 1<<18, filter.expression(LinkLinuxSLL))
		require.NoError(t, err)
		program := vmOf(t, filter)
		for name, c := range filterCases() {
			ci := gopacket.CaptureInfo{CaptureLength: len(c.packet), Length: len(c.packet)}
			assert.Equal(t, program(c.packet), expression.Matches(ci, c.packet), "%s: %s", column, name)
		}
	}
}
