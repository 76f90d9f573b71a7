package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRotation(t *testing.T) {
	for text, want := range map[string]rotation{
		"100MiB": {size: 100 << 20},
		"64K":    {size: 64 << 10},
		"70000":  {size: 70000},
		"10m":    {every: 10 * time.Minute},
		"10M":    {size: 10 << 20},
		"1h30m":  {every: 90 * time.Minute},
		"1s":     {every: time.Second},
	} {
		var r rotation
		if assert.NoError(t, r.Set(text), text) {
			assert.Equal(t, want, r, text)
			var again rotation
			assert.NoError(t, again.Set(r.String()), text)
			assert.Equal(t, want, again, "%s, as written", text)
		}
	}
	for _, text := range []string{"", "0", "1KiB", "10ms", "-5s", "x"} {
		assert.Error(t, new(rotation).Set(text), text)
	}
	assert.False(t, new(rotation).set())
	assert.Empty(t, new(rotation).String())
}
